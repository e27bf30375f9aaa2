import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  AckError,
  ConfigurationError,
  CredentialsError,
  DeadLetterError,
  DestinationUnavailableError,
  NotAttemptedError,
  PermanentSinkError,
  PolicyViolationError,
  RetryExhaustedError,
  SerializationError,
  SinkContractError,
  SinkError,
  SizePolicyViolationError,
  TemporarySinkError,
  UnknownOutcomeError,
  ValidationError,
} from "../../src/error/errors.js";
import { toSinkError } from "../../src/error/to-sink-error.js";
import { decideVerdict, isBudgeted, type Verdict, type VerdictFacts, type VerdictPolicy } from "../../src/runner/verdict.js";
import { verdictPolicy } from "../fakes/runner-settings.js";

const first: VerdictFacts = { failures: 0, deliveryCount: 1, safe: false };

const permanents = [PermanentSinkError, SerializationError, ValidationError, PolicyViolationError, SizePolicyViolationError];
/** Every class a sink may answer with, by name. */
const answers = {
  temporary: new TemporarySinkError("x"),
  unavailable: new DestinationUnavailableError("x"),
  credentials: new CredentialsError("x"),
  unknown: new UnknownOutcomeError("x"),
  notAttempted: new NotAttemptedError("x"),
  permanent: new PermanentSinkError("x"),
  plain: new SinkError("x"),
  exhausted: new RetryExhaustedError("x"),
};

function verdictOf(error: SinkError | null, policy: Partial<VerdictPolicy> = {}, facts: Partial<VerdictFacts> = {}): Verdict {
  return decideVerdict(error, { ...first, ...facts }, verdictPolicy(policy));
}

describe("the table of errors", () => {
  test("FW-RUN-22 only a stored message is stored", () => {
    expect(verdictOf(null)).toEqual({ kind: "stored" });
    for (const error of Object.values(answers)) expect(verdictOf(error).kind).not.toBe("stored");
  });

  test.each([
    ["ConfigurationError", new ConfigurationError("x"), { kind: "pause", reason: "configuration" }],
    ["SinkContractError", new SinkContractError("x"), { kind: "pause", reason: "sink_contract" }],
    ["DestinationUnavailableError", answers.unavailable, { kind: "unavailable", credentials: false }],
    ["CredentialsError", answers.credentials, { kind: "unavailable", credentials: true }],
    ["NotAttemptedError", answers.notAttempted, { kind: "again" }],
    ["TemporarySinkError", answers.temporary, { kind: "retry", failures: 1, place: "nak" }],
    ["UnknownOutcomeError, not repeatable", answers.unknown, { kind: "redeliver", failures: 1 }],
    ["a plain SinkError", answers.plain, { kind: "retry", failures: 1, place: "nak" }],
    ["RetryExhaustedError", answers.exhausted, { kind: "dead_letter", exhausted: true }],
    ["an unexpected value", toSinkError(new TypeError("boom")), { kind: "retry", failures: 1, place: "nak" }],
    ["a DeadLetterError out of a sink", toSinkError(new DeadLetterError("x")), { kind: "retry", failures: 1, place: "nak" }],
    ["an AckError out of a sink", toSinkError(new AckError("x")), { kind: "retry", failures: 1, place: "nak" }],
  ] as const)("FW-ERR-01 %s", (_name, error, expected) => {
    expect(verdictOf(error as SinkError)).toEqual(expected);
  });

  test.each(permanents.map((kind) => [kind.name, kind] as const))("FW-ERR-01 %s is dead-lettered, that message alone", (_name, kind) => {
    expect(verdictOf(new kind("x"))).toEqual({ kind: "dead_letter", exhausted: false });
  });

  test("FW-ERR-01 an unexpected error has the code unexpected and is temporary", () => {
    expect(toSinkError(new RangeError("x"))).toMatchObject({ name: "TemporarySinkError", code: "unexpected" });
    expect(toSinkError("text")).toMatchObject({ name: "TemporarySinkError", code: "unexpected" });
  });

  test("FW-ERR-01 a second installed copy of the classes is judged alike: the brand decides", () => {
    const foreign = Object.assign(new Error("x"), { code: "permanent", destinationCode: null });
    Object.defineProperty(foreign, Symbol.for("sinks.error"), { value: ["SinksError", "SinkError", "PermanentSinkError"] });
    expect(verdictOf(foreign as unknown as SinkError)).toEqual({ kind: "dead_letter", exhausted: false });
  });
});

