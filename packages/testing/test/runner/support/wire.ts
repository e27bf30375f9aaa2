import { natsFilter } from "../../../src/fault/nats-filter.js";
import type { NatsFrame } from "../../../src/fault/nats-frames.js";
import { type Proxy as FaultProxy, startProxy } from "../../../src/fault/proxy.js";

/** One operation seen on the way to the server or to the client. */
export interface SeenFrame {
  readonly at: number;
  readonly subject: string;
  readonly reply: string | null;
  readonly text: string;
}

/** One settlement or heartbeat that went to the server. */
export interface SeenVerb extends SeenFrame {
  readonly verb: "ack" | "nak" | "term" | "working";
  readonly sequence: number;
  readonly deliveryCount: number;
  /** Delay of a nak in ms; null without one. */
  readonly delayMs: number | null;
}

/** A proxy in front of a server that writes down what the runner sends, and may take operations out. */
export interface Wire extends AsyncDisposable {
  readonly proxy: FaultProxy;
  readonly url: string;
  /** Everything published towards the server, in order. */
  readonly sent: SeenFrame[];
  /** Ack verbs among it. */
  verbs(verb?: SeenVerb["verb"]): SeenVerb[];
  /** Bodies of pull requests among it. */
  pulls(): { readonly batch: number; readonly max_bytes?: number; readonly expires: number; readonly idle_heartbeat: number }[];
  /** Operations for which an answer is true are taken out from now on. */
  dropToServer: (frame: NatsFrame) => boolean;
  dropToClient: (frame: NatsFrame) => boolean;
  /** Called for every operation towards the server before it is passed on. */
  onSent: (frame: SeenFrame) => void;
}

const verbNames = { "+ACK": "ack", "-NAK": "nak", "+TERM": "term", "+WPI": "working" } as const;

/** Reads an ack verb out of an operation; null for anything else. */
function ackVerb(frame: SeenFrame): SeenVerb | null {
  if (!frame.subject.startsWith("$JS.ACK.")) return null;
  const [word = "", ...rest] = frame.text.split(" ");
  const verb = verbNames[word as keyof typeof verbNames];
  // The last five tokens are sequence numbers, time and pending, whichever form the subject has.
  const tokens = frame.subject.split(".").slice(2);
  const first = tokens.length === 7 ? 2 : 4;
  const details = rest.join(" ");
  const delay = details === "" ? null : (JSON.parse(details) as { delay: number }).delay / 1e6;
  return { ...frame, verb, deliveryCount: Number(tokens[first]), sequence: Number(tokens[first + 1]), delayMs: delay };
}

/** What a start sends to find out its rights is neither a pull nor a settlement. */
function isProbe({ subject, payload }: NatsFrame): boolean {
  if (subject?.startsWith("$JS.ACK.")) return subject.endsWith(".0.0.0.0.0");
  return subject?.includes(".CONSUMER.MSG.NEXT.") === true && payload.toString() === "{";
}

/** Starts a wire in front of the server at `port`. */
export async function startWire(port: number): Promise<Wire> {
  const sent: SeenFrame[] = [];
  const watch = (frame: NatsFrame): boolean => {
    if (frame.subject === null) return wire.dropToServer(frame);
    if (isProbe(frame)) return false;
    const seen = { at: performance.now(), subject: frame.subject, reply: frame.reply, text: frame.payload.toString("utf8") };
    const dropped = wire.dropToServer(frame);
    if (!dropped) {
      sent.push(seen);
      wire.onSent(seen);
    }
    return dropped;
  };
  const proxy = await startProxy({ port, toServer: natsFilter(watch), toClient: natsFilter((frame) => wire.dropToClient(frame)) });
  const wire: Wire = {
    proxy,
    url: `nats://127.0.0.1:${proxy.port}`,
    sent,
    verbs: (verb) => sent.flatMap((frame) => ackVerb(frame) ?? []).filter((seen) => verb === undefined || seen.verb === verb),
    pulls: () => sent.filter(({ subject }) => subject.includes(".CONSUMER.MSG.NEXT.")).map(({ text }) => JSON.parse(text)),
    dropToServer: () => false,
    dropToClient: () => false,
    onSent: () => undefined,
    [Symbol.asyncDispose]: () => proxy[Symbol.asyncDispose](),
  };
  return wire;
}

/** Sections that send a stage's runner over the wire. */
export function overWire(wire: Wire, sections: Readonly<Record<string, unknown>> = {}): Record<string, unknown> {
  return { ...sections, nats: { url: wire.url, ...(sections["nats"] as object | undefined) } };
}

/** Names every ack that went out for a message that was not durable at that moment; must stay empty (FW-RUN-22). */
export function watchAcks(wire: Wire, isDurable: (sequence: number) => boolean): number[] {
  const early: number[] = [];
  wire.onSent = (frame) => {
    const seen = ackVerb(frame);
    if (seen !== null && (seen.verb === "ack" || seen.verb === "term") && !isDurable(seen.sequence)) early.push(seen.sequence);
  };
  return early;
}

/**
 * Sequences whose dead letter the server has confirmed, as the confirmations pass on their way to the runner. Takes over
 * `dropToClient`.
 */
export function watchDeadLetters(wire: Wire, subject: string): ReadonlySet<number> {
  const confirmed = new Set<number>();
  wire.dropToClient = (frame) => {
    // What answers a publication says which stream holds it, under which sequence.
    if (frame.subject === null || !/^\{"stream":.*"seq":\s*\d/.test(frame.payload.toString("utf8"))) return false;
    const published = wire.sent.find((sent) => sent.subject === subject && sent.reply === frame.subject);
    if (published !== undefined) confirmed.add(Number((JSON.parse(published.text) as { stream_sequence: number }).stream_sequence));
    return false;
  };
  return confirmed;
}
