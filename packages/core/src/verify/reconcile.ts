import type { InventoryReport } from "../connector/inventory.js";
import type { StreamLimits } from "../source/stream-limits.js";
import { DestinationLook } from "./destination-look.js";
import { type ConsumerReading, type Evidence, fateOf } from "./fate.js";
import { removalReason } from "./removal.js";
import { SequenceMarks } from "./sequence-marks.js";
import { type Verification, VerificationTally } from "./verification.js";

/** Takes sequences one by one. */
export type Take = (sequence: number) => void;

/** Where the readings come from; each gives what was there when it was called, or later. */
export interface Readings {
  consumer(): Promise<ConsumerReading>;
  /** Tells the report each record of the destination within the bounds. */
  destination(from: number, to: number, report: InventoryReport): Promise<void>;
  deadLetters(from: number, to: number, deadLettered: Take): Promise<void>;
  /** Limits of the stream and its bounds, at this moment. */
  stream(): Promise<{ readonly limits: StreamLimits; readonly wholeStream: boolean }>;
  /** Which of the sequences that `positions` names hold a message of the pipeline; others may be named too. */
  existing(positions: (from: number) => number | null, found: Take): Promise<void>;
}

/** Sequences that are looked at in one go; each takes one byte. */
export const windowSize = 2 ** 25;

/**
 * Accounts for every sequence between two (FW-CLI-07), in the order of readings that makes it right beside a running
 * pipeline: consumer, destination, dead letters, stream. What then seems missing is looked for once more in the same order,
 * because it may have been stored and acknowledged between two readings. Memory is one window, however long the stream is.
 */
export async function reconcile(readings: Readings, from: number, to: number, size = windowSize): Promise<Verification> {
  const tally = new VerificationTally();
  const consumer = await readings.consumer();
  let budget = consumer.ackPending;
  for (let first = from; first <= to; first += size) {
    const marks = new SequenceMarks(first, Math.min(to, first + size - 1));
    const evidence = await firstLook(readings, marks, consumer, tally);
    const suspects = suspectsOf(marks, evidence);
    const settled = suspects.missing > 0 || suspects.undecided > budget ? await secondLook(readings, marks, evidence) : evidence;
    budget -= addUp(marks, settled, { delivered: consumer.delivered, budget }, tally);
  }
  if (tally.foreign > 0 && to >= from) noteForeign(tally);
  return tally.result();
}

async function firstLook(readings: Readings, marks: SequenceMarks, consumer: ConsumerReading, tally: VerificationTally): Promise<Evidence> {
  const { first, last } = marks;
  const destination = new DestinationLook(
    (sequence) => marks.addStored(sequence),
    (what) => tally.note(what),
  );
  await readings.destination(first, last, destination);
  await readings.deadLetters(first, last, (sequence) => marks.addDeadLettered(sequence));
  const { limits, wholeStream } = await readings.stream();
  await readings.existing(
    (from) => marks.nextUnaccounted(from),
    (sequence) => marks.addPresent(sequence),
  );
  return { consumer, limits, wholeStream, destinationAbsent: destination.isAbsent };
}

/** The same order again; what the first look saw in the stream is looked for there only where the answer still matters. */
async function secondLook(readings: Readings, marks: SequenceMarks, { limits, wholeStream }: Evidence): Promise<Evidence> {
  const { first, last } = marks;
  const consumer = await readings.consumer();
  const destination = new DestinationLook(
    (sequence) => marks.addStoredLater(sequence),
    () => undefined,
  );
  await readings.destination(first, last, destination);
  await readings.deadLetters(first, last, (sequence) => marks.addDeadLettered(sequence));
  const doubtful = (from: number): number | null => {
    let sequence = marks.nextUnaccounted(from);
    while (sequence !== null && sequence <= consumer.floor && !marks.isPresent(sequence)) sequence = marks.nextUnaccounted(sequence + 1);
    return sequence !== null && sequence <= consumer.floor ? sequence : null;
  };
  for (let sequence = doubtful(first); sequence !== null; sequence = doubtful(sequence + 1)) marks.setAbsent(sequence, true);
  await readings.existing(doubtful, (sequence) => marks.setAbsent(sequence, false));
  return { consumer, limits, wholeStream, destinationAbsent: destination.isAbsent };
}

function suspectsOf(marks: SequenceMarks, evidence: Evidence): { readonly missing: number; readonly undecided: number } {
  let missing = 0;
  let undecided = 0;
  for (let sequence = marks.nextUnaccounted(marks.first); sequence !== null; sequence = marks.nextUnaccounted(sequence + 1)) {
    const fate = fateOf(sequence, marks, evidence);
    if (fate === "missing") missing += 1;
    else if (fate === "undecided") undecided += 1;
  }
  return { missing, undecided };
}

/** What the reading that came before everything allows. */
interface Allowance {
  readonly delivered: number;
  /** Deliveries that may still be pending. */
  readonly budget: number;
}

/** Adds a window to the tally and gives how much of the allowance it took. */
function addUp(marks: SequenceMarks, evidence: Evidence, allowance: Allowance, tally: VerificationTally): number {
  let excess = excessOf(marks, evidence, allowance);
  if (excess > 0) {
    tally.note("some of the missing sequences are not known by number: the server says how many deliveries are pending, not which");
  }
  let taken = 0;
  for (let sequence = marks.first; sequence <= marks.last; sequence += 1) {
    if (marks.isStored(sequence)) {
      tally.stored += 1;
      if (marks.isDuplicate(sequence)) tally.duplicates.add(sequence);
      continue;
    }
    if (marks.isAccounted(sequence)) {
      tally.deadLettered += 1;
      continue;
    }
    const fate = fateOf(sequence, marks, evidence);
    const isExcess = fate === "undecided" && excess > 0;
    if (fate === "missing" || isExcess) tally.missing.add(sequence);
    else if (fate === "foreign") tally.foreign += 1;
    else if (fate === "purged") notePurged(tally, removalReason(sequence, evidence.limits));
    else {
      tally.pending += 1;
      if (fate === "undecided" && sequence <= allowance.delivered) taken += 1;
    }
    if (isExcess) excess -= 1;
  }
  return taken;
}

/** How many delivered sequences are more than what can be pending, by the first reading and by the newest. */
function excessOf(marks: SequenceMarks, evidence: Evidence, { delivered, budget }: Allowance): number {
  let undecided = 0;
  let early = 0;
  for (let sequence = marks.nextUnaccounted(marks.first); sequence !== null; sequence = marks.nextUnaccounted(sequence + 1)) {
    if (fateOf(sequence, marks, evidence) !== "undecided") continue;
    undecided += 1;
    if (sequence <= delivered) early += 1;
  }
  return Math.max(0, early - budget, undecided - evidence.consumer.ackPending);
}

function notePurged(tally: VerificationTally, reason: string | null): void {
  tally.purged += 1;
  tally.note(`purged: ${reason ?? "removed from the stream"}`);
}

function noteForeign(tally: VerificationTally): void {
  tally.note("the stream holds subjects of others too: what is gone from it and not in the destination is not counted");
}
