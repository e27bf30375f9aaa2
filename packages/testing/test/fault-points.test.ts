import { expect, test } from "vitest";
import { faultPoints, killAtEnvironment } from "../src/fault/fault-points.js";

function visitsUntilDeath(environment: Readonly<Record<string, string>>, point: string): number[] {
  const deaths: number[] = [];
  let visit = 0;
  const points = faultPoints(environment, () => deaths.push(visit));
  for (visit = 1; visit <= 4; visit += 1) points.reach(point);
  return deaths;
}

test("dies at the named point, at the visit that was asked for, and nowhere else", () => {
  expect(visitsUntilDeath(killAtEnvironment({ point: "after: the commit" }), "after: the commit")).toEqual([1]);
  expect(visitsUntilDeath(killAtEnvironment({ point: "written", visit: 3 }), "written")).toEqual([3]);
  expect(visitsUntilDeath(killAtEnvironment({ point: "written" }), "before")).toEqual([]);
});

test("a program that was told nothing lives", () => {
  expect(visitsUntilDeath({}, "written")).toEqual([]);
  expect(visitsUntilDeath({}, "")).toEqual([]);
});
