import type { NatsConnection } from "@nats-io/transport-node";
import { describe, expect, test } from "vitest";
import { publishAll } from "../../src/source/publish-all.js";

/** A connection that keeps what it is asked to send; `commands` null is a client without a way for protocol text. */
class Sender {
  readonly published: [string, string][] = [];
  readonly commands: string[] = [];
  closed = false;
  draining = false;
  readonly protocol: { sendCommand?(command: string): void } | undefined;

  constructor(protocol: "with" | "without" | "other") {
    const sendCommand = (command: string): void => void this.commands.push(command);
    this.protocol = protocol === "without" ? undefined : protocol === "with" ? { sendCommand } : {};
  }

  isClosed(): boolean {
    return this.closed;
  }

  isDraining(): boolean {
    return this.draining;
  }

  publish(subject: string, body: string): void {
    if (this.closed || this.draining) throw new Error("closed connection");
    this.published.push([subject, body]);
  }

  get connection(): NatsConnection {
    return this as unknown as NatsConnection;
  }
}

describe("a batch of acks", () => {
  test("FW-RUN-23 goes out as one piece of protocol text, in order", () => {
    const sender = new Sender("with");
    publishAll(sender.connection, ["$JS.ACK.S.C.1.7.7.1.0", "$JS.ACK.S.C.1.8.8.1.0"], "+ACK");
    expect(sender.commands).toEqual(["PUB $JS.ACK.S.C.1.7.7.1.0 4\r\n+ACK\r\nPUB $JS.ACK.S.C.1.8.8.1.0 4\r\n+ACK\r\n"]);
    expect(sender.published).toEqual([]);
  });

  test.each(["without", "other"] as const)("FW-RUN-23 goes out one by one where the client is %s that way", (protocol) => {
    const sender = new Sender(protocol);
    publishAll(sender.connection, ["a", "b"], "+TERM");
    expect(sender.published).toEqual([
      ["a", "+TERM"],
      ["b", "+TERM"],
    ]);
  });

  test.each(["closed", "draining"] as const)("FW-RUN-25 on a %s connection it throws and sends nothing", (state) => {
    const sender = new Sender("with");
    sender[state] = true;
    expect(() => publishAll(sender.connection, ["a", "b"], "+ACK")).toThrow("closed connection");
    expect(sender.commands).toEqual([]);
  });

  test("FW-RUN-23 one ack and none need no text of their own", () => {
    const sender = new Sender("with");
    publishAll(sender.connection, [], "+ACK");
    publishAll(sender.connection, ["a"], "+ACK");
    expect(sender.commands).toEqual([]);
    expect(sender.published).toEqual([["a", "+ACK"]]);
  });
});
