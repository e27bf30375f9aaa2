import { z } from "zod";
import { labelsOf } from "../../envelope/message-metadata.js";
import { headerName, plainText } from "../scalar.js";
import { subjectPattern } from "../subject-schema.js";

const value = plainText(512).transform((text) => text.trim());

const labels = z
  .union([
    z.string().max(8192),
    z
      .array(plainText(512).refine((label) => !label.includes(";"), { error: "must not contain `;`; give each label an entry of its own" }))
      .max(256),
  ])
  .transform((setting) => labelsOf(setting));

const field = (word: string, header: string) =>
  z
    .strictObject({
      header: headerName().default(header).describe(`Header that gives the ${word} of a message.`),
      default: value
        .nullable()
        .prefault(null)
        .describe(`${word === "priority" ? "Priority" : "Classification"} of messages without the header and without a rule.`),
    })
    .prefault({})
    .describe(`Where the ${word} of a message comes from.`);

/** `message_metadata`: priority, classification and labels (FW-CFG-11, FW-META-05). */
export const messageMetadataSection = z
  .strictObject({
    priority: field("priority", "Nats-Sinks-Priority"),
    classification: field("classification", "Nats-Sinks-Classification"),
    labels: z
      .strictObject({
        header: headerName().default("Nats-Sinks-Labels").describe("Header that gives the labels of a message, separated by `;`."),
        default: labels
          .nullable()
          .prefault(null)
          .describe("Labels of messages without the header and without a rule: a list, or text separated by `;`."),
      })
      .prefault({})
      .describe("Where the labels of a message come from."),
    rules: z
      .array(
        z
          .strictObject({
            subject: subjectPattern().describe("Messages that this rule is for."),
            priority: value.nullable().optional().describe("Priority by this rule; null says none."),
            classification: value.nullable().optional().describe("Classification by this rule; null says none."),
            labels: labels.nullable().optional().describe("Labels by this rule; null says none."),
          })
          .refine((rule) => rule.priority !== undefined || rule.classification !== undefined || rule.labels !== undefined, {
            error: "must set priority, classification or labels",
          }),
      )
      .max(256)
      .default([])
      .describe("Defaults by subject, for each field the first rule that matches and names it."),
  })
  .prefault({})
  .describe("Priority, classification and labels of messages.");
