import { JetStreamApiError } from "@nats-io/jetstream";
import { errors } from "@nats-io/transport-node";
import { describe, expect, test } from "vitest";
import { apiFault } from "../../src/source/api-fault.js";

function apiError(code: number, status: number): JetStreamApiError {
  return new JetStreamApiError({ code: status, err_code: code, description: "of the server" });
}

describe("an error of the client or the server", () => {
  test.each([
    [10014, 404, "consumer_missing"],
    [10059, 404, "stream_missing"],
    [10037, 404, "message_missing"],
    [10013, 400, "consumer_exists"],
    [10148, 400, "consumer_exists"],
    // JetStream that is not enabled, here or for the account, is how a missing leader looks.
    [10076, 503, "transient"],
    [10039, 503, "transient"],
    [10008, 503, "transient"],
    [10009, 503, "transient"],
    [10999, 500, "transient"],
    [10094, 400, "refused"],
  ])("FW-RUN-06 FW-RUN-05 code %i with status %i is %s", (code, status, expected) => {
    expect(apiFault(apiError(code, status))).toBe(expected);
  });

  test.each([
    ["no responders", new errors.NoRespondersError("$JS.API.INFO"), "transient"],
    ["a time-out", new errors.TimeoutError(), "transient"],
    ["a closed connection", new errors.ClosedConnectionError(), "transient"],
    ["anything else", new TypeError("x"), "transient"],
    ["a refused login", new errors.AuthorizationError("no"), "credentials"],
    ["an expired login", new errors.UserAuthenticationExpiredError("no"), "credentials"],
    ["a missing right", new errors.PermissionViolationError("no", "publish", "a"), "permission"],
  ])("FW-RUN-06 FW-RUN-32 %s is %s", (_name, error, expected) => {
    expect([apiFault(error), apiFault(new Error("around it", { cause: error }))]).toEqual([expected, expected]);
  });
});
