import { createHash } from "node:crypto";

const encoder = new TextEncoder();
const regions = ["north", "south", "east", "west"];
const levels = ["info", "info", "info", "warning", "error"];

/** One number in [0, 2^32) for each index, the same in every run. */
function scatter(index, salt) {
  return createHash("sha256").update(`${salt}:${index}`).digest().readUInt32BE(0);
}

/** Kinds of events, each up to its percentile. */
const kinds = [
  { below: 55, make: order },
  { below: 75, make: logLine },
  { below: 90, make: image },
  { below: 100, make: signal },
];

/** The event at this index: subject, body and headers, as a mixed fleet of publishers would send them. */
export function eventAt(index) {
  const percentile = scatter(index, "kind") % 100;
  const { make } = kinds.find(({ below }) => percentile < below);
  const event = make(index);
  return { ...event, headers: { "Nats-Msg-Id": `event-${index}`, ...event.headers } };
}

/** A message that no configuration of the demo can accept: its priority holds a control character. */
export function poison() {
  return {
    subject: "events.orders.north",
    body: encoder.encode('{"order":"poison"}'),
    headers: { "Nats-Msg-Id": "event-poison", "Nats-Sinks-Priority": "high\u0007" },
  };
}

function order(index) {
  const region = regions[scatter(index, "region") % regions.length];
  const lines = Array.from({ length: 1 + (scatter(index, "lines") % 4) }, (_, line) => ({
    article: `A-${scatter(index, `article ${line}`) % 10_000}`,
    quantity: 1 + (scatter(index, `quantity ${line}`) % 9),
    price_cents: scatter(index, `price ${line}`) % 100_000,
  }));
  const body = {
    order: index,
    region,
    customer: `customer-${scatter(index, "customer") % 5_000}`,
    note: 'größer, 大きい, "quoted"',
    lines,
  };
  const headers = { "Nats-Sinks-Priority": index % 10 === 0 ? "high" : "normal", "Nats-Sinks-Labels": "orders;demo" };
  return { subject: `events.orders.${region}`, body: encoder.encode(JSON.stringify(body)), headers };
}

function logLine(index) {
  const level = levels[scatter(index, "level") % levels.length];
  const text = `${level.toUpperCase()} worker-${scatter(index, "worker") % 32}: request ${index} took ${scatter(index, "took") % 900} ms`;
  return { subject: `events.logs.${level}`, body: encoder.encode(text), headers: {} };
}

function image(index) {
  const blocks = 1 + (scatter(index, "size") % 24);
  const body = Buffer.concat(Array.from({ length: blocks }, (_, block) => createHash("sha256").update(`${index} ${block}`).digest()));
  return { subject: "events.images", body: new Uint8Array(body), headers: { "Content-Type": "application/octet-stream" } };
}

function signal(index) {
  return {
    subject: "events.signals",
    body: new Uint8Array(0),
    headers: { "X-Device": `device-${scatter(index, "device") % 400}`, "X-State": index % 2 === 0 ? "on" : "off" },
  };
}
