import { pipelineName } from "../config/pipeline-name.js";
import { resolveSecrets } from "../config/resolve-secrets.js";
import type { Configuration } from "../config/schema.js";
import type { Sink } from "../connector/sink.js";
import { ConfigurationError, isErrorKind, SinksError, TemporarySinkError } from "../error/errors.js";
import { apiFault, describeApiFault } from "../source/api-fault.js";
import { deadLetterManager } from "../source/dead-letter-port.js";
import { type Link, openLink } from "../source/link.js";
import { pause } from "../source/pause.js";
import { keepingFault, streamOfSubject } from "../source/publication.js";
import type { Telemetry } from "../telemetry/port.js";
import { backoffDelay } from "./backoff.js";
import type { Clock } from "./clock.js";
import { DestinationCheck } from "./destination-check.js";
import { minimumPullBytes } from "./pipeline-settings.js";
import { RepeatedWarning } from "./repeated-warning.js";
import { startLimit, startWithin, stopLimit, stopQuietly } from "./sink-life.js";
import { checkRights } from "./start-rights.js";

const startBackoff = { mode: "exponential", baseMs: 100, maxMs: 2000, multiplier: 2, jitter: "equal" } as const;

/** What start needs of its caller. */
export interface StartInput {
  readonly configuration: Configuration;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly telemetry: Telemetry;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/**
 * Connects and binds, again and again while the server cannot be reached, for `start_timeout_ms` (FW-RUN-32). A refused
 * login is tried once more with secrets read anew; then it is a configuration error.
 */
export async function connectAtStart(input: StartInput): Promise<{ readonly link: Link; readonly configuration: Configuration }> {
  let configuration = resolveSecrets(input.configuration, input.environment);
  let refused = false;
  const link = await untilReachable(input, async () => {
    try {
      return await openUsableLink(configuration);
    } catch (error) {
      if (!isErrorKind(error, "CredentialsError")) throw error;
      if (refused) throw new ConfigurationError(error.message, { code: "credentials_refused", cause: error });
      refused = true;
      configuration = resolveSecrets(input.configuration, input.environment);
      throw error;
    }
  });
  return { link, configuration };
}

async function openUsableLink(configuration: Configuration): Promise<Link> {
  const link = await openLink(configuration);
  try {
    await checkRights(configuration, link);
    return link;
  } catch (error) {
    await link.connection.close();
    throw error;
  }
}

/** Asks the sink for its checks and starts it by the same rule: outages are waited for, a refused login is a configuration error. */
export async function startSink(input: StartInput, createSink: () => Sink, name: string): Promise<Sink> {
  let refused = false;
  const destination = new DestinationCheck(input.telemetry);
  const limitMs = startLimit(input.configuration);
  return untilReachable(input, async () => {
    const sink = createSink();
    try {
      const context = { name, pipeline: pipelineName(input.configuration, name), telemetry: input.telemetry, signal: input.signal };
      await startWithin(sink, context, limitMs, (signal) => destination.ask(sink, signal));
      return sink;
    } catch (error) {
      await stopQuietly(sink, input.telemetry, stopLimit(input.configuration));
      if (!isErrorKind(error, "CredentialsError")) throw namedAfter(name, error);
      if (refused) throw new ConfigurationError(`sink ${name}: ${error.message}`, { code: "credentials_refused", cause: error });
      refused = true;
      throw error;
    }
  });
}

/** An error that is not of the family says nothing of its place; one of the family already speaks for itself. */
function namedAfter(sink: string, error: unknown): unknown {
  if (isErrorKind(error, "SinksError")) return error;
  const kind = error instanceof Error ? error.name : typeof error;
  return new TemporarySinkError(`sink ${sink}: it does not start (${kind})`, { code: "unexpected", cause: error });
}

/** Checks that need no writes (FW-RUN-02, FW-CLI-06): what fails stops start, what cannot be asked warns. */
export async function preflight(configuration: Configuration, link: Link, telemetry: Telemetry): Promise<void> {
  const { delivery, dead_letter: deadLetter } = configuration;
  for (const warning of link.bound.warnings) telemetry.log("warn", warning);
  if (!deadLetter.enabled && deadLetter.when_disabled === "discard")
    telemetry.log("warn", "dead_letter.when_disabled is discard: messages that can never be stored are dropped");
  const least = minimumPullBytes(link.maxPayload);
  if (delivery.max_bytes_in_flight < least) {
    throw new ConfigurationError(
      `delivery.max_bytes_in_flight: must be at least ${least}, the server's max_payload and 64 KiB; raise it or lower max_payload`,
    );
  }
  warnOfWindow(configuration, link, telemetry);
  if (delivery.ordering !== "none" && link.group === null) {
    telemetry.log("warn", "this consumer cannot pin one client: run one instance only, or the order is lost", {
      ordering: delivery.ordering,
    });
  }
  if (deadLetter.enabled && deadLetter.subject !== null) await checkDeadLetterStream(configuration, deadLetter.subject, link, telemetry);
}

function warnOfWindow(configuration: Configuration, link: Link, telemetry: Telemetry): void {
  const window = link.bound.consumer.config.max_ack_pending ?? 0;
  const wanted = configuration.delivery.max_messages_in_flight;
  if (window > 0 && window < wanted) {
    telemetry.log("warn", "the consumer's max_ack_pending is below max_messages_in_flight; the flight is clamped", {
      max_ack_pending: window,
      wanted,
    });
  }
}

async function checkDeadLetterStream(configuration: Configuration, subject: string, link: Link, telemetry: Telemetry): Promise<void> {
  const expected = configuration.dead_letter.stream;
  const manager = await deadLetterManager(configuration, link);
  let found: string | null;
  try {
    found = await streamOfSubject(manager, subject);
  } catch (error) {
    telemetry.log("warn", "cannot check the dead letter stream", { error: describeApiFault(error) });
    return;
  }
  if (found === null) {
    throw new ConfigurationError(`dead_letter.subject: no stream captures "${subject}"; create a stream for it`, {
      code: "stream_missing",
    });
  }
  if (expected !== null && found !== expected) {
    throw new ConfigurationError(
      `dead_letter.stream: "${subject}" is captured by stream "${found}", not "${expected}"; correct one of the two`,
    );
  }
  const fault = await keepingFault(manager, found);
  if (fault !== null) throw new ConfigurationError(`dead_letter.subject: stream "${found}" ${fault}`);
}

/** Repeats what fails for want of an answer, until `start_timeout_ms` is over; anything else is thrown at once. */
export async function untilReachable<Result>(input: StartInput, attempt: () => Promise<Result>): Promise<Result> {
  const until = input.clock.now() + input.configuration.delivery.start_timeout_ms;
  const warning = new RepeatedWarning();
  for (let failures = 1; ; failures += 1) {
    try {
      return await attempt();
    } catch (error) {
      if (!isWorthWaiting(error)) throw error;
      const wait = backoffDelay(startBackoff, failures, input.clock.random);
      const now = input.clock.now();
      if (input.signal.aborted || now + wait >= until) throw asUnreachable(error);
      const reason = reasonOf(error);
      if (warning.isDue(reason, now))
        input.telemetry.log("warn", "not ready yet", { reason, seconds_left: Math.round((until - now) / 1000) });
      await pause(wait, input.signal);
      if (input.signal.aborted) throw asUnreachable(error);
    }
  }
}

function isWorthWaiting(error: unknown): boolean {
  if (isErrorKind(error, "ConfigurationError")) return false;
  if (isErrorKind(error, "SinksError")) return error.code === "connection_failed" || isErrorKind(error, "TemporarySinkError");
  return apiFault(error) === "transient";
}

function asUnreachable(error: unknown): SinksError {
  if (isErrorKind(error, "SinksError")) return error;
  return new SinksError(
    `nats: JetStream does not answer (${describeApiFault(error)}); start the server with JetStream, or correct nats.domain`,
    { code: "connection_failed", cause: error },
  );
}

function reasonOf(error: unknown): string {
  return isErrorKind(error, "SinksError") ? error.message : describeApiFault(error);
}
