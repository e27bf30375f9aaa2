import { expect, test } from "vitest";
import type { SessionFailure } from "../src/connection/session.js";
import { planSegment } from "../src/execute/segment.js";
import { segmentFailure } from "../src/execute/segment-failure.js";
import type { BuiltWrite, Form } from "../src/render/built-write.js";

const form: Form = {
  operation: "envelope",
  table: null,
  destination: "t",
  maximumRows: 100,
  cutsAtRepeatedConflict: false,
  onZeroRows: "ignore",
  query: () => ({ text: "", values: [], prepare: true }),
};
const write: BuiltWrite = { form, values: [], conflict: null, bytes: 1, namesFromMessage: false };
const segment = planSegment([{ index: 0, writes: [write], refused: null, key: null }], 1000);
const [chunk] = segment.chunks;
const lost = (error: object): SessionFailure => ({ kind: "lost", code: "57P01", sent: 1, error: Object.assign(new Error("gone"), error) });

test("WO-PG-28 a session that the server itself ends before the statement is complete has applied nothing", () => {
  const word = lost({ code: "57P01", severity: "FATAL" });
  expect(segmentFailure(segment, chunk ?? null, word, true)).toMatchObject({ course: "lost", maybeApplied: false });
  // Between the statement and the end of its transaction the word may come after the commit.
  expect(segmentFailure(segment, null, word, true)).toMatchObject({ course: "lost", maybeApplied: true });
  // A procedure may have committed by itself.
  const called = chunk === undefined ? null : { ...chunk, form: { ...form, operation: "statement" as const } };
  expect(segmentFailure(segment, called, word, true)).toMatchObject({ maybeApplied: true });
  // A connection that merely breaks says nothing.
  expect(segmentFailure(segment, chunk ?? null, lost({ code: "ECONNRESET" }), true)).toMatchObject({ maybeApplied: true });
});
