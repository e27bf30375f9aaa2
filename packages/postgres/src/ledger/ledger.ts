import type { SessionFailure } from "../connection/session.js";
import type { Conversation } from "../execute/conversation.js";
import type { MessageWrites } from "../execute/segment.js";
import type { Query } from "../render/built-write.js";
import { textArray } from "../value/text-array.js";

/** The ledger of one pipeline (FW-LED-01). */
export interface Ledger {
  /** Name of the pipeline in the ledger. */
  readonly pipeline: string;
  /** Name of its table, quoted. */
  readonly table: string;
}

/** What became of a claim. */
export interface Claim {
  /** The messages that had no record yet and have one now, if the transaction commits. The others are applied. */
  readonly fresh: readonly MessageWrites[];
  readonly failure: SessionFailure | null;
}

/**
 * Records the messages in the open transaction, in the order of their keys, so that two runners that hold the same messages
 * wait for one another and never cross (FW-LED-02). A record that is there already says that its message is applied.
 */
export async function claimMessages(
  conversation: Conversation,
  ledger: Ledger,
  before: readonly Query[],
  messages: readonly MessageWrites[],
): Promise<Claim> {
  const keys = messages.map(keyOf).sort();
  const { done, failure } = await conversation.send([...before, claimQuery(ledger, keys)]);
  if (failure !== null) return { fresh: [], failure };
  const rows = done.at(-1)?.rows ?? [];
  if (rows.length === messages.length) return { fresh: messages, failure: null };
  const claimed = new Set(rows.map(([key]) => key));
  return { fresh: messages.filter((message) => claimed.delete(keyOf(message))), failure: null };
}

/** Keys are ASCII, so that their order is the same everywhere. */
function keyOf({ key }: MessageWrites): string {
  if (key === null) throw new TypeError("the ledger needs the key of every message");
  return key;
}

function claimQuery({ pipeline, table }: Ledger, keys: readonly string[]): Query {
  return {
    text: `INSERT INTO ${table} ("pipeline", "key") SELECT $1, unnest($2::text[]) ON CONFLICT DO NOTHING RETURNING "key"`,
    values: [pipeline, textArray(keys)],
    prepare: true,
  };
}
