import { z } from "zod";
import { distinct, integer } from "../scalar.js";
import { subjectPattern } from "../subject-schema.js";

const prefix = "$JS.EVENT.ADVISORY";
const streamEvents = ["CREATED", "DELETED", "MODIFIED", "LEADER_ELECTED", "QUORUM_LOST"];
const consumerEvents = ["CREATED", "DELETED", "MODIFIED", "MAX_DELIVERIES", "MSG_NAKED", "MSG_TERMINATED", "LEADER_ELECTED", "QUORUM_LOST"];

const defaultSubjects: string[] = [
  `${prefix}.API`,
  `${prefix}.API.>`,
  ...streamEvents.map((event) => `${prefix}.STREAM.${event}.*`),
  ...consumerEvents.map((event) => `${prefix}.CONSUMER.${event}.*.*`),
];

/** `advisories`: events that the server publishes about streams and consumers (FW-CFG-11). */
export const advisoriesSection = z
  .strictObject({
    enabled: z.boolean().default(false).describe("Count the server's advisories; not part of this release."),
    subjects: distinct(subjectPattern(), 64).default(defaultSubjects).describe("Subjects of the advisories that are counted."),
    max_payload_bytes: integer(1, 16_777_216).default(65_536).describe("Largest advisory that is read."),
    log_events: z.boolean().default(false).describe("Log each advisory."),
  })
  .prefault({})
  .describe("Events of the server about streams and consumers; not part of this release.");
