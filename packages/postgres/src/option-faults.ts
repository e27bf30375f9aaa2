import { isSecret } from "@sinks/core";
import { z } from "zod";
import { parseConnectionUrl } from "./connection/connection-url.js";
import { tableParts } from "./payload/identifier.js";

type Given = Readonly<Record<string, unknown>>;

/** Something wrong with options that are each right by themselves. */
interface OptionFault {
  readonly path: readonly (string | number)[];
  readonly message: string;
}

/** Options that say how whole messages are stored. */
const envelopeKeys = ["table", "table_by", "auto_create", "payload_type", "payload_mode", "include_metadata", "on_duplicate"] as const;

const given = (value: unknown) => value !== undefined && value !== null;

/**
 * The check of options that belong together: address, TLS, whole messages and write map. All faults are reported together.
 * `defaults` are the values of options that are not set.
 */
export function optionFaults(defaults: Given): z.core.$ZodCheck<Given> {
  return z.superRefine<Given>((options, context) => {
    const faults = [
      ...addressFaults(options),
      ...urlFaults(options),
      ...tlsFaults(options),
      ...ledgerFaults(options),
      ...modeFaults(options, defaults),
    ];
    for (const { path, message } of faults) context.addIssue({ code: "custom", path: [...path], message });
  });
}

/** The options of whole messages that are set. */
export function givenEnvelopeKeys(options: Given, defaults: Given): readonly string[] {
  return envelopeKeys.filter((name) => options[name] !== defaults[name]);
}

function addressFaults(options: Given): OptionFault[] {
  const byUrl = given(options["url"]) || given(options["url_env"]);
  const others = ["host", "port", "database", "user", "password", "password_env"].filter((name) => given(options[name]));
  if (byUrl) return others.map((name) => ({ path: [name], message: "is part of `url`; use one of the two" }));
  const missing = ["host", "user"].filter((name) => !given(options[name]));
  if (missing.length === 2 && others.every((name) => name === "port"))
    return [{ path: ["url_env"], message: "is needed: the address, as `url`, `url_env`, or `host` and `user`" }];
  return missing.map((name) => ({ path: [name], message: "is needed, or the whole address as `url` or `url_env`" }));
}

/** What is wrong with an address that stands in the file itself; one of the environment is read at start. */
function urlFaults({ url }: Given): OptionFault[] {
  if (!isSecret(url)) return [];
  try {
    parseConnectionUrl(url);
    return [];
  } catch (error) {
    return [{ path: ["url"], message: error instanceof Error ? error.message.replace(/^sink\.url: /, "") : "cannot be read" }];
  }
}

function ledgerFaults({ ledger, table, write }: Given): OptionFault[] {
  const { enabled, table: own } = ledger as Given;
  const tables = write === undefined ? [table] : (write as readonly Given[]).map((rule) => rule["table"]);
  return enabled === true && tables.includes(own)
    ? [{ path: ["ledger", "table"], message: "is a table that messages are written to; the ledger needs one of its own" }]
    : [];
}

function tlsFaults({ tls }: Given): OptionFault[] {
  const { mode, ca_file: ca, cert_file: certificate, key_file: key, server_name: name } = tls as Given;
  const fault = (key: string, message: string): OptionFault[] => [{ path: ["tls", key], message }];
  return [
    ...(given(certificate) !== given(key)
      ? fault(given(key) ? "cert_file" : "key_file", "goes with the other of cert_file and key_file")
      : []),
    // Any certificate that a public authority signed would do, whoever shows it.
    ...(mode === "verify_ca" && !given(ca) ? fault("ca_file", "is needed with mode verify_ca") : []),
    ...(mode !== "verify_full" && given(name) ? fault("server_name", "is looked at only with mode verify_full") : []),
  ];
}

function modeFaults(options: Given, defaults: Given): OptionFault[] {
  const { table_by: choice, write } = options;
  if (write === undefined) {
    const allowed = given(choice) ? ((choice as { allow: readonly string[] }).allow ?? []) : [];
    return allowed.flatMap((name, index) =>
      tableParts(name, false) === null
        ? [{ path: ["table_by", "allow", index], message: "must be a plain name of up to 63 characters" }]
        : [],
    );
  }
  return givenEnvelopeKeys(options, defaults).map((name) => ({
    path: [name],
    message: "is for whole messages; it has no meaning with `write`",
  }));
}
