import type { Msg, MsgHdrs, NatsConnection, Subscription } from "@nats-io/transport-node";
import { type AckSubject, AckSubjectReader } from "./ack-subject.js";
import { readPullStatus } from "./pull-status.js";

/** Settings of every pull of one consumer; times in ms. */
export interface PullSettings {
  /** Subject of the pull requests: `<api prefix>.CONSUMER.MSG.NEXT.<stream>.<consumer>`. */
  readonly requestSubject: string;
  readonly inbox: string;
  readonly expiresMs: number;
  readonly heartbeatMs: number;
  /** Priority group of an ordered consumer (FW-RUN-12); null without. */
  readonly group: string | null;
}

/** What pulls tell their owner; all calls are synchronous, from the client's callback. */
export interface PullEvents {
  delivered(message: Msg, position: AckSubject, bytes: number): void;
  /** A pull ended and gave back the room it had left. */
  ended(): void;
  /** The consumer must be checked before anything is settled (FW-RUN-33). */
  doubt(reason: string): void;
  /** The consumer's own limits refused a pull. */
  refused(limit: string): void;
  /** A message brought a pin that this client did not have. */
  pinned(): void;
  /** The next message is larger than the room of the pull that was open. */
  tooLarge(): void;
}

interface OpenPull {
  /** Null when the connection was closed before the request could be sent. */
  subscription: Subscription | null;
  readonly sentAt: number;
  messages: number;
  bytes: number;
  /** When anything came, a heartbeat included. */
  activeAt: number;
  /** When a message came. */
  broughtAt: number;
  /** Something came since the last tick. */
  heard: boolean;
  /** A message came since the last tick. */
  brought: boolean;
  /** Its end was told before its last messages came. */
  over: boolean;
  open: boolean;
}

/** The client's headers; null for none, and for a block it cannot parse, which is for the gates to judge (FW-ENV-03). */
function headersOf(message: Msg): MsgHdrs | null {
  try {
    return message.headers ?? null;
  } catch {
    return null;
  }
}

/** Times of a pull are set at the tick that notices: the clock is not read for every message. */
function note(pull: OpenPull, now: number): void {
  if (pull.heard) pull.activeAt = now;
  if (pull.brought) pull.broughtAt = now;
  pull.heard = false;
  pull.brought = false;
}

/** Bytes of a message as the server counts them: subject, reply, headers and body. The client knows them undecoded. */
function wireSize(message: Msg): number {
  const sized = message as Msg & { size?: () => number };
  return sized.size?.() ?? message.data.length + (message.reply?.length ?? 0);
}

const tickMs = 100;
const graceMs = 1000;
/** Silence after which an open pull may be given up at stop (FW-RUN-34). */
const silenceMs = 1500;

/**
 * The open pull requests of one consumer. Each has its own inbox, so that its room is known exactly: `messages` and
 * `bytes` are what the server may still send. A pull ends by itself: filled, by status, or `expires` + 1 s after it was
 * sent. It is not unsubscribed while messages come, which would strand them until their deadline.
 */
export class Puller {
  readonly #connection: NatsConnection;
  readonly #settings: PullSettings;
  readonly #events: PullEvents;
  readonly #now: () => number;
  readonly #pulls = new Set<OpenPull>();
  readonly #timer: NodeJS.Timeout;
  #messages = 0;
  #bytes = 0;
  #number = 0;
  #tickedAt: number;
  /** Since when the event loop runs without a block. */
  #freeSince: number;
  #pin: string | null = null;
  /** Since when an answer to a pull is awaited; null while none is. It outlives a pull that was given up unanswered. */
  #unheardSince: number | null = null;
  /** Something came since the last tick, on whichever pull. */
  #heard = false;
  #everHeard = false;
  readonly #subjects = new AckSubjectReader();

  constructor(connection: NatsConnection, settings: PullSettings, events: PullEvents, now: () => number) {
    this.#connection = connection;
    this.#settings = settings;
    this.#events = events;
    this.#now = now;
    this.#tickedAt = now();
    this.#freeSince = this.#tickedAt;
    this.#timer = setInterval(() => this.#tick(), tickMs);
  }

  /** Messages that open pulls may still bring. */
  get messages(): number {
    return this.#messages;
  }

  /** Bytes that open pulls may still bring. */
  get bytes(): number {
    return this.#bytes;
  }

  /** True while this client has the pin. */
  get pinned(): boolean {
    return this.#pin !== null;
  }

  get open(): number {
    return this.#pulls.size;
  }

  /** True once the server has answered a pull. */
  get everHeard(): boolean {
    return this.#everHeard;
  }

