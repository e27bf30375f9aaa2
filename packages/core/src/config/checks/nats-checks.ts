import { fault, pathText } from "../faults.js";
import { isSecretHeader } from "../secret-header.js";
import { crossCheck } from "./cross-check.js";

const protocolHeaders = new Set([
  "host",
  "connection",
  "upgrade",
  "origin",
  "content-length",
  "content-type",
  "content-encoding",
  "transfer-encoding",
  "te",
  "trailer",
  "expect",
  "keep-alive",
]);

function isWeb(url: string): boolean {
  return /^wss?:/i.test(url);
}

function isProtocolHeader(name: string): boolean {
  const lower = name.toLowerCase();
  return protocolHeaders.has(lower) || lower.startsWith("sec-") || lower.startsWith("proxy-connection");
}

const servers = crossCheck(["nats"], ({ nats }) => [
  nats.urls.some(isWeb) &&
    !nats.urls.every(isWeb) &&
    fault("nats.urls", "must not mix ws and wss with nats and tls", "keep servers of one kind"),
  nats.domain !== null && nats.api_prefix !== null && fault("nats.api_prefix", "must not stand beside nats.domain", "keep one of the two"),
]);

const authentication = crossCheck(["nats"], ({ nats }) => {
  const password = nats.password !== null || nats.password_env !== null;
  const methods = [
    (nats.user !== null || password) && "user with password",
    (nats.token !== null || nats.token_env !== null) && "token",
    nats.creds_file !== null && "creds_file",
    nats.nkey_seed_file !== null && "nkey_seed_file",
  ].filter((method) => method !== false);
  return [
    methods.length > 1 && fault("nats", `must have one way to authenticate, not ${methods.join(", ")}`, "keep one of them"),
    nats.user !== null && !password && fault("nats.user", "needs a password", "set nats.password_env"),
    nats.user === null && password && fault("nats.password", "needs nats.user", "set nats.user, or use nats.token_env"),
  ];
});

const certificates = crossCheck(["nats"], ({ nats }) => [
  nats.tls_cert_file !== null && nats.tls_key_file === null && fault("nats.tls_cert_file", "needs nats.tls_key_file", "set both or none"),
  nats.tls_cert_file === null && nats.tls_key_file !== null && fault("nats.tls_key_file", "needs nats.tls_cert_file", "set both or none"),
]);

const webHeaders = crossCheck(["nats"], ({ nats }) => {
  const inline = Object.keys(nats.websocket_headers);
  const named = Object.keys(nats.websocket_headers_env);
  const lower = new Set(inline.map((name) => name.toLowerCase()));
  const servers = nats.urls.length > 0 ? nats.urls : [nats.url];
  const at = (section: string, name: string) => pathText(["nats", section, name]);
  return [
    inline.length + named.length > 0 &&
      !servers.every(isWeb) &&
      fault("nats.websocket_headers", "needs servers with ws or wss", "remove the headers, or use wss:// addresses"),
    inline.length + named.length > 32 && fault("nats.websocket_headers", "too many entries", "keep at most 32 headers in all"),
    ...Object.entries(nats.websocket_headers).flatMap(([name, value]) => [
      /[\u0000-\u001f\u007f]/.test(value.reveal()) && fault(at("websocket_headers", name), "must not contain control characters"),
      value.reveal().length > 2048 && fault(at("websocket_headers", name), "too long", "expected text of up to 2048 characters"),
      isSecretHeader(name) &&
        fault(
          at("websocket_headers", name),
          "a header that carries a secret must not stand in the file",
          "name its variable in nats.websocket_headers_env",
        ),
    ]),
    ...[...inline.map((name) => at("websocket_headers", name)), ...named.map((name) => at("websocket_headers_env", name))].map(
      (path, index) =>
        isProtocolHeader([...inline, ...named][index] as string) && fault(path, "belongs to the protocol and cannot be set", "remove it"),
    ),
    ...named.map(
      (name) =>
        lower.has(name.toLowerCase()) &&
        fault(at("websocket_headers_env", name), "must not stand in nats.websocket_headers too", "keep one of the two"),
    ),
  ];
});

/** Rules between the keys of `nats` (FW-CFG-07). */
export const natsChecks = [servers, authentication, certificates, webHeaders];
