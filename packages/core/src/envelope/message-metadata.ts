import { ConfigurationError } from "../error/errors.js";
import { foldHeaderName, type HeaderMap } from "./headers.js";
import { compileSubjectPattern, type SubjectPattern, subjectPatternFault } from "./subject-pattern.js";

/** Where one field comes from: the publisher's header, else the default. */
export interface MessageMetadataField<Default> {
  readonly header: string;
  readonly default: Default | null;
}

/** Labels in a configuration: a list, or one text with `;` between them. */
export type LabelsSetting = string | readonly string[];

/** Values for messages of some subjects; a field that is absent (undefined) is not named by the rule, null names it. */
export interface MessageMetadataRule {
  readonly subject: string;
  readonly priority?: string | null | undefined;
  readonly classification?: string | null | undefined;
  readonly labels?: LabelsSetting | null | undefined;
}

/** The configuration section `message_metadata` (FW-CFG-11). */
export interface MessageMetadataSection {
  readonly priority: MessageMetadataField<string>;
  readonly classification: MessageMetadataField<string>;
  readonly labels: MessageMetadataField<LabelsSetting>;
  readonly rules: readonly MessageMetadataRule[];
}

/** Priority, classification and labels of one message. */
export interface MessageMetadata {
  readonly priority: string | null;
  readonly classification: string | null;
  readonly labels: readonly string[];
  /** The field whose publisher value is refused (FW-META-06), which is then null; null when all are fine. */
  readonly refused: "priority" | "classification" | "labels" | null;
}

/** The compiled section. */
export interface MessageMetadataPolicy {
  /** Decides the three fields, field by field: header, first rule that names it, default, null (FW-META-05). */
  resolve(subject: string, headers: HeaderMap | null): MessageMetadata;
}

/** The section as it stands when nothing is configured. */
export const defaultMessageMetadataSection: MessageMetadataSection = Object.freeze({
  priority: Object.freeze({ header: "Nats-Sinks-Priority", default: null }),
  classification: Object.freeze({ header: "Nats-Sinks-Classification", default: null }),
  labels: Object.freeze({ header: "Nats-Sinks-Labels", default: null }),
  rules: Object.freeze([]),
});

const control = /[\0-\x1f\x7f]/;
const noLabels: readonly string[] = Object.freeze([]);
const nothing: MessageMetadata = Object.freeze({ priority: null, classification: null, labels: noLabels, refused: null });

/** True when a text holds an ASCII control character. */
export function hasControl(text: string): boolean {
  return control.test(text);
}

/** A text trimmed, or null when nothing is left of it. */
export function trimmedOrNull(text: string): string | null {
  const trimmed = text.trim();
  return trimmed === "" ? null : trimmed;
}

/** Labels of one text: split at `;`, trimmed, empty ones dropped, the first of equal ones kept. */
function splitLabels(text: string): readonly string[] {
  return distinctLabels(text.split(";"));
}

/** Trimmed labels without empty ones, the first of equal ones kept. */
function distinctLabels(labels: readonly string[]): readonly string[] {
  return Object.freeze([...new Set(labels.map((label) => label.trim()).filter((label) => label !== ""))]);
}

/** Labels as one text, the only flat form there is (FW-META-06). */
export function joinLabels(labels: readonly string[]): string {
  return labels.join(";");
}

/** Says what is wrong with a list of labels given by code or configuration; null when it is fine. */
export function labelsFault(labels: LabelsSetting): string | null {
  const list = typeof labels === "string" ? [labels] : labels;
  for (const label of list) {
    if (hasControl(label)) return "holds a control character";
    if (typeof labels !== "string" && label.includes(";")) return 'has a label that holds ";"';
  }
  return null;
}

/** The frozen list that a setting means. */
export function labelsOf(setting: LabelsSetting | null): readonly string[] {
  if (setting === null) return noLabels;
  return typeof setting === "string" ? splitLabels(setting) : distinctLabels(setting);
}

interface Rule {
  readonly subject: SubjectPattern;
  readonly priority: string | null | undefined;
  readonly classification: string | null | undefined;
  readonly labels: readonly string[] | undefined;
}

