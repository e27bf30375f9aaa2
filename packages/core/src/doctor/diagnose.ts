import type { Configuration } from "../config/schema.js";
import { hasPreflight } from "../connector/abilities.js";
import type { Check } from "../connector/preflight.js";
import type { Sink } from "../connector/sink.js";
import { within } from "../connector/within.js";
import { isErrorKind } from "../error/errors.js";
import { minimumPullBytes } from "../runner/pipeline-settings.js";
import { startLimit } from "../runner/sink-life.js";
import { type Answer, type Examination, openExamination } from "../source/examination.js";
import type { StreamState } from "../source/stream-audit.js";
import { consumerCheck, deadlineCheck, driftCheck, windowCheck } from "./consumer-checks.js";
import { deadLetterCheck, deadLetterFilterCheck, deadLetterSizeCheck, deadLetterStreamCheck } from "./dead-letter-checks.js";
import { failed, passed, skipped, warned } from "./finding.js";
import { ledgerChecks } from "./ledger-check.js";
import { advisoryChecks, permissionChecks } from "./permission-checks.js";
import { streamCheck, subjectCheck } from "./stream-checks.js";

/** What is to be examined. */
export interface DiagnoseRequest {
  /** A validated configuration whose secrets are resolved. */
  readonly configuration: Configuration;
  /** Made and not started. */
  readonly sink: Sink;
}

/**
 * Examines server, stream, consumer, dead letters, rights and destination of a pipeline, in this order (FW-CLI-06). Changes
 * nothing and stores nothing. Whatever is wrong is a check that says what to do.
 */
export async function diagnose({ configuration, sink }: DiagnoseRequest): Promise<readonly Check[]> {
  return [...(await serverChecks(configuration)), ...(await sinkChecks(sink, configuration))];
}

async function serverChecks(configuration: Configuration): Promise<readonly Check[]> {
  let examination: Examination;
  try {
    examination = await openExamination(configuration);
  } catch (error) {
    if (!isErrorKind(error, "SinksError")) throw error;
    return [
      failed("nats.connection", error.message, "start the server, or correct the nats section"),
      skipped("stream", "there is no connection"),
    ];
  }
  try {
    return await checksOf(configuration, examination);
  } finally {
    await examination[Symbol.asyncDispose]();
  }
}

async function checksOf(configuration: Configuration, examination: Examination): Promise<readonly Check[]> {
  const { features, maxPayload } = examination;
  const stream = await examination.stream();
  const consumer = await examination.consumer();
  return [
    connectionCheck(examination),
    flightCheck(configuration, maxPayload),
    streamCheck(configuration, stream),
    subjectCheck(configuration, stream),
    consumerCheck(configuration, consumer),
    driftCheck(configuration, features, consumer),
    deadlineCheck(configuration, consumer),
    windowCheck(configuration, consumer),
    ...ledgerChecks(configuration, stream, consumer),
    ...(await deadLetterChecks(configuration, examination, stream)),
    ...(await permissionChecks(configuration, examination, consumer.kind === "answer")),
    ...(await advisoryChecks(configuration, examination, consumer)),
  ];
}

function connectionCheck({ features }: Examination): Check {
  const id = "nats.connection";
  return features.current
    ? passed(id, `connected to a server of version ${features.version}`)
    : warned(id, `server ${features.version} is older than 2.10: consumer creation and TERM are limited`, "upgrade the server");
}

function flightCheck({ delivery }: Configuration, maxPayload: number): Check {
  const id = "delivery.max_bytes_in_flight";
  const least = minimumPullBytes(maxPayload);
  return delivery.max_bytes_in_flight >= least
    ? passed(id, `room for ${delivery.max_bytes_in_flight} bytes; the server's largest message needs ${least}`)
    : failed(
        id,
        `room for ${delivery.max_bytes_in_flight} bytes is too little for the server's largest message, ${least}`,
        "raise it, or lower max_payload",
      );
}

async function deadLetterChecks(
  configuration: Configuration,
  examination: Examination,
  source: Answer<StreamState>,
): Promise<readonly Check[]> {
  const first = deadLetterCheck(configuration);
  const { enabled, subject } = configuration.dead_letter;
  if (!enabled || subject === null) return [first];
  const name = await examination.deadLetterStreamOf(subject);
  const stream: Answer<StreamState> = name.kind === "answer" ? await examination.deadLetterStream(name.value) : { kind: "missing" };
  return [
    first,
    deadLetterStreamCheck(configuration, name, stream),
    deadLetterFilterCheck(configuration),
    deadLetterSizeCheck(configuration, source, stream, examination.maxPayload),
  ];
}

/** The destination's own checks, under the name `sink`, for as long as a start may take. */
async function sinkChecks(sink: Sink, configuration: Configuration): Promise<readonly Check[]> {
  const id = "sink";
  if (!hasPreflight(sink))
    return [skipped(id, `connector "${configuration.sink.type}" has no checks of its own`, "try it out: sinks test-sink")];
  try {
    const checks = await within(startLimit(configuration), (signal) => sink.preflight(signal, "inspection"));
    return checks.map((check) => ({ ...check, id: `${id}.${check.id}` }));
  } catch (error) {
    const reason = isErrorKind(error, "SinksError") ? error.message : "an unexpected error";
    return [failed(id, `the destination cannot be asked: ${reason}`, "make it reachable, or correct the sink section")];
  }
}
