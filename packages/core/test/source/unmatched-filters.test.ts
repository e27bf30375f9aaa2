import { expect, test } from "vitest";
import { unmatchedFilters } from "../../src/source/unmatched-filters.js";

test("FW-RUN-02 filters that no subject of the stream can match are found", () => {
  expect(unmatchedFilters({ subjects: ["events.>", "orders.*"] }, ["events.a", ">", "orders.a.b", "other.x", "*.a"])).toEqual([
    "orders.a.b",
    "other.x",
  ]);
});

test("FW-RUN-02 a stream that takes from others or renames may hold any subject", () => {
  expect(unmatchedFilters({ subjects: [], mirror: { name: "A" } }, ["x"])).toEqual([]);
  expect(unmatchedFilters({ subjects: ["a"], sources: [{ name: "A" }] }, ["x"])).toEqual([]);
  expect(unmatchedFilters({ subjects: ["a"], subject_transform: { src: "a", dest: "x" } }, ["x"])).toEqual([]);
});
