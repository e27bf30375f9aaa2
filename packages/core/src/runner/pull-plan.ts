/** What a pull may ask for now; `bytes` null means no byte limit. */
export interface PullPlan {
  readonly messages: number;
  readonly bytes: number | null;
}

/** Facts the plan is made from. */
export interface PullRoom {
  /** Room in the flight, open pulls not yet taken off. */
  readonly messages: number;
  readonly bytes: number;
  /** What open pulls may still bring. */
  readonly openMessages: number;
  readonly openBytes: number;
  readonly batchSize: number;
  readonly batchMaxBytes: number;
  /** The server's `max_payload` + 64 KiB: no pull asks for less (FW-RUN-34). */
  readonly minimumBytes: number;
  /** Nothing is in flight, and the last pull ended because one message did not fit it. */
  readonly oversized: boolean;
}

/** Pulls kept open ahead of need: one is being filled, one waits. */
const ahead = 2;

/** The next pull request to send, or null while there is no room worth asking for (FW-RUN-08, FW-RUN-34). */
export function planPull(room: PullRoom): PullPlan | null {
  if (room.oversized && room.openMessages === 0) return { messages: 1, bytes: null };
  const freeMessages = room.messages - room.openMessages;
  const freeBytes = room.bytes - room.openBytes;
  const messages = Math.min(room.batchSize, freeMessages);
  if (messages < 1 || freeBytes < room.minimumBytes) return null;
  if (room.openMessages > (ahead - 1) * room.batchSize) return null;
  // A crumb of room is not asked for while a pull is open: it would cost a request for a few messages.
  if (room.openMessages > 0 && messages < room.batchSize / 2) return null;
  return { messages, bytes: Math.min(freeBytes, Math.max(room.minimumBytes, room.batchMaxBytes)) };
}
