import { type Applied, applySegment } from "./apply-segment.js";
import type { BatchOutcomes } from "./batch-outcomes.js";
import { limitCommands } from "./control.js";
import type { Conversation } from "./conversation.js";
import { reportIsolation, reportUnmatched } from "./execution-reports.js";
import type { ExecutionPorts, ExecutionSettings } from "./execution-settings.js";
import type { Course } from "./failure-course.js";
import { Isolation } from "./isolation.js";
import { mayPass } from "./isolation-step.js";
import { type MessageWrites, planSegment, type Segment } from "./segment.js";
import type { SegmentFailure } from "./segment-failure.js";
import { unavailableError, writeError } from "./write-error.js";

/** Longest pause before the same work is tried again; the pause is drawn evenly from zero up to it. */
const pauseMs = 100;

/** What the execution of one transaction's messages works on. */
export interface UnitParts {
  readonly conversation: Conversation;
  readonly outcomes: BatchOutcomes;
  readonly settings: ExecutionSettings;
  readonly ports: ExecutionPorts;
  readonly signal: AbortSignal;
}

/** Courses that end in isolation when more than one write is concerned. */
const isolated: ReadonlySet<Course> = new Set(["isolate", "parent_missing", "denied", "repeated_key", "repeat", "timed_out"]);

/**
 * Applies messages in one transaction, again where that may help, and isolated where one of them is at fault. Settles them,
 * and answers the failure after which nothing more of the batch is to be attempted, if there was one.
 */
export async function executeUnit(parts: UnitParts, messages: readonly MessageWrites[]): Promise<SegmentFailure | null> {
  const segment = planSegment(messages, parts.settings.maximumChunkBytes);
  const { applied, halving } = await applyWithRepeats(parts, segment);
  const { failure, unmatched } = applied;
  if (failure === null) {
    reportUnmatched(parts.ports.telemetry, unmatched);
    parts.outcomes.applied(messages);
    return null;
  }
  const { ports, conversation: asked } = parts;
  // The table of an operator's statement is not known.
  if (mayBeOfOldTypes(failure) && (await ports.tablesChanged(failure.form?.table ?? null, (queries) => asked.send(queries)))) {
    parts.outcomes.failed(messages, unavailableError(failure));
    return failure;
  }
  if (isolated.has(failure.course) && segment.writes.length > 1) {
    reportIsolation(parts.ports.telemetry, segment, failure);
    const { conversation, outcomes, settings } = parts;
    const isolation = new Isolation({ conversation, outcomes, settings, halving }, messages);
    const end = await isolation.run(failure);
    reportUnmatched(parts.ports.telemetry, isolation.unmatched);
    return end;
  }
  parts.outcomes.failed(messages, failure.course === "timed_out" ? unavailableError(failure) : writeError(failure));
  return endsBatch(failure) ? failure : null;
}

/** Refused whatever the type of their column: division by zero, a character that the server's encoding does not have. */
const ofAnyType: ReadonlySet<string> = new Set(["22012", "22021", "22P05"]);

/** A value that was refused as one of its type; the type may be one that its column, or the plan for it, had before. */
function mayBeOfOldTypes({ failure }: SegmentFailure): boolean {
  if (failure?.kind !== "server" || failure.code === null) return false;
  return failure.code === "42804" || (failure.code.startsWith("22") && !ofAnyType.has(failure.code));
}

/** A failure of one message alone leaves the others their turn; any other says that they would fail as well (WO-GEN-13). */
function endsBatch({ course }: SegmentFailure): boolean {
  return !["isolate", "repeated_key", "parent_missing"].includes(course);
}

/** The same work once more where it may pass: after a pause, at once with new plans, or with its statements halved. */
async function applyWithRepeats(parts: UnitParts, segment: Segment): Promise<{ applied: Applied; halving: boolean }> {
  const { conversation, settings, ports, signal } = parts;
  const { ledger, maximumChunkBytes, limitsPerTransaction, limits } = settings;
  const fixed = { limits: limitsPerTransaction ? limitCommands(limits) : [], deferred: false, ledger, maximumChunkBytes };
  let repeated = false;
  let planRenewed = false;
  let halving = false;
  for (;;) {
    const applied = await applySegment(conversation, segment, { ...fixed, halving });
    const course = applied.failure?.course;
    if (course === "repeated_key" && !halving && segment.writes.length > 1) {
      halving = true;
    } else if (course === "stale_plan" && !planRenewed) {
      planRenewed = true;
    } else if (applied.failure !== null && mayPass(applied.failure) && !repeated && !signal.aborted) {
      repeated = true;
      await conversation.end();
      await ports.wait(ports.random() * pauseMs, signal);
    } else {
      return { applied, halving };
    }
  }
}
