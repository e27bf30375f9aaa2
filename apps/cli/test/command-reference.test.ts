import path from "node:path";
import { expect, test } from "vitest";
import { createProgram } from "../src/program.js";
import { commandReference } from "./support/command-reference.js";
import { recordingHost } from "./support/recording-host.js";

const reference = path.join(import.meta.dirname, "../../../docs/reference/cli.md");

test("FW-CLI-04 docs/reference/cli.md says what the program says; `vitest -u` writes it anew", async () => {
  await expect(commandReference(createProgram(recordingHost(), () => undefined))).toMatchFileSnapshot(reference);
});