/** Compiles the section once; throws `ConfigurationError` that names the key. */
export function compileMessageMetadata(section: MessageMetadataSection): MessageMetadataPolicy {
  const priority = compileField(section.priority, "priority");
  const classification = compileField(section.classification, "classification");
  const labels = compileLabels(section.labels);
  const rules = section.rules.map(compileRule);
  const constant = rules.length === 0 && priority.default === null && classification.default === null && labels.default.length === 0;

  const resolve = (subject: string, headers: HeaderMap | null): MessageMetadata => {
    if (constant && (headers === null || headers.size === 0)) return nothing;
    const priorityValue = headers?.getFolded(priority.header);
    const classificationValue = headers?.getFolded(classification.header);
    const labelsValue = headers?.getFolded(labels.header);
    if (constant && priorityValue === undefined && classificationValue === undefined && labelsValue === undefined) return nothing;
    let refused: MessageMetadata["refused"] = null;
    const accept = (field: "priority" | "classification" | "labels", value: string): string => {
      if (!hasControl(value)) return value;
      refused ??= field;
      return "";
    };
    const byRule = <Value>(pick: (rule: Rule) => Value | undefined, otherwise: Value): Value => {
      for (const rule of rules) {
        const value = pick(rule);
        if (value !== undefined && rule.subject.matches(subject)) return value;
      }
      return otherwise;
    };
    return Object.freeze({
      priority:
        priorityValue === undefined ? byRule((rule) => rule.priority, priority.default) : trimmedOrNull(accept("priority", priorityValue)),
      classification:
        classificationValue === undefined
          ? byRule((rule) => rule.classification, classification.default)
          : trimmedOrNull(accept("classification", classificationValue)),
      labels: labelsValue === undefined ? byRule((rule) => rule.labels, labels.default) : splitLabels(accept("labels", labelsValue)),
      refused,
    });
  };
  return Object.freeze({ resolve });
}

function compileField(field: MessageMetadataField<string>, name: string): MessageMetadataField<string> {
  const path = `message_metadata.${name}`;
  return { header: headerName(field.header, path), default: compileText(field.default, `${path}.default`) ?? null };
}

function compileLabels(field: MessageMetadataField<LabelsSetting>): { header: string; default: readonly string[] } {
  const path = "message_metadata.labels";
  return { header: headerName(field.header, path), default: compileLabelList(field.default, `${path}.default`) ?? noLabels };
}

function compileRule(rule: MessageMetadataRule, position: number): Rule {
  const path = `message_metadata.rules[${position}]`;
  const fault = subjectPatternFault(rule.subject);
  if (fault !== null) throw new ConfigurationError(`${path}.subject ${fault}`);
  return {
    subject: compileSubjectPattern(rule.subject),
    priority: compileText(rule.priority, `${path}.priority`),
    classification: compileText(rule.classification, `${path}.classification`),
    labels: compileLabelList(rule.labels, `${path}.labels`),
  };
}

function headerName(header: string, path: string): string {
  if (!/^[!-9;-~]+$/.test(header)) throw new ConfigurationError(`${path}.header must be a header name`);
  return foldHeaderName(header);
}

function compileText(value: string | null | undefined, path: string): string | null | undefined {
  if (value === undefined || value === null) return value;
  if (typeof value !== "string") throw new ConfigurationError(`${path} must be a text`);
  if (hasControl(value)) throw new ConfigurationError(`${path} holds a control character`);
  return trimmedOrNull(value);
}

function compileLabelList(value: LabelsSetting | null | undefined, path: string): readonly string[] | undefined {
  if (value === undefined) return undefined;
  if (value === null) return noLabels;
  const texts = typeof value === "string" ? [value] : value;
  if (!Array.isArray(texts) || texts.some((label) => typeof label !== "string"))
    throw new ConfigurationError(`${path} must be a list of texts`);
  const fault = labelsFault(value);
  if (fault !== null) throw new ConfigurationError(`${path} ${fault}`);
  return labelsOf(value);
}
