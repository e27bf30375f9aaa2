import { isErrorKind, NotAttemptedError, type SinkError, type WriteContext, type WriteOutcome } from "@sinks/core";
import type { Sessions } from "../connection/session.js";
import { BatchOutcomes } from "./batch-outcomes.js";
import { Conversation } from "./conversation.js";
import { executeUnit } from "./execute-unit.js";
import { reportFailure } from "./execution-reports.js";
import type { ExecutionPorts, ExecutionSettings } from "./execution-settings.js";
import type { MessageWrites } from "./segment.js";
import { transactionUnits } from "./transaction-units.js";

/**
 * Writes the messages of a batch, `messages[i].index` being `i`, and answers one outcome for each. A message's writes are
 * applied together or not at all, in payload order. Throws only what borrowing a connection throws as configuration.
 */
export async function executeBatch(
  sessions: Sessions,
  messages: readonly MessageWrites[],
  context: WriteContext,
  settings: ExecutionSettings,
  ports: ExecutionPorts,
): Promise<readonly WriteOutcome[]> {
  const { ordered, lanes, onPoison, signal } = context;
  const outcomes = new BatchOutcomes(messages.length, { afterFailure: settings.afterFailure, ordered, lanes, onPoison });
  const going = admit(messages, outcomes, settings.ledger !== null);
  if (going.length > 0) {
    let lent = false;
    const work = sessions.use(signal, async (session) => {
      lent = true;
      const conversation = new Conversation(session);
      for (const unit of transactionUnits(going, settings.transaction)) {
        const able = unit.filter((message) => outcomes.mayGo(message));
        const end = able.length === 0 ? null : await executeUnit({ conversation, outcomes, settings, ports, signal }, able);
        if (end !== null) break;
      }
      await conversation.end();
    });
    try {
      await work;
    } catch (error) {
      if (lent || !isErrorKind(error, "SinkError")) throw error;
      outcomes.failed(going, error as unknown as SinkError);
    }
  }
  const result = outcomes.close(notAttempted);
  reportFailure(ports.telemetry, messages, result, settings.logDriverMessages);
  return result;
}

/**
 * Settles what needs no sending, in order; the messages that may be sent. A message that asks for nothing still leaves its record in a
 * ledger, so that `verify` finds it.
 */
function admit(messages: readonly MessageWrites[], outcomes: BatchOutcomes, recorded: boolean): readonly MessageWrites[] {
  const going: MessageWrites[] = [];
  for (const message of messages) {
    if (!outcomes.mayGo(message)) continue;
    if (message.refused !== null) outcomes.failed([message], message.refused);
    else if (message.writes.length === 0 && !recorded) outcomes.applied([message]);
    else going.push(message);
  }
  return going;
}

function notAttempted(): SinkError {
  return new NotAttemptedError("the message was not sent: one before it failed");
}