describe("budget", () => {
  test.each([
    ["temporary", answers.temporary, false, true],
    ["plain", answers.plain, false, true],
    ["unexpected", toSinkError(new Error("x")), false, true],
    ["unknown, to be redelivered", answers.unknown, false, true],
    ["unknown, repeatable", answers.unknown, true, true],
    ["unavailable", answers.unavailable, false, false],
    ["credentials", answers.credentials, false, false],
    ["not attempted", answers.notAttempted, false, false],
    ["permanent", answers.permanent, false, false],
    ["retry exhausted", answers.exhausted, false, false],
  ] as const)("FW-RUN-20 FW-RUN-19 %s uses the budget: %#", (_name, error, safe, expected) => {
    expect(isBudgeted(error, { ...first, safe }, verdictPolicy())).toBe(expected);
  });

  test("FW-RUN-20 unknown outcomes that are held or dead-lettered use no budget", () => {
    for (const onUnknown of ["hold", "dead_letter"] as const)
      expect(isBudgeted(answers.unknown, first, verdictPolicy({ onUnknown }))).toBe(false);
  });

  test("FW-RUN-20 every failure that leads to another try by itself is budgeted, unless nothing was sent or nothing could be", () => {
    fc.assert(
      fc.property(errors, allFacts, policies, (error, facts, policy) => {
        const verdict = decideVerdict(error, facts, policy);
        if (verdict.kind === "retry" || verdict.kind === "redeliver") expect(isBudgeted(error, facts, policy)).toBe(true);
      }),
    );
  });

  test.each([
    [0, 0, "dead_letter"],
    [1, 0, "retry"],
    [1, 1, "dead_letter"],
    [5, 4, "retry"],
    [5, 5, "dead_letter"],
    [5, 9, "dead_letter"],
  ] as const)("FW-RUN-20 with max_retries %i, after %i failures, the next means %s", (maxRetries, failures, expected) => {
    expect(verdictOf(answers.temporary, { maxRetries }, { failures }).kind).toBe(expected);
    expect(verdictOf(answers.unknown, { maxRetries }, { failures, safe: true }).kind).toBe(expected);
    expect(verdictOf(answers.unknown, { maxRetries }, { failures }).kind).toBe(expected === "retry" ? "redeliver" : expected);
  });

  test.each([
    [null, 1_000_000, "retry"],
    [5, 1, "retry"],
    [5, 3, "retry"],
    [5, 4, "dead_letter"],
    [5, 5, "dead_letter"],
    [5, 6, "dead_letter"],
    [2, 1, "dead_letter"],
    [1, 1, "dead_letter"],
  ] as const)("FW-RUN-20 with max_deliver %s a failure on delivery %i means %s", (maxDeliver, deliveryCount, expected) => {
    expect(verdictOf(answers.temporary, { maxDeliver, maxRetries: 1000 }, { deliveryCount }).kind).toBe(expected);
  });

  test("FW-RUN-19 FW-RUN-20 an outage or an unsent message is never exhausted, however late the delivery", () => {
    fc.assert(
      fc.property(
        fc.constantFrom(answers.unavailable, answers.credentials, answers.notAttempted),
        allFacts,
        policies,
        (error, facts, policy) => {
          expect(["again", "unavailable"]).toContain(decideVerdict(error, facts, policy).kind);
        },
      ),
    );
  });

  test.each([
    [
      { deadLetters: true, exhaustedAction: "dead_letter" },
      { kind: "dead_letter", exhausted: true },
    ],
    [
      { deadLetters: true, exhaustedAction: "hold" },
      { kind: "hold", exhausted: true },
    ],
    [
      { deadLetters: false, exhaustedAction: "dead_letter" },
      { kind: "hold", exhausted: true },
    ],
    [
      { deadLetters: false, exhaustedAction: "dead_letter", whenDisabled: "discard" },
      { kind: "hold", exhausted: true },
    ],
    [
      { deadLetters: false, exhaustedAction: "dead_letter", whenDisabled: "stop" },
      { kind: "hold", exhausted: true },
    ],
  ] as const)("FW-RUN-20 spent under %j", (policy, expected) => {
    expect(verdictOf(answers.temporary, { ...policy, maxRetries: 0 })).toEqual(expected);
  });

  test("FW-RUN-20 every delivery is attempted before it is dead-lettered: no verdict without an outcome gives one up", () => {
    expect(verdictOf(null, { maxRetries: 0, maxDeliver: 1 }, { failures: 99, deliveryCount: 99 })).toEqual({ kind: "stored" });
  });
});

