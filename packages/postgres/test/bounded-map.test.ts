import { expect, test } from "vitest";
import { BoundedMap } from "../src/render/bounded-map.js";

test("a full map forgets its oldest entry, and an entry that is set again is no new one", () => {
  const map = new BoundedMap<number>(2);
  map.add("a", 1);
  map.add("b", 2);
  expect(map.add("a", 3)).toBe(3);
  expect([map.get("a"), map.get("b")]).toEqual([3, 2]);
  map.add("c", 4);
  expect([map.get("a"), map.get("b"), map.get("c")]).toEqual([undefined, 2, 4]);
});
