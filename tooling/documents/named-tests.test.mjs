import { expect, test } from "vitest";
import { namedTestFaults } from "./named-tests.mjs";

const files = new Map([["packages/a/test/b.fault.test.ts", 'test(`a cut: nothing is lost`, …); test("two", …)']]);
const faultsOf = (text) => namedTestFaults([{ path: "docs/guides/page.md", text }], (file) => files.get(file) ?? null);

test("words of a title in the linked file are a proof, others and missing files are faults", () => {
  expect(faultsOf("| x | [a cut](../../packages/a/test/b.fault.test.ts) | [two](../../packages/a/test/b.fault.test.ts)")).toEqual([]);
  expect(faultsOf("[a cat](../../packages/a/test/b.fault.test.ts)")).toEqual([
    'docs/guides/page.md: packages/a/test/b.fault.test.ts has no test with the words "a cat"',
  ]);
  expect(faultsOf("[two](../../packages/c/test/b.fault.test.ts)")).toEqual([
    "docs/guides/page.md: there is no packages/c/test/b.fault.test.ts",
  ]);
});

test("other links are not looked at", () => {
  expect(faultsOf("[a guide](other.md) and [code](../../packages/a/src/b.ts), [`test/c.test.ts`](test/c.test.ts)")).toEqual([]);
});
