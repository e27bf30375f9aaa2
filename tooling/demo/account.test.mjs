import { expect, test } from "vitest";
import { account, bodyOf, digestOf, faultsOf } from "./account.mjs";

const published = new Map([1, 2, 3, 4].map((sequence) => [sequence, digestOf(`{"n":${sequence}}`)]));
const record = (sequence, payload = { n: sequence }) => ({ stream_sequence: sequence, payload });
const letter = (sequence) => ({ stream_sequence: sequence });

test("every message stored once or dead-lettered: nothing is wrong", () => {
  const figures = account(published, [record(1), record(2), record(4)], [letter(3)]);
  expect(figures).toEqual({ published: 4, stored: 3, deadLettered: 1, duplicates: 0, missing: [], wrong: [] });
  expect(faultsOf(figures, 1)).toEqual([]);
});

test("a record stored again is a duplicate and no fault", () => {
  const figures = account(published, [record(1), record(2), record(4), record(2)], [letter(3), letter(3)]);
  expect(figures).toMatchObject({ stored: 3, deadLettered: 1, duplicates: 1 });
  expect(faultsOf(figures, 1)).toEqual([]);
});

test("a message that is nowhere is missing", () => {
  const figures = account(published, [record(1), record(4)], [letter(3)]);
  expect(figures.missing).toEqual([2]);
  expect(faultsOf(figures, 1)).toEqual(["1 messages are missing, the first is sequence 2"]);
});

test("a record with another body, and one that nobody published, are faults", () => {
  const figures = account(published, [record(1), record(2, { n: 3 }), record(4), record(9)], [letter(3), letter(8)]);
  expect(figures).toMatchObject({ missing: [2], wrong: [2, 9, 8] });
  expect(faultsOf(figures, 1)).toHaveLength(2);
});

test("a dead letter too many or too few is a fault", () => {
  expect(
    faultsOf(
      account(
        published,
        [1, 2, 3, 4].map((sequence) => record(sequence)),
        [],
      ),
      1,
    ),
  ).toEqual(["0 messages were dead-lettered instead of 1"]);
});

test("a body is rebuilt from JSON, text and bytes", () => {
  const wrapped = (encoding, payload) => ({ payload: { _nats_sinks: { payload_encoding: encoding }, payload } });
  expect(bodyOf({ payload: { note: "größer", list: [1] } }).toString()).toBe('{"note":"größer","list":[1]}');
  expect(bodyOf(wrapped("utf-8", "größer")).toString()).toBe("größer");
  expect(bodyOf(wrapped("base64", "AP8="))).toEqual(Buffer.from([0, 255]));
});