describe("where a retry takes place", () => {
  test.each([
    [{ ordered: true }, "in_place"],
    [{ ordered: true, temporaryAction: "leave_unacked" }, "in_place"],
    [{ ordered: false, temporaryAction: "nak" }, "nak"],
    [{ ordered: false, temporaryAction: "leave_unacked" }, "leave"],
  ] as const)("FW-RUN-13 FW-RUN-18 under %j: %s", (policy, place) => {
    expect(verdictOf(answers.temporary, policy)).toEqual({ kind: "retry", failures: 1, place });
  });

  test("FW-RUN-18 a delivery whose count equals max_deliver is never given back", () => {
    fc.assert(
      fc.property(errors, allFacts, policies, (error, facts, policy) => {
        fc.pre(policy.maxDeliver !== null && facts.deliveryCount >= policy.maxDeliver);
        const verdict = decideVerdict(error, facts, policy);
        expect(verdict.kind).not.toBe("redeliver");
        if (verdict.kind === "retry") expect(verdict.place).toBe("in_place");
      }),
    );
  });

  test.each([
    [{ onUnknown: "redeliver" }, { kind: "redeliver", failures: 1 }],
    [{ onUnknown: "hold" }, { kind: "hold", exhausted: false }],
    [{ onUnknown: "dead_letter" }, { kind: "dead_letter", exhausted: false }],
    [
      { onUnknown: "dead_letter", deadLetters: false },
      { kind: "hold", exhausted: false },
    ],
  ] as const)("FW-ERR-01 an unknown outcome that must not be repeated, under %j", (policy, expected) => {
    expect(verdictOf(answers.unknown, policy)).toEqual(expected);
  });

  test("FW-ERR-01 an unknown outcome that may be repeated is an ordinary retry, whatever on_unknown says", () => {
    for (const onUnknown of ["redeliver", "hold", "dead_letter"] as const) {
      expect(verdictOf(answers.unknown, { onUnknown, ordered: true }, { safe: true })).toEqual({
        kind: "retry",
        failures: 1,
        place: "in_place",
      });
    }
  });
});

describe("a permanent failure", () => {
  test.each([
    [{ deadLetters: true }, { kind: "dead_letter", exhausted: false }],
    [
      { deadLetters: false, whenDisabled: "hold" },
      { kind: "hold", exhausted: false },
    ],
    [
      { deadLetters: false, whenDisabled: "stop" },
      { kind: "pause", reason: "poison" },
    ],
    [{ deadLetters: false, whenDisabled: "discard" }, { kind: "discard" }],
    [
      { ordered: true, onPoison: "dead_letter_and_continue" },
      { kind: "dead_letter", exhausted: false },
    ],
    [
      { ordered: true, onPoison: "park_key" },
      { kind: "hold", exhausted: false },
    ],
    [
      { ordered: true, onPoison: "park_key", deadLetters: false, whenDisabled: "discard" },
      { kind: "hold", exhausted: false },
    ],
    [
      { ordered: true, onPoison: "stop" },
      { kind: "pause", reason: "poison" },
    ],
    [
      { ordered: true, onPoison: "stop", deadLetters: false, whenDisabled: "discard" },
      { kind: "pause", reason: "poison" },
    ],
    [
      { ordered: false, onPoison: "stop" },
      { kind: "dead_letter", exhausted: false },
    ],
    [
      { ordered: false, onPoison: "park_key", deadLetters: false },
      { kind: "hold", exhausted: false },
    ],
  ] as const)("FW-DLQ-08 FW-RUN-36 under %j", (policy, expected) => {
    expect(verdictOf(answers.permanent, policy)).toEqual(expected);
  });

  test("FW-DLQ-08 nothing is discarded but a permanent failure with dead letters off and discard configured", () => {
    fc.assert(
      fc.property(errors, allFacts, policies, (error, facts, policy) => {
        if (decideVerdict(error, facts, policy).kind !== "discard") return;
        expect(policy.deadLetters).toBe(false);
        expect(policy.whenDisabled).toBe("discard");
        expect(error === answers.permanent || (error === answers.unknown && policy.onUnknown === "dead_letter")).toBe(true);
      }),
    );
  });

  test("FW-DLQ-08 nothing is dead-lettered with dead letters off", () => {
    fc.assert(
      fc.property(errors, allFacts, policies, (error, facts, policy) => {
        if (decideVerdict(error, facts, policy).kind === "dead_letter") expect(policy.deadLetters).toBe(true);
      }),
    );
  });
});

const errors = fc.constantFrom<SinkError>(...Object.values(answers));
const allFacts: fc.Arbitrary<VerdictFacts> = fc.record({
  failures: fc.integer({ min: 0, max: 10 }),
  deliveryCount: fc.integer({ min: 1, max: 10 }),
  safe: fc.boolean(),
});
const policies: fc.Arbitrary<VerdictPolicy> = fc.record({
  maxRetries: fc.integer({ min: 0, max: 8 }),
  maxDeliver: fc.option(fc.integer({ min: 1, max: 8 })),
  ordered: fc.boolean(),
  temporaryAction: fc.constantFrom("nak", "leave_unacked"),
  exhaustedAction: fc.constantFrom("dead_letter", "hold"),
  onUnknown: fc.constantFrom("redeliver", "dead_letter", "hold"),
  deadLetters: fc.boolean(),
  whenDisabled: fc.constantFrom("hold", "stop", "discard"),
  onPoison: fc.constantFrom("dead_letter_and_continue", "park_key", "stop"),
});
