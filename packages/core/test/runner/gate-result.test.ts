import { expect, test } from "vitest";
import { PermanentSinkError, type SinkError, TemporarySinkError } from "../../src/error/errors.js";
import type { FlightEntry } from "../../src/runner/flight.js";
import { gateResult } from "../../src/runner/gate-result.js";
import { entryOf } from "../fakes/entries.js";

const never = new PermanentSinkError("too large");
const later = new TemporarySinkError("a check failed");

/** Entries 1, 2, … in the lanes given, the second of them rejected. */
function batchOf(lanes: readonly number[], rejection: SinkError): FlightEntry[] {
  return lanes.map((lane, index) => {
    const entry = entryOf({ sequence: index + 1 }, index === 1 ? { rejection } : {});
    entry.lane = lane;
    return entry;
  });
}

test.each([
  ["FW-POL-04 without an order only the rejected one stays out", [0, 0, 0], never, false, true, [[1, 3], [2], []]],
  ["FW-RUN-10 without an order one that could not be judged stays out alone too", [0, 0, 0], later, false, true, [[1, 3], [2], []]],
  ["FW-RUN-36 in order, later ones of its lane go on behind a dead letter", [7, 7, 7], never, true, false, [[1, 3], [2], []]],
  ["FW-RUN-36 in order, its lane stops where on_poison says so, other lanes do not", [7, 7, 7, 8], never, true, true, [[1, 4], [2], [3]]],
  ["FW-RUN-13 in order, nothing overtakes one that is to be tried again", [7, 7, 7, 8], later, true, false, [[1, 4], [2], [3]]],
] as const)("%s", (_, lanes, rejection, ordered, stops, expected) => {
  const { writable, refused, behind } = gateResult(batchOf(lanes, rejection), ordered, stops);
  expect([writable, refused, behind].map((entries) => entries.map(({ sequence }) => sequence))).toEqual(expected);
});

test("FW-RUN-10 a batch that no gate rejects is handed on as it is", () => {
  const batch = [entryOf({ sequence: 1 }), entryOf({ sequence: 2 })];
  expect(gateResult(batch, true, true).writable).toBe(batch);
});
