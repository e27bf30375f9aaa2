import type { Configuration } from "../config/schema.js";
import type { ConsumerState } from "../source/consumer.js";
import { ConsumerMark, markOf } from "../source/consumer-mark.js";
import type { Link } from "../source/link.js";
import { type SequenceRanges, subtract, unite } from "../source/sequence-ranges.js";
import type { Telemetry } from "../telemetry/port.js";
import { nothingStranded, readMark, type Stranded, writeMark } from "./stranded-mark.js";
import { reportUnmarked, type StrandedAtStart } from "./stranded-messages.js";

/** No sequence is above this one. */
const highest = 2n ** 64n;
/** More than these are not kept one by one: a mark that names more was not written by a runner. */
const mostCertain = 1_000_000;

/**
 * What an earlier process may have left behind (FW-RUN-21): what the mark on the consumer says, and, with a delivery limit,
 * everything from the ack floor to the last delivery. The latter is marked as well before anything is pulled, because the first
 * ack may carry the floor over it; not while another client pulls, which hears of everything by itself. Rejects when the server
 * does not answer.
 */
export async function findStranded(configuration: Configuration, link: Link, telemetry: Telemetry): Promise<StrandedAtStart> {
  const { consumer } = link.bound;
  const before = markOf(consumer);
  const said = readMark(before);
  if (said === null)
    telemetry.log("warn", "the mark of messages out of deliveries cannot be read and is replaced", { consumer: consumer.name });
  const found = withinDelivered(said ?? nothingStranded, consumer);
  const marked: Stranded = { certain: found.certain, possible: subtract(unite(found.possible, unsettled(consumer)), found.certain) };
  if (marked.certain.length + marked.possible.length > 0)
    telemetry.log("info", "messages may be out of deliveries; they are looked for", { ranges: writeMark(marked) });
  if (consumer.num_waiting > 0 && said !== null)
    return { text: before, marked: found, unmarked: subtract(marked.possible, found.possible), refused: false };
  const text = writeMark(marked);
  if (text === before) return { text, marked, unmarked: [], refused: false };
  const mark = new ConsumerMark(
    configuration,
    () => link,
    () => consumer.created,
  );
  let kept = before;
  const result = await mark.update((there) => {
    const others = there === before ? nothingStranded : (readMark(there) ?? nothingStranded);
    kept = writeMark({ certain: unite(marked.certain, others.certain), possible: unite(marked.possible, others.possible) });
    return kept;
  });
  const refused = result === "refused";
  if (refused) reportUnmarked(telemetry);
  return { text: refused ? before : kept, marked, unmarked: [], refused };
}

/** Everything from the ack floor to the last delivery; nothing without a delivery limit, because then everything comes again. */
function unsettled({ config, ack_floor: floor, delivered }: ConsumerState): SequenceRanges {
  const limited = (config.max_deliver ?? -1) > 0;
  // A server may give a consumer that began later no floor of its own before its first ack.
  const after = Math.max(floor.stream_seq, beforeStart(config));
  return limited && delivered.stream_seq > after ? [[after + 1, delivered.stream_seq]] : [];
}

/** What lies before the start of a consumer is not delivered by it. */
function beforeStart({ opt_start_seq: start }: ConsumerState["config"]): number {
  return (start ?? 1) - 1;
}

/** What the consumer has still to deliver cannot be out of deliveries. */
function withinDelivered({ certain, possible }: Stranded, { delivered, config }: ConsumerState): Stranded {
  const behind = Math.max(delivered.stream_seq, beforeStart(config));
  const beyond: SequenceRanges = [[behind + 1, highest]];
  const known = subtract(certain, beyond);
  const count = known.reduce((sum, [first, last]) => sum + Number(last) - Number(first) + 1, 0);
  const rest = subtract(possible, beyond);
  return count <= mostCertain ? { certain: known, possible: rest } : { certain: [], possible: unite(known, rest) };
}
