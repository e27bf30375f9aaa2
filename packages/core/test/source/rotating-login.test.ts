import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { rotatingLogin } from "../../src/source/rotating-login.js";

let folder: string;
let file: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "sinks-login-"));
  file = join(folder, "login");
});
afterEach(() => rmSync(folder, { recursive: true }));

/** A login of a file's text, that cannot be used while it is half written. */
const textLogin = (bytes: Uint8Array) => (nonce?: string) => {
  const text = Buffer.from(bytes).toString("utf8");
  if (!text.endsWith(".")) throw new Error("half written");
  return { user: text, pass: nonce ?? "" };
};

test("FW-RUN-06 each connect logs in with what the file holds then", () => {
  writeFileSync(file, "first.");
  const login = rotatingLogin(file, Buffer.from("first."), textLogin);
  expect(login("n1")).toEqual({ user: "first.", pass: "n1" });
  writeFileSync(file, "second.");
  expect(login("n2")).toEqual({ user: "second.", pass: "n2" });
});

test("FW-RUN-06 while the file is away or half written what last worked counts", () => {
  const login = rotatingLogin(file, Buffer.from("read at start."), textLogin);
  expect(login()).toMatchObject({ user: "read at start." });
  writeFileSync(file, "second.");
  expect(login()).toMatchObject({ user: "second." });
  writeFileSync(file, "thi");
  expect(login()).toMatchObject({ user: "second." });
  rmSync(file);
  expect(login()).toMatchObject({ user: "second." });
});
