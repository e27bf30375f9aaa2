import type { Command } from "commander";

/** What the reference says of a command besides its help. */
const notes: Readonly<Record<string, string>> = {
  run: `Starts the pipeline and moves messages until it is told to stop. The first SIGINT or SIGTERM drains: no new message is asked for,
everything received is written and settled, then the command ends with 0. A second one ends it at once with 130 or 143. It leaves at the latest
\`delivery.shutdown_timeout_ms\` + \`delivery.abort_grace_ms\` + 1 s after the first signal. SIGHUP ends a pause that waits for an operator, after
what was broken is repaired.

With \`--once\` the last sequence of the stream at start is the goal: the command ends with 0 when everything up to it is delivered and settled, and
with 1, naming the reason, when a message is held, the consumer goes missing, \`--timeout\` has passed, or a signal stops it before.

On a terminal one line shows the progress. Otherwise a log line says the same every \`logging.progress_interval_seconds\`. With \`metrics.listen\`
health and metrics are served at \`/livez\`, \`/readyz\` and \`/metrics\`, with \`metrics.snapshot_file\` they are written to a file
([operations](../guides/operations.md)); whether either works does not touch delivery.

Result, printed when the run ends:

\`\`\`json
{ "received": 5000, "stored": 4999, "dead_lettered": 1, "retried": 0, "held": 0, "seconds": 2.314 }
\`\`\`

With \`logging.format: json\` it is this document on one line also as text.

With \`--dry-run\` nothing is started and no connection is made; everything a start would refuse without asking a server is refused. The result is
the plan:

\`\`\`json
{
  "source": { "servers": ["nats://localhost:4222"], "stream": "EVENTS", "consumer": "sink", "subjects": ["events.>"], "mode": "create_if_missing" },
  "sink": { "name": "file", "type": "file", "summary": "Writes each message to a file of its own, or appends it to NDJSON segments.", "options": { "directory": "./out", "…": "…" } },
  "delivery": { "ordering": "none", "ack_mode": "batch_confirmed", "batch_size": 1000, "max_in_flight_batches": 4, "max_messages_in_flight": 5000, "max_bytes_in_flight": 67108864 },
  "dead_letter": { "enabled": false, "subject": null, "when_disabled": "hold" },
  "once": false
}
\`\`\``,
  validate: `Checks the file, every section, and the options of the sink with the connector's own schema. It makes no connection and does not need the
values of secrets; a variable that is not set here is a warning. Exit code 2 when something is wrong.

\`\`\`json
{ "valid": false, "problems": [{ "path": "delivery.bach_size", "message": "unknown key", "remedy": "did you mean \\"batch_size\\"?", "code": "configuration_invalid" }], "warnings": [] }
\`\`\``,
  "config show": `Text is YAML that can be read back; JSON is the same document. Values of secrets are \`[redacted]\`, names of variables are kept.`,
  "test-sink": `Starts the sink, asks the destination whether it can take a write where the connector is able to, and stops. Writes no message and does not
connect to NATS. Exit code 3 when a step fails.

\`\`\`json
{ "sinks": [{ "name": "file", "type": "file", "status": "pass", "healthcheck": "pass", "seconds": 0.004, "problem": null }] }
\`\`\`

\`status\` is \`pass\` or \`fail\`, \`healthcheck\` is \`pass\`, \`fail\` or \`unsupported\`; \`problem\` has the shape of a problem of \`validate\`.`,
  doctor: `Connects, looks, and changes nothing; no message is taken, acknowledged or stored. Every check is printed with what it found and, where something
is wrong, what to do. Exit code 3 when a check fails; a server that cannot be reached is a check that fails.

\`\`\`json
{ "checks": [{ "id": "stream", "status": "fail", "message": "there is no stream \\"EVENTS\\"", "remedy": "create it, or correct nats.stream" }] }
\`\`\`

\`status\` is \`pass\`, \`warn\`, \`fail\` or \`skipped\`, \`remedy\` null where there is nothing to do. The checks are listed in the guide
[Verify and doctor](../guides/verify-and-doctor.md#doctor).`,
  probe: `Passes messages through the gates and has the sink build what it would send, as one batch, and sends nothing. A message made of flags counts as
the first of the stream, delivered for the first time, and needs no server; sequences are read from the stream, and nothing is taken from the consumer.
The sink connects only where it cannot build without its destination. Exit code 3 when a message would be rejected, 4 when the stream has no message
at a sequence.

\`\`\`json
{
  "messages": [{ "subject": "stock.graz", "stream_sequence": 1, "delivered": true, "problem": null, "writes": [{ "destination": "stock", "extras": { "op": "upsert", "conflict": ["sku"] }, "rendered": "INSERT INTO \\"stock\\" …", "value_count": 2, "values": null, "run": 0, "chunk": 0, "problem": null }] }],
  "runs": [{ "operation": "upsert", "destination": "stock", "chunks": [1] }],
  "retry_safety": { "answer": "safe", "reason": "every write leaves the same when it is repeated" },
  "notes": []
}
\`\`\`

| key | content |
| --- | --- |
| \`delivered\` | false when the consumer's filters leave the subject out |
| \`problem\` | \`{ "code", "message" }\` of what rejects the message, or the write, alone |
| \`writes\` | empty when the message has nothing to write |
| \`destination\` | the statement or script by its name, else the table, key or collection |
| \`extras\` | \`op\`, and \`where\`, \`conflict\` or \`filter\` where the operation has one |
| \`rendered\` | what is sent for this write alone; null for a statement or script, whose text stays in the configuration |
| \`values\` | bound values in order with \`--show-values\`, else null; those of \`where\` and \`filter\` are \`[redacted]\` |
| \`run\`, \`chunk\` | the place in \`runs\` and in the \`chunks\` of that run, from 0: writes with the same place are sent at once |
| \`retry_safety\` | whether the batch is repeated after a write whose outcome is unknown, and why |`,
  ddl: `Makes no connection and needs no secret. Statements come in the order in which they are run.

\`\`\`json
{ "type": "postgres", "statements": ["CREATE TABLE …;"] }
\`\`\``,
  verify: `Reads the consumer, the destination, the dead letters and the stream, changes nothing, and may run beside the pipeline. \`expected\` is the sum of
\`stored\`, \`dead_lettered\`, \`pending\`, \`purged\` and what is \`missing\`. Exit code 3 when anything is missing.

\`\`\`json
{ "expected": 5000, "stored": 4990, "dead_lettered": 2, "pending": 5, "purged": 0, "missing": [[17, 18], [4021, 4021]], "duplicates": [] }
\`\`\`

| key | sequences that are |
| --- | --- |
| \`stored\` | in the destination as whole records |
| \`dead_lettered\` | in the dead letters and not in the destination |
| \`pending\` | not acknowledged yet |
| \`purged\` | gone from the stream by its limits, or by hand where the stream keeps acknowledged messages, before they were stored |
| \`missing\` | none of these; ranges \`[first, last]\`, inclusive |
| \`duplicates\` | stored more than once; ranges \`[first, last]\`, inclusive |

Notes on stderr name what cannot be known and what is damaged; see the guide [Verify and doctor](../guides/verify-and-doctor.md).`,
  init: `Writes a YAML configuration with every required key and comments, ready to be edited.

\`\`\`json
{ "connector": "file", "output": "sinks.yaml" }
\`\`\`

Without \`--output\` the document has the text instead: \`{ "connector": "file", "output": null, "configuration": "…" }\`.`,
  "connectors list": `Built-in connectors are listed whether or not their package is installed; \`planned\` ones are not part of this release.

\`\`\`json
[{ "name": "file", "package": "@sinks/file", "version": "1.0.0", "installed": true, "built_in": true, "planned": false }]
\`\`\``,
  "connectors show": `Imports the connector's package and describes it. For a built-in connector that is not installed it names the package to add. Exit code 4
when no connector has this name.`,
  schema: `The output is JSON Schema in either format. Give it to an editor for completion and checks while you type.`,
  "dlq list": `Reads the stream that takes \`dead_letter.subject\`. Entries of one message and sink are shown once, as the first of them.

\`\`\`json
[{ "sequence": 12, "stream": "EVENTS", "stream_sequence": 500, "subject": "events.bad", "error_code": "payload_not_json", "error_type": "SerializationError", "sink": "file", "time": "2026-01-31T10:00:00.123456789Z", "done": false }]
\`\`\`

\`sequence\` is that of the dead-letter stream. The next page starts at the last sequence + 1.`,
  "dlq replay": `Rebuilds each message and writes it to the sink under its original key, unless the sink says that it has it. With \`--publish\` it is published
on its original subject instead, as a new message that the pipeline reads like any other. Either way a marker on \`<dead_letter.subject>.done\`, which
the dead-letter stream must take, says afterwards that it is done: what is done is left alone, so a replay may be repeated after any failure.

\`--all\` and \`--where\` mean the dead letters of this stream, consumer and sink that are there when the replay begins. The fields of \`--where\` are
\`stream\`, \`consumer\`, \`sink\`, \`stream_sequence\`, \`subject\`, \`error_code\`, \`error_type\`, \`destination_code\`, \`message_id\`, \`priority\`,
\`classification\` and \`delivery_count\`. A body or headers that an entry lacks are read from the original stream.

\`\`\`json
{ "mode": "write", "dry_run": false, "complete": true, "entries": [{ "sequence": 12, "stream": "EVENTS", "stream_sequence": 500, "subject": "events.bad", "result": "written", "error_code": null, "error": null }] }
\`\`\`

| result | meaning |
| --- | --- |
| \`written\`, \`published\` | put back and marked |
| \`already_stored\`, \`already_published\` | it had been put back before; marked |
| \`already_done\` | marked before |
| \`would_write\`, \`would_publish\` | with \`--dry-run\` |
| \`unavailable\` | its body or headers cannot be had any more: exit code 4 |
| \`not_found\` | no dead letter at this sequence: exit code 4 |
| \`failed\` | not put back, for the reason in \`error\`: exit code 1 |

\`complete\` is false when the rest was not tried, because it would have failed in the same way: the destination is away, for example.`,
  "dlq show": `Exit code 4 when the dead-letter stream has no entry at this sequence. The JSON document has the keys of \`dlq list\` and

| key | content |
| --- | --- |
| \`error\` | the reason in words |
| \`payload\` | the body as text when it is UTF-8, otherwise as base64; null when the record has none |
| \`payload_encoding\` | \`utf-8\`, \`base64\` or null |
| \`payload_unavailable_reason\` | why there is no payload |
| \`record\` | the stored record without its payload |`,
};

