import fc from "fast-check";
import { expect, test } from "vitest";
import { natsFilter } from "../src/fault/nats-filter.js";
import { type NatsFrame, NatsFrameReader } from "../src/fault/nats-frames.js";

const subject = fc.stringMatching(/^[a-zA-Z_$.é]{1,20}$/);
const body = fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes));
const headerBlock = fc.stringMatching(/^[a-z]{0,20}$/).map((value) => Buffer.from(`NATS/1.0\r\nX: ${value}\r\n\r\n`));

interface Sent {
  readonly bytes: Buffer;
  readonly expected: Omit<NatsFrame, "bytes">;
}

function operation(
  line: string,
  headers: Buffer,
  payload: Buffer,
  expected: { verb: string; subject: string; reply: string | null },
): Sent {
  const bytes = Buffer.concat([Buffer.from(`${line}\r\n`), headers, payload, Buffer.from("\r\n")]);
  return { bytes, expected: { ...expected, headers: headers.toString("latin1"), payload } };
}

const message = fc
  .tuple(subject, fc.option(subject), fc.option(headerBlock), body, fc.boolean())
  .map(([to, reply, headers, payload, incoming]) => {
    const verb = `${headers === null ? "" : "H"}${incoming ? "MSG" : "PUB"}`;
    const sizes = headers === null ? `${payload.length}` : `${headers.length} ${headers.length + payload.length}`;
    const line = [verb, to, ...(incoming ? ["7"] : []), ...(reply === null ? [] : [reply]), sizes].join(" ");
    return operation(line, headers ?? Buffer.alloc(0), payload, { verb, subject: to, reply });
  });
const plain = fc.constantFrom("PING", "PONG", "+OK", 'INFO {"max_payload":1}', "SUB a.> 1", "-ERR 'no'").map((line): Sent => {
  const expected = { verb: line.split(" ")[0] as string, subject: null, reply: null, headers: "", payload: Buffer.alloc(0) };
  return { bytes: Buffer.from(`${line}\r\n`), expected };
});
const traffic = fc.array(fc.oneof(message, plain), { maxLength: 30 });

/** Cuts bytes at arbitrary places. */
function chunks(bytes: Buffer, cuts: readonly number[]): Buffer[] {
  const places = [...new Set(cuts.map((cut) => cut % (bytes.length + 1)))].sort((one, two) => one - two);
  const parts = [0, ...places].map((start, index) => bytes.subarray(start, [...places, bytes.length][index]));
  return parts.filter((part) => part.length > 0);
}

test("every operation is read once and whole, however the bytes are cut", () => {
  fc.assert(
    fc.property(traffic, fc.array(fc.nat(), { maxLength: 40 }), (sent, cuts) => {
      const reader = new NatsFrameReader();
      const read = chunks(Buffer.concat(sent.map(({ bytes }) => bytes)), cuts).flatMap((chunk) => reader.push(chunk));
      expect(read.map(({ bytes: _bytes, ...frame }) => frame)).toEqual(sent.map(({ expected }) => expected));
      expect(read.map(({ bytes }) => bytes)).toEqual(sent.map(({ bytes }) => bytes));
    }),
  );
});

test("a filter takes out chosen operations and leaves the others byte for byte", () => {
  fc.assert(
    fc.property(traffic, fc.array(fc.nat(), { maxLength: 10 }), (sent, cuts) => {
      const isDropped = (payload: Buffer) => payload.length % 2 === 1;
      const filter = natsFilter((frame) => isDropped(frame.payload))();
      const passed = chunks(Buffer.concat(sent.map(({ bytes }) => bytes)), cuts).map((chunk) => filter.push(chunk));
      expect(Buffer.concat(passed)).toEqual(
        Buffer.concat(sent.filter(({ expected }) => !isDropped(expected.payload)).map(({ bytes }) => bytes)),
      );
    }),
  );
});

test("a malformed size does not stall the reader", () => {
  expect(new NatsFrameReader().push(Buffer.from("PUB a x\r\nPING\r\n")).map(({ verb }) => verb)).toEqual(["PUB", "PING"]);
});
