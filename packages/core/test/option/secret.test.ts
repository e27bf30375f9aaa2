import { format, inspect } from "node:util";
import { expect, test } from "vitest";
import { z } from "zod";
import { isSecret, Secret, secretOption } from "../../src/option/secret.js";

test("FW-CFG-04 a secret prints [redacted] however it is printed", () => {
  const secret = new Secret("hunter2");
  const ways = [
    `${secret}`,
    String(secret),
    JSON.stringify({ secret }),
    inspect(secret),
    inspect({ deep: { secret } }, { showHidden: true, depth: 9 }),
    format("%s %o %j", secret, secret, secret),
    `${Object.entries(secret)}`,
  ];
  for (const text of ways) expect(text).not.toContain("hunter2");
  expect(String(secret)).toBe("[redacted]");
  expect(secret.reveal()).toBe("hunter2");
});

test("FW-CFG-04 a secret is recognised by brand, not by class", () => {
  expect(isSecret(new Secret("x"))).toBe(true);
  for (const other of [null, "x", {}, { reveal: () => "x" }]) expect(isSecret(other)).toBe(false);
});

test("FW-CFG-04 the pair parses to a secret or a variable's name, and parses again unchanged", () => {
  const schema = z.strictObject({ ...secretOption("password", "Password.") });
  expect(schema.parse({})).toEqual({ password: null, password_env: null });
  const once = schema.parse({ password: "hunter2" });
  expect(isSecret(once.password) && once.password.reveal()).toBe("hunter2");
  expect(schema.parse(once).password?.reveal()).toBe("hunter2");
  expect(schema.parse({ password_env: "NAME" }).password_env).toBe("NAME");
});

test.each(["", " ", "\n"])("FW-CFG-04 a blank secret (%j) is refused", (blank) => {
  const schema = z.strictObject({ ...secretOption("password", "Password.") });
  expect(schema.safeParse({ password: blank }).success).toBe(false);
});

test.each(["1A", "A-B", "", "A".repeat(129), "A B"])("FW-CFG-04 %j is no variable's name", (name) => {
  const schema = z.strictObject({ ...secretOption("password", "Password.") });
  expect(schema.safeParse({ password_env: name }).success).toBe(false);
});
