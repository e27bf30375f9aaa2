import { describe, expect, test } from "vitest";
import { readPullStatus } from "../../src/source/pull-status.js";

describe("status of a pull", () => {
  test.each([
    [100, "Idle Heartbeat", { kind: "heartbeat" }],
    [404, "No Messages", { kind: "ended" }],
    [408, "Request Timeout", { kind: "ended" }],
    [408, "", { kind: "ended" }],
    [423, "Nats-Wrong-Pin-Id", { kind: "pin_lost" }],
    [400, "Bad Request", { kind: "refused", limit: "bad request" }],
    [409, "Message Size Exceeds MaxBytes", { kind: "too_large" }],
    [409, "message size exceeds maxbytes", { kind: "too_large" }],
    [409, "Batch Completed", { kind: "ended" }],
    [409, "Exceeded MaxRequestBatch of 10", { kind: "refused", limit: "maxrequestbatch of 10" }],
    [409, "Exceeded MaxRequestExpires of 1s", { kind: "refused", limit: "maxrequestexpires of 1s" }],
    [409, "Exceeded MaxRequestMaxBytes of 1", { kind: "refused", limit: "maxrequestmaxbytes of 1" }],
    [409, "Exceeded MaxWaiting", { kind: "refused", limit: "maxwaiting" }],
    [409, "Consumer Deleted", { kind: "doubt", reason: "consumer deleted" }],
    [409, "Consumer is push based", { kind: "doubt", reason: "consumer is push based" }],
    [409, "Leadership Change", { kind: "doubt", reason: "leadership change" }],
    [409, "Server Shutdown", { kind: "doubt", reason: "server shutdown" }],
    [409, "something new", { kind: "doubt", reason: "something new" }],
    [409, "", { kind: "doubt", reason: "" }],
    [503, "", { kind: "doubt", reason: "status 503" }],
    [999, "x", { kind: "doubt", reason: "status 999" }],
  ])("FW-RUN-08 FW-RUN-06 %i %s", (code, description, expected) => {
    expect(readPullStatus(code, description)).toEqual(expected);
  });
});
