import type { StreamConfig } from "@nats-io/jetstream";
import { subjectsOverlap } from "../config/subject-grammar.js";

/**
 * Filters that no subject of the stream can match: the consumer would wait for ever. A stream that takes from others, or that renames
 * what comes in, may hold any subject, and none of them is said to be wrong.
 */
export function unmatchedFilters(
  stream: Pick<StreamConfig, "subjects" | "mirror" | "sources" | "subject_transform">,
  filters: readonly string[],
): readonly string[] {
  const { subjects = [], mirror, sources = [], subject_transform: transform } = stream;
  if (mirror !== undefined || sources.length > 0 || transform !== undefined) return [];
  return filters.filter((filter) => !subjects.some((subject) => subjectsOverlap(subject, filter)));
}
