import { expect, test } from "vitest";
import { natsCopies, natsFilter, onSubject } from "../src/fault/nats-filter.js";
import type { NatsFrame } from "../src/fault/nats-frames.js";

const frame = (subject: string | null): NatsFrame => ({
  verb: "PUB",
  subject,
  reply: null,
  headers: "",
  payload: Buffer.alloc(0),
  bytes: Buffer.alloc(0),
});

test.each([
  ["a.b", "a.b", true],
  ["a.b", "a.c", false],
  ["a.*", "a.b", true],
  ["a.*", "a", false],
  ["a.*", "a.b.c", false],
  ["$JS.ACK.>", "$JS.ACK.S.c.1", true],
  ["$JS.ACK.>", "$JS.ACK", false],
  [">", "anything.at.all", true],
  ["*.b.>", "a.b.c.d", true],
])("the pattern %s of subject %s: %s", (pattern, subject, expected) => {
  expect(onSubject(pattern)(frame(subject))).toBe(expected);
});

test("what has no subject is on none", () => {
  expect(onSubject(">")(frame(null))).toBe(false);
});

const stream = Buffer.from("PING\r\nPUB a 1\r\nx\r\nPUB b 1\r\ny\r\n");

test("takes out, passes and doubles whole operations, whatever the chunks", () => {
  const copies = natsCopies(({ subject }) => (subject === "a" ? 2 : subject === "b" ? 0 : 1))();
  const out = [...stream].map((byte) => copies.push(Buffer.from([byte])).toString()).join("");
  expect(out).toBe("PING\r\nPUB a 1\r\nx\r\nPUB a 1\r\nx\r\n");
  expect(natsFilter(onSubject("a"))().push(stream).toString()).toBe("PING\r\nPUB b 1\r\ny\r\n");
});
