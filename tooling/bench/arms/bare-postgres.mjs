/**
 * What one would write by hand for PostgreSQL: one multi-row insert per batch in its fastest common form, typed arrays
 * under `unnest`, as a prepared statement, on as many connections as there are batches in flight.
 */
import { importFrom } from "../../built.mjs";
import { settings } from "./arm.mjs";
import { bareLoop } from "./bare-loop.mjs";

const { default: pg } = await importFrom("packages/postgres", "pg");
const pool = new pg.Pool({ connectionString: settings.database, max: 4 });
const decoder = new TextDecoder("utf-8", { fatal: true });

const writes = {
  /** The columns of the product's table of whole messages that these messages have a value for, idempotent. */
  envelope: {
    name: "bare-envelope",
    text:
      "INSERT INTO sinks_messages (stream, stream_created_ns, stream_sequence, subject, message_id, published_at, published_at_ns, headers, payload) " +
      "SELECT * FROM unnest($1::text[], $2::bigint[], $3::bigint[], $4::text[], $5::text[], $6::timestamptz[], $7::bigint[], $8::jsonb[], $9::jsonb[]) " +
      "ON CONFLICT (stream, stream_created_ns, stream_sequence) DO NOTHING",
    row: ({ info, subject, data, headers, timestampNanos: time }) => [
      info.stream,
      settings.streamCreatedNs,
      String(info.streamSequence),
      subject,
      headers?.get("Nats-Msg-Id") || null,
      new Date(Number(time / 1_000_000n)).toISOString(),
      String(time),
      "{}",
      decoder.decode(data),
    ],
    columns: 9,
  },
  /** Three fields of the body by the business key, the later message wins. */
  fields: {
    name: "bare-fields",
    text:
      'INSERT INTO orders ("order", customer, amount_cents) SELECT * FROM unnest($1::bigint[], $2::text[], $3::bigint[]) ' +
      'ON CONFLICT ("order") DO UPDATE SET customer = EXCLUDED.customer, amount_cents = EXCLUDED.amount_cents',
    row: ({ data }) => {
      const { order, customer, amount_cents: amount } = JSON.parse(decoder.decode(data));
      return [order, customer, amount];
    },
    columns: 3,
  },
};

const { name, text, row, columns } = writes[settings.write];

await bareLoop(async (batch) => {
  const values = Array.from({ length: columns }, () => []);
  for (const message of batch) {
    const cells = row(message);
    for (let index = 0; index < columns; index += 1) values[index].push(cells[index]);
  }
  await pool.query({ name, text, values });
});
await pool.end();
