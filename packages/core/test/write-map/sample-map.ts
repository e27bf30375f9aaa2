import { z } from "zod";
import type { Envelope } from "../../src/envelope/envelope.js";
import type { PlannedPayload, WriteMap } from "../../src/write-map/apply.js";
import { compileWriteMap, type WriteMapSettings } from "../../src/write-map/compile.js";
import { checkWriteMap, writeMapOptions } from "../../src/write-map/options.js";
import type { DeclaredTexts, WriteVocabulary } from "../../src/write-map/vocabulary.js";

const place = { kind: "literal", description: "Place.", schema: z.string(), chosenBy: "place_by" } as const;
const data = { kind: "record", description: "Values.", wholeReference: true } as const;
const where = { kind: "record", description: "Which." } as const;

/** Operations of no connector, with every kind of field. */
export const vocabulary: WriteVocabulary = {
  defaultOperation: "insert",
  operations: {
    insert: { required: { place, data } },
    update: {
      required: { place, data, where },
      optional: { update_columns: { kind: "literal", description: "Names.", schema: z.array(z.string()) } },
    },
    push: { required: { key: { kind: "value", description: "Key." }, entry: { kind: "value", description: "Entry.", mayBeEmpty: true } } },
    add: {
      required: { key: { kind: "value", description: "Key." }, members: { kind: "list", description: "Members.", wholeReference: true } },
    },
    call: {
      required: { text: { kind: "literal", description: "Name.", schema: z.string(), declares: { params: "params" } } },
      optional: { params: { kind: "record", description: "Values." } },
    },
  },
  check: (operation, fields) =>
    operation === "insert" && fields["place"] === "bad name" ? [{ path: ["place"], message: "is no name" }] : [],
};

/** What the sample declares under `text`. */
const declared: DeclaredTexts = { text: new Map([["park", ["lot", "at"]]]) };

/** The options of a connector with the sample operations. */
export const options = z.strictObject({ ...writeMapOptions(vocabulary), limit: z.int().default(1) }).check(
  checkWriteMap(
    () => vocabulary,
    () => declared,
  ),
);

/** A map of these rules, as the options would hold them. */
export function mapOf(write: WriteMapSettings["write"], more: Partial<WriteMapSettings> = {}): WriteMap {
  const settings = options.parse({ write, ...more });
  const compiled = compileWriteMap({ ...settings, write: settings.write ?? [] }, vocabulary, declared);
  if ("faults" in compiled) throw new Error(compiled.faults.map(({ path, message }) => `${path.join(".")}: ${message}`).join("\n"));
  return compiled.map;
}

/** The payloads alone. */
export function payloadsOf(planned: readonly PlannedPayload[]): unknown[] {
  return planned.map(({ payload }) => payload);
}

/** What one reference gives for a message. */
export function valueAt(reference: string, envelope: Envelope): unknown {
  const [payload] = payloadsOf(mapOf([{ op: "push", key: "k", entry: reference }]).plan(envelope));
  return (payload as { entry: unknown }).entry;
}
