import type { Configuration } from "../config/schema.js";
import { ConfigurationError, SinksError } from "../error/errors.js";
import type { Link } from "../source/link.js";
import { LoginRights, pullSubject, settlementSubjects } from "../source/login-rights.js";
import { pause } from "../source/pause.js";

const answerLimitMs = 5000;

/**
 * The login may ask for messages and acknowledge them; else nothing would come, or everything would come again for ever
 * (FW-RUN-02). A `ConfigurationError` names the subject to allow. A server that does not answer is for the caller to wait for.
 */
export async function checkRights({ nats }: Configuration, { connection }: Pick<Link, "connection">): Promise<void> {
  const rights = new LoginRights(connection, nats);
  const ended = new AbortController();
  try {
    const asked = Promise.all([rights.mayPull(), rights.maySettle()]);
    const granted = await Promise.race([asked, pause(answerLimitMs, ended.signal).then(() => null)]);
    // Whatever the server says now comes too late.
    asked.catch(() => undefined);
    if (granted === null) throw new SinksError("nats: the server does not answer; try again", { code: "connection_failed" });
    const [pull, settle] = granted;
    if (!pull) throw refused("ask for messages", pullSubject(nats));
    if (!settle) throw refused("acknowledge messages, which would come again for ever", settlementSubjects(nats));
  } finally {
    ended.abort();
    rights[Symbol.dispose]();
  }
}

function refused(what: string, subject: string): ConfigurationError {
  return new ConfigurationError(`nats: the login may not ${what}; allow publishing to ${subject}`, { code: "credentials_refused" });
}
