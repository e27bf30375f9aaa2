import { createHash } from "node:crypto";
import fc from "fast-check";
import { expect, test } from "vitest";
import { fileExtension, fileName, pathPart, streamLabel, subjectFolder } from "../src/file-name.js";
import { createdNs, message, options } from "./fixture.js";

const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");
/** What a file system that folds case and normalises letters makes of a name. */
const folded = (name: string) => [
  name.normalize("NFC").toLowerCase(),
  name.normalize("NFD").toLowerCase(),
  name.normalize("NFKC").toUpperCase(),
];
const anyText = fc.oneof(
  fc.string({ unit: "binary", maxLength: 300 }),
  fc.string({ maxLength: 80 }),
  fc.stringMatching(/^[A-Za-z0-9_.-]{0,90}$/),
  fc.constantFrom(
    "..",
    ".",
    "",
    "a/b",
    "con",
    "CON",
    "nul.txt",
    "\u2024\u2024/x",
    "é",
    "e\u0301",
    "É",
    "K",
    "\u212a",
    "ß",
    "ſ",
    "\ud800",
    "\udc00",
    "\ufffd",
  ),
);

function expectSafe(name: string): void {
  expect(name).toMatch(/^[a-z0-9_-][a-z0-9_.-]*$/);
  expect(name).not.toContain("..");
  expect(name.endsWith(".")).toBe(false);
  expect(Buffer.byteLength(`${name}.${"a".repeat(30)}.${"b".repeat(15)}.gz`)).toBeLessThanOrEqual(255);
}

test("FW-FILE-04 sequence names carry stream, creation time and 20 digits", () => {
  expect(fileName(message(7), "stream_sequence", null).name).toBe(`EVENTS-${createdNs}-00000000000000000007`);
  expect(fileName(message(18_446_744_073_709_551_615n, ""), "stream_sequence", null).name).toBe(`EVENTS-${createdNs}-18446744073709551615`);
  expect(fileName(message(7, "", { streamCreatedAt: null }), "stream_sequence", null).name).toBe("EVENTS-0-00000000000000000007");
});

test("FW-FILE-04 sequence names of streams that differ only in case, account or domain have different spares", () => {
  const variants = [message(1), message(1, "", { stream: "events" }), message(1, "", { account: "A" }), message(1, "", { domain: "A" })];
  const spares = variants.map((variant) => fileName(variant, "stream_sequence", null).spare?.() ?? "");
  expect(new Set(spares.map((spare) => spare.toLowerCase())).size).toBe(4);
  for (const spare of spares) expectSafe(spare);
});

test("FW-FILE-04 a stream with a name that is not plain is sanitised and carries the digest of the key", () => {
  const odd = message(5, "", { stream: "Größe" });
  const { name, spare } = fileName(odd, "stream_sequence", null);
  expect(name).toBe(`gr__e-${createdNs}-00000000000000000005-${sha256(odd.idempotencyKey())}`);
  expect(spare).toBeNull();
});

test("FW-FILE-04 FW-ENV-10 plain ids are kept, others are sanitised with a full digest", () => {
  expect(pathPart("order-17.v2_b")).toBe("order-17.v2_b");
  expect(pathPart("Order 17")).toBe(`order_17-${sha256("Order%2017")}`);
  expect(pathPart("../../etc/x")).toBe(`____etc_x-${sha256("..%2F..%2Fetc%2Fx")}`);
  expect(pathPart("a".repeat(65))).toBe(`${"a".repeat(40)}-${sha256("a".repeat(65))}`);
  expect(pathPart("")).toBe(`_-${sha256("")}`);
});

test("FW-FILE-04 messages without what the strategy asks for are named by the digest of their key", () => {
  const nameless = message(9);
  expect(fileName(nameless, "message_id", "00").name).toBe(`key-${sha256(nameless.idempotencyKey())}`);
  expect(fileName(nameless, "payload_sha256", null).name).toBe(`key-${sha256(nameless.idempotencyKey())}`);
  const outside = message(9, "x", { streamSequence: null });
  expect(fileName(outside, "stream_sequence", null).name).toBe(`key-${sha256(outside.idempotencyKey())}`);
  expect(fileName(outside, "payload_sha256", "ab".repeat(32)).name).toBe("ab".repeat(32));
});

