import { expect, test } from "vitest";
import { validateConfiguration } from "../../src/config/validate.js";
import { consumerCheck } from "../../src/doctor/consumer-checks.js";
import { deadLetterStreamCheck } from "../../src/doctor/dead-letter-checks.js";
import { streamCheck } from "../../src/doctor/stream-checks.js";

const denied = { kind: "denied" } as const;

function remedies(nats: object, deadLetter: object = {}) {
  const configuration = validateConfiguration({
    nats: { url: "nats://127.0.0.1:4222", stream: "S", consumer: "c", subject: "s.>", ...nats },
    sink: { type: "recording" },
    dead_letter: { enabled: true, subject: "dead", ...deadLetter },
  });
  return [
    streamCheck(configuration, denied),
    consumerCheck(configuration, denied),
    deadLetterStreamCheck(configuration, denied, { kind: "missing" }),
    deadLetterStreamCheck(configuration, { kind: "answer", value: "D" }, denied),
  ].map(({ remedy }) => remedy);
}

test("FW-CLI-06 the rights to grant are those of the API that the pipeline uses", () => {
  const requests = ["STREAM.INFO.S", "CONSUMER.INFO.S.c", "STREAM.NAMES", "STREAM.INFO.D"];
  const plain = (prefix: string) => (request: string) => `allow publishing to ${prefix}.${request}`;
  const domain = (name: string) => (request: string) =>
    `allow publishing to $JS.${name}.API.${request} (on servers of that domain: $JS.API.${request})`;
  expect(remedies({})).toEqual(requests.map(plain("$JS.API")));
  expect(remedies({ api_prefix: "imported.API" })).toEqual(requests.map(plain("imported.API")));
  expect(remedies({ domain: "hub" })).toEqual(requests.map(domain("hub")));
  expect(remedies({}, { domain: "far" })).toEqual([...requests.slice(0, 2).map(plain("$JS.API")), ...requests.slice(2).map(domain("far"))]);
});
