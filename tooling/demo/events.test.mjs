import { expect, test } from "vitest";
import { eventAt, poison } from "./events.mjs";

test("events are the same in every run, each with its own id, and of every kind", () => {
  const events = Array.from({ length: 500 }, (_, index) => eventAt(index));
  expect(events).toEqual(Array.from({ length: 500 }, (_, index) => eventAt(index)));
  expect(new Set(events.map(({ headers }) => headers["Nats-Msg-Id"])).size).toBe(500);
  const kinds = new Set(events.map(({ subject }) => subject.split(".")[1]));
  expect([...kinds].sort()).toEqual(["images", "logs", "orders", "signals"]);
  expect(events.some(({ body }) => body.length === 0)).toBe(true);
});

test("the poison message differs from every other by its control character", () => {
  expect(poison().headers["Nats-Sinks-Priority"]).toMatch(/\p{Cc}/u);
});
