import { expect, test } from "vitest";
import { z } from "zod";
import { configurationFaults, faultLine } from "../../src/config/faults.js";
import { resolveMarkedSecrets, resolveSecrets } from "../../src/config/resolve-secrets.js";
import { validateConfiguration } from "../../src/config/validate.js";
import { isErrorKind } from "../../src/error/errors.js";
import { secretOption } from "../../src/option/secret.js";
import { configurationWith, faultsOf } from "./faults-of.js";

const configuration = validateConfiguration(configurationWith({ nats: { user: "bob", password_env: "NATS_PASSWORD" } }));

test("FW-CFG-04 a secret named by a variable is read from the environment, its name stays", () => {
  const { nats } = resolveSecrets(configuration, { NATS_PASSWORD: "hunter2" });
  expect(nats.password?.reveal()).toBe("hunter2");
  expect(nats.password_env).toBe("NATS_PASSWORD");
  expect(configuration.nats.password).toBeNull();
});

test("FW-CFG-04 resolving again takes the new value", () => {
  const once = resolveSecrets(configuration, { NATS_PASSWORD: "old" });
  expect(resolveSecrets(once, { NATS_PASSWORD: "new" }).nats.password?.reveal()).toBe("new");
});

test("FW-CFG-04 an inline secret passes through", () => {
  const inline = validateConfiguration(configurationWith({ nats: { token: "hunter2" } }));
  expect(resolveSecrets(inline, {}).nats.token?.reveal()).toBe("hunter2");
});

test.each([
  [{}, "nats.password_env: the environment variable NATS_PASSWORD is not set; set it to the secret"],
  [{ NATS_PASSWORD: "" }, "nats.password_env: the environment variable NATS_PASSWORD is blank; set it to the secret"],
  [{ NATS_PASSWORD: " \n" }, "nats.password_env: the environment variable NATS_PASSWORD is blank; set it to the secret"],
])("FW-CFG-04 an unset or blank variable is one line with key and name, code secret_missing (%#)", async (environment, line) => {
  const found = await faultsOf(() => resolveSecrets(configuration, environment));
  expect(found.map(faultLine)).toEqual([line]);
  try {
    resolveSecrets(configuration, environment);
  } catch (error) {
    expect(isErrorKind(error, "ConfigurationError") && error.code).toBe("secret_missing");
  }
});

test("FW-CFG-04 pairs are found at any depth of a schema by their marks, and all that is missing is listed", () => {
  const schema = z.strictObject({
    list: z.array(z.strictObject({ ...secretOption("key", "Key.") })),
    inner: z.strictObject({ ...secretOption("url", "Address.") }).nullable(),
  });
  const value = schema.parse({ list: [{ key: "a" }, { key_env: "B" }], inner: { url_env: "C" } });
  const resolved = resolveMarkedSecrets(schema, value, { B: "b", C: "c" }, ["sink"]);
  expect([...resolved.list.map(({ key }) => key?.reveal()), resolved.inner?.url?.reveal()]).toEqual(["a", "b", "c"]);
  try {
    resolveMarkedSecrets(schema, value, {}, ["sink"]);
    expect.unreachable();
  } catch (error) {
    expect(configurationFaults(error).map(({ path }) => path)).toEqual(["sink.list[1].key_env", "sink.inner.url_env"]);
  }
});