const opening = `# The \`sinks\` command

In a project that has \`@sinks/cli\` among its dependencies the command is \`npx sinks\`; these pages say \`sinks\` for short.

A command that needs a configuration takes it as its first argument, by \`-c FILE\`, or from the variable \`SINKS_CONFIG\`. \`--set section.key=value\`
overrides one value and may be repeated; environment overrides are in the [configuration reference](configuration.md).

Results go to stdout, as text for people or with \`--format json\` as one JSON document of the shape given here. Logs and diagnostics go to stderr.
Neither ever holds a secret. Colour is used on a terminal only and never when \`NO_COLOR\` is set.

| exit code | meaning |
| --- | --- |
| 0 | good |
| 1 | failure at run time; a server that stays unreachable is one |
| 2 | the configuration or the command line is wrong; a configuration file that is not there is that |
| 3 | a check found a fault |
| 4 | not found |
| 130, 143 | forced by a second SIGINT or SIGTERM |

A failure is one line for each problem on stderr, \`sinks: <key>: <what is wrong>; <what to do>\`. With \`--format json\`, and for \`run\` with JSON logs,
it is one document on one line:

\`\`\`json
{ "error": { "code": "configuration_invalid", "exit_code": 2, "problems": [{ "path": "nats.stream", "message": "required key is missing", "remedy": "expected text", "code": "configuration_invalid" }] } }
\`\`\`

An internal error is one line too; \`SINKS_DEBUG=1\` adds where it happened.
`;

function leaves(command: Command, words: readonly string[] = []): readonly (readonly [string, Command])[] {
  return command.commands.flatMap((child) => {
    const path = [...words, child.name()];
    return child.commands.length > 0 ? leaves(child, path) : [[path.join(" "), child] as const];
  });
}

function helpOf(command: Command): string {
  let text = "";
  const writeOut = (part: string): void => {
    text += part;
  };
  command.configureOutput({ writeOut, getOutHelpWidth: () => 100, getOutHasColors: () => false });
  command.outputHelp();
  return text.trimEnd();
}

/** The reference of the command line, from the program itself and the notes above. */
export function commandReference(program: Command): string {
  const sections = leaves(program).map(([path, command]) => {
    const note = notes[path];
    if (note === undefined) throw new Error(`the reference has no note on \`sinks ${path}\``);
    return `## \`sinks ${path}\`\n\n\`\`\`text\n${helpOf(command)}\n\`\`\`\n\n${note}\n`;
  });
  return `${[opening, ...sections].join("\n")}`;
}
