import { type AddressInfo, createServer } from "node:net";
import { expect, test } from "vitest";
import { unusableVersion } from "../../src/source/server-greeting.js";

/** Something that listens and says this to whoever connects. */
async function greeter(greeting: string): Promise<AsyncDisposable & { readonly address: URL }> {
  const server = createServer((socket) => {
    socket.on("error", () => undefined);
    socket.write(greeting);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    address: new URL(`nats://127.0.0.1:${(server.address() as AddressInfo).port}`),
    [Symbol.asyncDispose]: () => new Promise((resolve) => server.close(() => resolve())),
  };
}

test.each([
  ['INFO {"server_id":"x","version":"dev","proto":1} \r\n', "dev"],
  ['INFO {"version":""}\r\n', ""],
  ['INFO {"version":"2.11.4"}\r\n', null],
  ['INFO {"version":"v2.12.0-beta.1"}\r\n', null],
  ["+OK\r\n", null],
  ["", null],
])("FW-CLI-06 a server that greets with %s has an unusable version %s", async (greeting, version) => {
  await using server = await greeter(greeting);
  expect(await unusableVersion(server.address, 200)).toBe(version);
});

test("FW-CLI-06 of a server that is not there nothing is said", async () => {
  const server = await greeter("");
  await server[Symbol.asyncDispose]();
  expect(await unusableVersion(server.address, 200)).toBeNull();
});
