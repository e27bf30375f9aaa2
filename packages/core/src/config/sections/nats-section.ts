import { z } from "zod";
import { secretMarks, secretOption, secretText, variableName } from "../../option/secret.js";
import { amount, headerName, integer, path, plainText } from "../scalar.js";
import { starterMark } from "../starter-mark.js";
import { entityName, literalSubject, subjectPattern } from "../subject-schema.js";

const transports = new Set(["nats:", "tls:", "ws:", "wss:"]);

function serverUrlFault(text: string): string | null {
  if (!URL.canParse(text)) return "must be a URL such as nats://host:4222";
  const url = new URL(text);
  if (!transports.has(url.protocol)) return "must begin with nats://, tls://, ws:// or wss://";
  if (url.hostname === "") return "must name a host";
  if (url.username !== "" || url.password !== "")
    return "must not hold a user name or password; use nats.user, nats.token or their _env keys";
  return null;
}

const serverUrl = z
  .string()
  .max(2048)
  .superRefine((text, context) => {
    const fault = serverUrlFault(text);
    if (fault !== null) context.addIssue({ code: "custom", message: fault });
  });

/** `nats`: the server, the stream and the identity of this pipeline (FW-CFG-07). */
export const natsSection = z
  .strictObject({
    url: serverUrl
      .default("nats://localhost:4222")
      .describe("Address of the server: `nats`, `tls`, `ws` or `wss`, without user information.")
      .meta({ [starterMark]: "nats://localhost:4222" }),
    urls: z.array(serverUrl).max(64).default([]).describe("Addresses of several servers of one cluster; replaces `url` when not empty."),
    stream: entityName()
      .describe("Stream that is read.")
      .meta({ examples: ["EVENTS"] }),
    consumer: entityName()
      .describe("Consumer of the stream that this pipeline uses.")
      .meta({ examples: ["sink"] }),
    subject: subjectPattern()
      .describe("Subjects that this pipeline takes from the stream; wildcards are allowed.")
      .meta({ examples: ["events.>"] }),
    durable: z.boolean().default(true).describe("Keep the consumer on the server when this process is gone."),
    name: plainText(256).nullable().default(null).describe("Name of the connection in the server's monitoring."),
    no_echo: z.boolean().default(false).describe("Ask the server not to deliver what this connection publishes itself."),
    domain: plainText(255).nullable().default(null).describe("JetStream domain; excludes `api_prefix`."),
    api_prefix: literalSubject().nullable().default(null).describe("Prefix of the JetStream API subjects; excludes `domain`."),
    inbox_prefix: literalSubject().default("_INBOX").describe("Prefix of the reply subjects of this connection."),
    tls_first: z.boolean().default(false).describe("Begin TLS before the server's greeting."),
    user: plainText(1024).nullable().default(null).describe("User name; needs a password."),
    ...secretOption("password", "Password of `user`."),
    ...secretOption("token", "Token that authenticates the connection."),
    creds_file: path().nullable().default(null).describe("Credentials file (JWT and seed)."),
    nkey_seed_file: path().nullable().default(null).describe("File that holds an NKey seed."),
    tls_ca_file: path().nullable().default(null).describe("PEM file of the authorities that may sign the server's certificate."),
    tls_cert_file: path().nullable().default(null).describe("PEM file of the client certificate; needs `tls_key_file`."),
    tls_key_file: path().nullable().default(null).describe("PEM file of the client key; needs `tls_cert_file`."),
    tls_verify: z.boolean().default(true).describe("Verify the server's certificate and host name."),
    websocket_headers: z
      .record(headerName(), secretText)
      .prefault({})
      .describe(
        "Headers of the WebSocket handshake, up to 32; values up to 2048 characters. Names that carry secrets belong in `websocket_headers_env`.",
      )
      .meta({ [secretMarks.headers]: true }),
    websocket_headers_env: z
      .record(headerName(), variableName)
      .default({})
      .describe("Headers of the WebSocket handshake whose values stand in the named environment variables."),
    connect_timeout_seconds: amount(1, 300).default(2).describe("Time that one attempt to connect may take."),
    reconnect_time_wait_seconds: amount(0, 3600).default(2).describe("Pause between attempts to reconnect to one server."),
    allow_reconnect: z.boolean().default(true).describe("Reconnect when the connection is lost."),
    max_reconnect_attempts: integer(-1, 1_000_000).default(-1).describe("Attempts to reconnect to one server; -1 never gives up."),
    ping_interval_seconds: amount(1, 3600).default(120).describe("Time between pings of the client."),
    max_outstanding_pings: integer(1, 100).default(2).describe("Unanswered pings after which the connection counts as lost."),
    pending_size_bytes: integer(1024, 1_073_741_824).default(2_097_152).describe("Kept for compatibility, without effect."),
    drain_timeout_seconds: amount(1, 3600)
      .default(30)
      .describe("Kept for compatibility, without effect: the times of `delivery` bound the stop."),
  })
  .describe("The NATS server, the stream and the identity of this pipeline.");
