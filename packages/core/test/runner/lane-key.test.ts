import { describe, expect, test } from "vitest";
import { laneKey } from "../../src/runner/lane-key.js";
import { entryOf } from "../fakes/entries.js";

function keyOf(orderKey: string, subject: string, headers: Record<string, string> = {}): string {
  return laneKey("per_key", orderKey)(entryOf({ sequence: 1, subject, headers }));
}

describe("key of a lane", () => {
  test("FW-RUN-12 strict has one lane for all", () => {
    const key = laneKey("strict", "subject");
    expect(key(entryOf({ sequence: 1, subject: "a.b" }))).toBe(key(entryOf({ sequence: 2, subject: "c.d" })));
  });

  test("FW-RUN-12 subject: the whole subject", () => {
    expect(keyOf("subject", "orders.7")).not.toBe(keyOf("subject", "orders.8"));
    expect(keyOf("subject", "orders.7")).toBe(keyOf("subject", "orders.7"));
  });

  test("FW-RUN-12 header:<name>: the value, found in any case; messages without it share one lane", () => {
    const key = (headers: Record<string, string>): string => keyOf("header:Tenant", "a", headers);
    expect(key({ Tenant: "x" })).toBe(key({ tenant: "x" }));
    expect(key({ Tenant: "x" })).not.toBe(key({ Tenant: "y" }));
    expect(key({})).toBe(key({ Other: "x" }));
    expect(key({ Tenant: "" })).not.toBe(key({}));
  });

  test("FW-RUN-12 subject_token:<n>: counted from 1; subjects too short share one lane", () => {
    expect(keyOf("subject_token:1", "orders.7.paid")).toBe(keyOf("subject_token:1", "orders.8"));
    expect(keyOf("subject_token:2", "orders.7.paid")).toBe(keyOf("subject_token:2", "other.7"));
    expect(keyOf("subject_token:3", "orders.7")).toBe(keyOf("subject_token:3", "orders"));
    expect(keyOf("subject_token:3", "orders.7.paid")).not.toBe(keyOf("subject_token:3", "orders.7"));
  });

  test("FW-RUN-12 the shared lane of messages without a key is nobody's own lane, whatever the value", () => {
    const shared = keyOf("header:Tenant", "a");
    for (const value of ["", " ", ":", "h:", "undefined"]) expect(keyOf("header:Tenant", "a", { Tenant: value })).not.toBe(shared);
  });
});
