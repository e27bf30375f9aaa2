import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { AckSubject, AckSubjectReader } from "../../src/source/ack-subject.js";

const largest = 18_446_744_073_709_551_615n;
const name = fc.string({ unit: fc.constantFrom(..."abcXYZ019_-$é"), minLength: 1, maxLength: 12 });
const number = fc.bigInt({ min: 0n, max: largest });
const fields = fc.record({
  stream: name,
  consumer: name,
  count: fc.integer({ min: 1, max: 1_000_000 }),
  sequence: number,
  consumerSequence: number,
  time: number,
  pending: fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER }),
});

/** The numbers of a delivery, last in both forms. */
function numbers(of: { count: number; sequence: bigint; consumerSequence: bigint; time: bigint; pending: number }): string {
  return `${of.count}.${of.sequence}.${of.consumerSequence}.${of.time}.${of.pending}`;
}

describe("an ack subject", () => {
  test("FW-RUN-07 FW-ENV-05 both forms give the same facts, digit for digit, also with tokens a later server adds", () => {
    fc.assert(
      fc.property(fields, name, name, fc.array(name, { maxLength: 3 }), (of, domain, account, more) => {
        const short = `$JS.ACK.${of.stream}.${of.consumer}.${numbers(of)}`;
        const long = `$JS.ACK.${domain}.${account}.${of.stream}.${of.consumer}.${numbers(of)}`;
        for (const text of [short, long, [long, ...more].join(".")]) {
          const position = AckSubject.parse(text);
          expect(position?.text).toBe(text);
          expect(position?.streamSequence).toBe(of.sequence);
          expect(position?.consumerSequence).toBe(of.consumerSequence);
          expect(BigInt(position?.sequence as number)).toBe(of.sequence);
          expect(position?.deliveryCount).toBe(of.count);
          expect(position?.timestampNs).toBe(of.time);
          expect(position?.pending).toBe(of.pending);
        }
      }),
    );
  });

  test("FW-RUN-07 added tokens that are numbers change nothing either", () => {
    const position = AckSubject.parse("$JS.ACK._.hash.S.C.1.22.33.44.55.66.77.88");
    expect(position).toMatchObject({ count: 1, sequence: 22, consumerSequenceNumber: 33, timestampNs: 44n, pending: 55 });
  });

  test.each([
    ["nothing", ""],
    ["an inbox", "_INBOX.abc.1"],
    ["another service", "$JS.API.CONSUMER.MSG.NEXT.S.C"],
    ["flow control", "$JS.FC.S.C.1"],
    ["a look-alike prefix", "$JS.ACKX.S.C.1.2.3.4.5"],
    ["the prefix in the middle", "x.$JS.ACK.S.C.1.2.3.4.5"],
    ["another case", "$js.ack.S.C.1.2.3.4.5"],
    ["too few tokens", "$JS.ACK.S.C.1.2.3.4"],
    ["ten tokens, neither form", "$JS.ACK.D.S.C.1.2.3.4.5"],
    ["the prefix alone", "$JS.ACK."],
    ["no count", "$JS.ACK.S.C..2.3.4.5"],
    ["a count that is no number", "$JS.ACK.S.C.x.2.3.4.5"],
    ["a negative sequence", "$JS.ACK.S.C.1.-2.3.4.5"],
    ["a sequence in other digits", "$JS.ACK.S.C.1.0x2.3.4.5"],
    ["a consumer sequence that is no number", "$JS.ACK.S.C.1.2.three.4.5"],
    ["a count beyond every count", "$JS.ACK.S.C.99999999999999999999.2.3.4.5"],
  ])("FW-RUN-07 %s is none and is never answered", (_name, text) => {
    expect(AckSubject.parse(text)).toBeNull();
  });

  test("FW-RUN-07 no text at all makes it throw, and what it takes for one begins as one", () => {
    const piece = fc.oneof(fc.constantFrom("$JS", "ACK", "", "1", "22", "-1", "x", "18446744073709551616"), fc.string({ maxLength: 4 }));
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 14 }), fc.boolean(), (pieces, prefixed) => {
        const text = (prefixed ? ["$JS", "ACK", ...pieces] : pieces).join(".");
        const position = AckSubject.parse(text);
        if (position === null) return;
        expect(text.startsWith("$JS.ACK.")).toBe(true);
        expect(Number.isSafeInteger(position.count)).toBe(true);
        expect(position.streamSequence).toBeGreaterThanOrEqual(0n);
      }),
    );
  });

  test.each([
    ["$JS.ACK.S.C.1.2.3.soon.5", null, 5],
    ["$JS.ACK.S.C.1.2.3.4.many", 4n, null],
    ["$JS.ACK.S.C.1.2.3.-4.-5", null, null],
    ["$JS.ACK.S.C.1.2.3..", null, null],
  ])("FW-ENV-02 FW-ENV-05 in %s what cannot be read of time and pending is null, not guessed", (text, time, pending) => {
    const position = AckSubject.parse(text);
    expect([position?.timestampNs, position?.pending]).toEqual([time, pending]);
  });
});

describe("reading many of one consumer", () => {
  const token = fc.oneof(fc.constantFrom("0", "1", "22", "18446744073709551615", "007"), fc.constantFrom("", "x", "-1", "1e3"));
  const text = fc
    .tuple(
      fc.constantFrom("$JS.ACK.S.C", "$JS.ACK.D.A.S.C", "$JS.ACK.D.A.S.C2"),
      fc.array(token, { minLength: 4, maxLength: 5 }),
      fc.boolean(),
    )
    .map(([names, tokens, more]) =>
      [names, ...tokens, ...(more && names !== "$JS.ACK.S.C" && tokens.length === 5 ? ["rnd"] : [])].join("."),
    );

  test("FW-RUN-07 FW-ENV-05 gives what reading each by itself gives, in any order of consumers, forms and garbage", () => {
    fc.assert(
      fc.property(fc.array(text, { maxLength: 20 }), (texts) => {
        const reader = new AckSubjectReader();
        for (const each of texts) {
          const [fast, careful] = [reader.read(each), AckSubject.parse(each)];
          expect(fast === null).toBe(careful === null);
          const facts = (position: AckSubject | null) => [
            position?.text,
            position?.count,
            position?.sequence,
            position?.consumerSequenceNumber,
            position?.timestampNs,
            position?.pending,
          ];
          expect(facts(fast)).toEqual(facts(careful));
        }
      }),
    );
  });
});
