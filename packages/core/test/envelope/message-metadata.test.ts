import { describe, expect, test } from "vitest";
import { normaliseHeaders } from "../../src/envelope/headers.js";
import {
  compileMessageMetadata,
  defaultMessageMetadataSection,
  joinLabels,
  type MessageMetadataSection,
} from "../../src/envelope/message-metadata.js";
import { thrownBy } from "./sample-envelope.js";

const compile = (changes: Partial<MessageMetadataSection> = {}) => compileMessageMetadata({ ...defaultMessageMetadataSection, ...changes });
const headers = (...pairs: [string, string][]) => normaliseHeaders(pairs);
const nothing = { priority: null, classification: null, labels: [], refused: null };

describe("FW-META-05 precedence", () => {
  const policy = compile({
    priority: { header: "Nats-Sinks-Priority", default: "low" },
    classification: { header: "X-Class", default: " open " },
    labels: { header: "Nats-Sinks-Labels", default: "base; base;common" },
    rules: [
      { subject: "events.audit.>", priority: "high", labels: ["audit", " retain ", "audit", ""] },
      { subject: "events.>", priority: "middle", classification: null },
      { subject: "events.audit.x", classification: "never reached" },
      { subject: "other.*", labels: null, classification: " " },
    ],
  });

  test("FW-META-05 a header that is present and not empty wins", () => {
    const given = headers(["NATS-SINKS-PRIORITY", " urgent "], ["x-class", "secret"], ["nats-sinks-labels", " a ;b;;a; c;"]);
    expect(policy.resolve("events.audit.x", given)).toEqual({
      priority: "urgent",
      classification: "secret",
      labels: ["a", "b", "c"],
      refused: null,
    });
  });

  test("FW-META-05 a header that is present and empty means null, whatever rules and defaults say", () => {
    const given = headers(["Nats-Sinks-Priority", ""], ["X-Class", "   "], ["Nats-Sinks-Labels", " ; ;"]);
    expect(policy.resolve("events.audit.x", given)).toEqual(nothing);
  });

  test("FW-META-05 field by field the first matching rule that names it, then the default", () => {
    expect(policy.resolve("events.audit.x", null)).toEqual({
      priority: "high",
      classification: null,
      labels: ["audit", "retain"],
      refused: null,
    });
    expect(policy.resolve("events.other", null)).toEqual({
      priority: "middle",
      classification: null,
      labels: ["base", "common"],
      refused: null,
    });
    expect(policy.resolve("else", null)).toEqual({ priority: "low", classification: "open", labels: ["base", "common"], refused: null });
    expect(policy.resolve("other.x", null)).toEqual({ priority: "low", classification: null, labels: [], refused: null });
  });

  test("FW-META-05 each field is decided for itself", () => {
    expect(policy.resolve("events.audit.x", headers(["X-Class", "mine"]))).toEqual({
      priority: "high",
      classification: "mine",
      labels: ["audit", "retain"],
      refused: null,
    });
  });

  test("FW-META-05 with nothing given and nothing configured all is null", () => {
    expect(compile().resolve("a", null)).toEqual(nothing);
    expect(compile().resolve("a", headers(["Other", "x"]))).toEqual(nothing);
  });
});

describe("FW-META-06 values", () => {
  test("FW-META-06 the refused field is named, the others stand", () => {
    expect(compile().resolve("a", headers(["Nats-Sinks-Priority", "a\u0000"], ["Nats-Sinks-Classification", "c"]))).toEqual({
      ...nothing,
      classification: "c",
      refused: "priority",
    });
    expect(compile().resolve("a", headers(["Nats-Sinks-Labels", "a;\u001bb"])).refused).toBe("labels");
  });

  test("FW-META-06 characters beyond ASCII are no controls", () => {
    expect(compile().resolve("a", headers(["Nats-Sinks-Priority", "h\u00f6chst\u0085"])).priority).toBe("h\u00f6chst\u0085".trim());
  });

  test("FW-META-06 nothing is coerced, and a label in a list holds no semicolon", () => {
    const rule = (each: object) => () => compile({ rules: [{ subject: "a", ...each }] });
    for (const [make, path] of [
      [rule({ priority: 5 }), "rules[0].priority"],
      [rule({ classification: true }), "rules[0].classification"],
      [rule({ labels: 7 }), "rules[0].labels"],
      [rule({ labels: ["a", 7] }), "rules[0].labels"],
      [rule({ labels: ["a;b"] }), "rules[0].labels"],
      [rule({ labels: ["a\u0001"] }), "rules[0].labels"],
      [rule({ priority: "a\nb" }), "rules[0].priority"],
      [rule({ subject: "a..b" }), "rules[0].subject"],
      [() => compile({ labels: { header: "L", default: ["x;y"] } }), "labels.default"],
      [() => compile({ priority: { header: "bad name", default: null } }), "priority.header"],
      [() => compile({ priority: { header: "P", default: "\u0007" } }), "priority.default"],
    ] as const) {
      const error = thrownBy(make);
      expect(error.name).toBe("ConfigurationError");
      expect(error.message).toContain(`message_metadata.${path}`);
    }
  });

  test("FW-META-06 labels as one text are joined with a semicolon", () => {
    expect(joinLabels(["a", "b c"])).toBe("a;b c");
    expect(joinLabels([])).toBe("");
  });
});
