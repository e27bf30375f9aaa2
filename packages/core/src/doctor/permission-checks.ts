import type { Configuration } from "../config/schema.js";
import type { Check } from "../connector/preflight.js";
import { apiPrefix } from "../source/connection.js";
import type { ConsumerState } from "../source/consumer.js";
import type { Answer, Examination } from "../source/examination.js";
import { pullSubject, requestSubject, settlementSubjects, updateRequest } from "../source/login-rights.js";
import { failed, passed, skipped, warned } from "./finding.js";

const unlimited = "deliveries are without limit";

/** What the login may do (FW-CLI-06); every probe is one that the server refuses or that means nothing. */
export async function permissionChecks(
  configuration: Configuration,
  examination: Examination,
  hasConsumer: boolean,
): Promise<readonly Check[]> {
  const { nats } = configuration;
  const { enabled, subject } = configuration.dead_letter;
  const checks: Check[] = [];
  if (hasConsumer) {
    const pull = await examination.mayPull();
    checks.push(permission("permission.pull", pull, "ask for messages", pullSubject(nats)));
    const settle = await examination.maySettle();
    checks.push(permission("permission.ack", settle, "acknowledge messages", settlementSubjects(nats)));
  } else checks.push(skipped("permission.pull", "there is no consumer yet"), skipped("permission.ack", "there is no consumer yet"));
  const readable = await examination.mayReadMessages();
  checks.push(
    readable
      ? passed("permission.info", "the login may read single messages of the stream")
      : warned(
          "permission.info",
          "the login may not read single messages of the stream: held messages keep their bodies in memory, and verify cannot look",
          `allow publishing to ${requestSubject(apiPrefix(nats), `STREAM.MSG.GET.${nats.stream}`)}`,
        ),
  );
  if (enabled && subject !== null)
    checks.push(permission("permission.publish", await examination.mayPublish(subject), "publish dead letters", subject));
  return checks;
}

function permission(id: string, granted: boolean, what: string, subject: string): Check {
  return granted ? passed(id, `the login may ${what}`) : failed(id, `the login may not ${what}`, `allow publishing to ${subject}`);
}

/** Messages that used up their deliveries are heard of, also those of times when nobody listened (FW-RUN-21). */
export async function advisoryChecks(
  { nats }: Configuration,
  examination: Examination,
  consumer: Answer<ConsumerState>,
): Promise<readonly Check[]> {
  const subject = `$JS.EVENT.ADVISORY.CONSUMER.MAX_DELIVERIES.${nats.stream}.${nats.consumer}`;
  const heard = await examination.maySubscribe(subject);
  const permitted = heard
    ? passed("permission.advisory", "the login may listen for messages that used up their deliveries")
    : warned(
        "permission.advisory",
        "the login may not listen for messages that used up their deliveries",
        `allow subscribing to ${subject}`,
      );
  if (consumer.kind !== "answer" || (consumer.value.config.max_deliver ?? -1) <= 0)
    return [permitted, skipped("permission.mark", unlimited), skipped("advisory.stream", unlimited)];
  const marked = await markCheck(nats, examination, consumer.value);
  const captured = await examination.isCaptured(subject);
  if (captured.kind !== "answer") return [permitted, marked, skipped("advisory.stream", "the login may not look up streams by subject")];
  const kept = captured.value
    ? passed("advisory.stream", "a stream keeps what is said of messages that used up their deliveries")
    : warned(
        "advisory.stream",
        "messages that use up their deliveries while no runner is up are found only at its next start",
        `let a stream capture ${subject}`,
      );
  return [permitted, marked, kept];
}

async function markCheck(nats: Configuration["nats"], examination: Examination, consumer: ConsumerState): Promise<Check> {
  const granted = examination.features.current && (await examination.mayUpdate(consumer));
  return granted
    ? passed("permission.mark", "the login may mark messages that used up their deliveries on the consumer")
    : warned(
        "permission.mark",
        "messages that used up their deliveries cannot be marked on the consumer: a crash may leave them behind",
        examination.features.current
          ? `allow publishing to ${requestSubject(apiPrefix(nats), updateRequest(consumer))}`
          : "use a server from 2.10",
      );
}