  /** Time for which the server has answered no pull although one asks, in ms; a blocked event loop does not count (FW-RUN-06). */
  silence(now: number): number {
    if (this.#heard || this.#unheardSince === null) return 0;
    return Math.max(0, now - Math.max(this.#unheardSince, this.#freeSince));
  }

  /**
   * Sends one pull request; `bytes` null asks without a byte limit. On a closed connection it keeps its room until it is
   * abandoned or overdue, so that nobody asks again at once.
   */
  request(messages: number, bytes: number | null): void {
    const inbox = `${this.#settings.inbox}.${this.#number}`;
    this.#number += 1;
    const now = this.#now();
    const pull: OpenPull = {
      subscription: null,
      sentAt: now,
      messages,
      bytes: bytes ?? 0,
      activeAt: now,
      broughtAt: now,
      heard: false,
      brought: false,
      over: false,
      open: true,
    };
    this.#pulls.add(pull);
    this.#unheardSince ??= now;
    this.#messages += messages;
    this.#bytes += pull.bytes;
    try {
      pull.subscription = this.#connection.subscribe(inbox, {
        callback: (error, message) => {
          if (error === null) this.#receive(pull, message);
        },
      });
      this.#connection.publish(this.#settings.requestSubject, this.#body(messages, bytes), { reply: inbox });
    } catch {
      // The connection is closed: whoever watches it learns of that by its status, and abandons all pulls.
    }
  }

  /** Forgets every pull: the connection they were sent on is gone, and the server has dropped them with it. */
  abandon(): void {
    this.#everHeard = false;
    this.#unheardSince = null;
    for (const pull of [...this.#pulls]) this.#close(pull);
  }

  /** Resolves when no pull is open, or none has brought a message for long enough; `signal` cuts the wait short. */
  async quiet(signal: AbortSignal): Promise<void> {
    while (this.#pulls.size > 0 && !signal.aborted) {
      const now = this.#now();
      for (const pull of this.#pulls) note(pull, now);
      if ([...this.#pulls].every((pull) => now - pull.broughtAt >= silenceMs)) break;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  /** Closes what is still open; the caller has waited for `quiet`. */
  dispose(): void {
    clearInterval(this.#timer);
    this.abandon();
  }

  #body(messages: number, bytes: number | null): string {
    const { expiresMs, heartbeatMs, group } = this.#settings;
    return JSON.stringify({
      batch: messages,
      ...(bytes === null ? {} : { max_bytes: bytes }),
      expires: expiresMs * 1_000_000,
      idle_heartbeat: heartbeatMs * 1_000_000,
      ...(group === null ? {} : { group }),
      ...(this.#pin === null ? {} : { id: this.#pin }),
    });
  }

  #receive(pull: OpenPull, message: Msg): void {
    pull.heard = true;
    this.#heard = true;
    // The reply first: reading `headers` parses them, and only a status has no ack reply.
    const reply = message.reply;
    const position = reply ? this.#subjects.read(reply) : null;
    if (position === null) {
      this.#status(pull, message);
      return;
    }
    pull.brought = true;
    const bytes = wireSize(message);
    if (pull.open) this.#account(pull, bytes);
    if (this.#settings.group !== null && this.#pin === null) this.#readPin(message);
    this.#events.delivered(message, position, bytes);
    if (pull.open && pull.messages <= 0) {
      this.#close(pull);
      this.#events.ended();
    }
  }

  #account(pull: OpenPull, bytes: number): void {
    pull.messages -= 1;
    this.#messages -= 1;
    const size = Math.min(pull.bytes, bytes);
    pull.bytes -= size;
    this.#bytes -= size;
  }

  #readPin(message: Msg): void {
    this.#pin = headersOf(message)?.get("Nats-Pin-Id") || null;
    if (this.#pin !== null) this.#events.pinned();
  }

  #status(pull: OpenPull, message: Msg): void {
    const headers = headersOf(message);
    const code = headers?.code ?? 0;
    const status = code === 0 ? null : readPullStatus(code, headers?.description ?? "");
    if (status === null || status.kind === "heartbeat") return;
    const whole = status.kind === "ended" || status.kind === "too_large";
    if (!whole || !this.#awaitRest(pull, headers)) this.#close(pull);
    if (status.kind === "too_large") this.#events.tooLarge();
    if (status.kind === "refused") this.#events.refused(status.limit);
    if (status.kind === "pin_lost") this.#pin = null;
    if (status.kind === "doubt") this.#events.doubt(status.reason);
    this.#events.ended();
  }

  /**
   * A replicated consumer sends messages once its replicas know of them, but the end of the pull at once: what was counted and
   * has not come yet is waited for, or it would be stranded until its deadline. The rest of the room is given back.
   */
  #awaitRest(pull: OpenPull, headers: MsgHdrs | null): boolean {
    const pending = Number.parseInt(headers?.get("Nats-Pending-Messages") ?? "", 10);
    if (!pull.open || !(pending < pull.messages)) return false;
    const bytes = Math.min(pull.bytes, Number.parseInt(headers?.get("Nats-Pending-Bytes") ?? "", 10) || 0);
    pull.messages -= pending;
    this.#messages -= pending;
    pull.bytes -= bytes;
    this.#bytes -= bytes;
    pull.over = true;
    return true;
  }

  #close(pull: OpenPull): void {
    if (!pull.open) return;
    pull.open = false;
    this.#messages -= pull.messages;
    this.#bytes -= pull.bytes;
    this.#pulls.delete(pull);
    if (!this.#connection.isClosed()) pull.subscription?.unsubscribe();
  }

  #tick(): void {
    const now = this.#now();
    const { expiresMs, heartbeatMs } = this.#settings;
    // After a blocked loop what seems missing may still be in the socket: silence counts from its end (FW-RUN-34).
    if (now - this.#tickedAt >= heartbeatMs) this.#freeSince = now;
    this.#tickedAt = now;
    if (this.#heard) {
      this.#everHeard = true;
      this.#heard = false;
      this.#unheardSince = this.#pulls.size > 0 ? now : null;
    }
    let missed = false;
    for (const pull of [...this.#pulls]) {
      note(pull, now);
      const silent = now - Math.max(pull.activeAt, this.#freeSince);
      const overdue = now - pull.sentAt >= expiresMs + graceMs && silent >= graceMs;
      // One that is over is owed no heartbeat.
      const rest = pull.over && silent >= graceMs;
      const late = !pull.over && silent >= 2 * heartbeatMs + graceMs;
      missed ||= late;
      // Each pull is judged by itself: one that brings messages is not closed for the silence of another.
      if (overdue || rest || late) {
        this.#close(pull);
        this.#events.ended();
      }
    }
    if (missed) this.#events.doubt("missed heartbeat");
  }
}
