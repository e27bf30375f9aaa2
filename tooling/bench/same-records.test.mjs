import { expect, test } from "vitest";
import { comparable } from "./same-records.mjs";

test("records with the same content compare equal, whatever their order, times and consumers", () => {
  const one = '{"stream_sequence":1,"consumer":"a","metadata":{"stored_at":"x","headers":{"A":"1","B":"2"}}}';
  const two = '{"metadata":{"headers":{"B":"2","A":"1"},"stored_at":"y"},"consumer":"b","stream_sequence":1}';
  expect(comparable(one)).toBe(comparable(two));
});

test("another value, and a member that only one has, make a difference", () => {
  const one = comparable('{"stream_sequence":1,"labels":null}');
  expect(comparable('{"stream_sequence":1,"labels":[]}')).not.toBe(one);
  expect(comparable('{"stream_sequence":1,"labels":null,"more":1}')).not.toBe(one);
});
