import { importBuilt, importFrom } from "../built.mjs";

/** The tables of the comparisons, the same one for every arm; the product's own DDL makes the one of whole messages. */
const tables = {
  envelope: { name: "sinks_messages", ddl: null },
  fields: { name: "orders", ddl: 'CREATE TABLE orders ("order" bigint PRIMARY KEY, customer text NOT NULL, amount_cents bigint NOT NULL)' },
};

/** A connection that prepares the tables and checks them after each run. */
export async function openDatabase(url) {
  const { default: pg } = await importFrom("packages/postgres", "pg");
  const { postgres } = await importBuilt("packages/postgres/dist/index.js");
  const services = { telemetry: null, nowNs: () => 0n, workingDirectory: "." };
  const envelopeDdl = postgres.create(postgres.options.parse({ url }), services).ddl().join(";");
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const version = (await client.query("SHOW server_version")).rows[0].server_version.split(" ")[0];
  return {
    url,
    version,
    /** A fresh, empty table for one run. */
    async prepare(write) {
      const { name, ddl } = tables[write];
      await client.query(`DROP TABLE IF EXISTS ${name}, sinks_ledger`);
      await client.query(ddl ?? envelopeDdl);
      // What the last run left to be written must not be paid for by the next one.
      await client.query("CHECKPOINT");
    },
    /** Throws unless every message of a run has its row. */
    async check(write, count) {
      const { name } = tables[write];
      const { rows } = await client.query(`SELECT count(*)::int AS count FROM ${name}`);
      if (rows[0].count !== count) throw new Error(`the table ${name} holds ${rows[0].count} rows instead of ${count}`);
    },
    [Symbol.asyncDispose]: () => client.end(),
  };
}