test("FW-FILE-04 FW-FILE-06 any text becomes one safe part, different texts different ones on any file system", () => {
  fc.assert(
    fc.property(anyText, anyText, (left, right) => {
      const [one, two] = [pathPart(left), pathPart(right)];
      expectSafe(one);
      if (left === right) expect(one).toBe(two);
      else for (const [index, name] of folded(one).entries()) expect(name).not.toBe(folded(two)[index]);
    }),
    { numRuns: 3000 },
  );
});

test("FW-FILE-04 an id made to look like another id's digest name does not meet it", () => {
  fc.assert(
    fc.property(anyText, (id) => {
      const name = pathPart(id);
      if (name !== id) expect(pathPart(name)).not.toBe(name);
    }),
  );
  const nameless = message(9);
  const own = fileName(nameless, "message_id", "00").name;
  expect(fileName(message(10, "", { messageId: own }), "message_id", "00").name).not.toBe(own);
  expect(fileName(message(10, "", { messageId: own.slice(4) }), "message_id", "00").name).not.toBe(own);
});

test("FW-FILE-04 distinct keys give distinct sequence names where streams are plain and lower case", () => {
  const identity = fc.record({
    stream: fc.oneof(
      fc.stringMatching(/^[a-z0-9_-]{1,20}$/),
      fc.string({ minLength: 1, maxLength: 20 }).filter((text) => !/\p{Surrogate}/u.test(text)),
    ),
    sequence: fc.bigInt({ min: 1n, max: 2n ** 64n - 1n }),
    created: fc.constantFrom("2026-01-01T00:00:00.000000001Z", "2026-01-01T00:00:00.000000002Z", null),
  });
  const named = ({ stream, sequence, created }: { stream: string; sequence: bigint; created: string | null }) => {
    const made = message(sequence, "", { stream, streamCreatedAt: created });
    return { key: made.idempotencyKey(), name: fileName(made, "stream_sequence", null).name };
  };
  fc.assert(
    fc.property(identity, identity, (left, right) => {
      fc.pre(!/[A-Z]/.test(left.stream + right.stream));
      const [one, two] = [named(left), named(right)];
      expectSafe(one.name);
      if (one.key !== two.key) expect(one.name.toLowerCase()).not.toBe(two.name.toLowerCase());
    }),
  );
});

test("FW-FILE-06 no name is longer than what start has tried", () => {
  fc.assert(
    fc.property(anyText, fc.bigInt({ min: 1n, max: 2n ** 64n - 1n }), (text, sequence) => {
      const stream = /\p{Surrogate}/u.test(text) || text === "" ? "S" : text;
      const made = message(sequence, "", { stream, streamCreatedAt: "0000-01-01T00:00:00Z" });
      const { name, spare } = fileName(made, "stream_sequence", null);
      for (const one of [name, spare?.() ?? "", pathPart(text)]) expect(one.length).toBeLessThanOrEqual(150);
      expect(subjectFolder(text).length).toBeLessThanOrEqual(105);
    }),
  );
});

test("FW-FILE-04 names that Windows keeps for devices are not used", () => {
  for (const id of ["con", "nul", "com1", "lpt9", "aux.txt"]) expect(pathPart(id)).toMatch(/-[0-9a-f]{64}$/);
  expect(pathPart("console")).toBe("console");
});

test("FW-FILE-06 a subject becomes one folder however long it is", () => {
  expect(subjectFolder("events.ids")).toBe("events.ids");
  expectSafe(subjectFolder(`a.${"b.".repeat(2000)}c`));
  expect(subjectFolder("events.A")).not.toBe(subjectFolder("events.a"));
});

test("FW-FILE-08 gzip adds its ending where it is missing", () => {
  expect(fileExtension(options({ directory: "out" }))).toBe(".json");
  expect(fileExtension(options({ directory: "out", compression: "gzip" }))).toBe(".json.gz");
  expect(fileExtension(options({ directory: "out", compression: "gzip", extension: ".event.gz" }))).toBe(".event.gz");
});

test("FW-FILE-09 a stream's label in a segment's name is always safe", () => {
  fc.assert(
    fc.property(anyText, (stream) => {
      expect(streamLabel(stream)).toMatch(/^[A-Za-z0-9_-][A-Za-z0-9_.-]{0,63}$/);
    }),
  );
  expect(streamLabel("EVENTS")).toBe("EVENTS");
  expect(streamLabel(null)).toBe("no-stream");
});
