import { describe, expect, test } from "vitest";
import { styleOf } from "../src/output/style.js";
import { pairs, table } from "../src/output/table.js";
import { recordingOutput } from "./support/recording-host.js";

const plain = (text: string): string => text;

describe("text for people", () => {
  test("FW-CLI-04 tables are aligned", () => {
    expect(
      table(
        ["NAME", "STATUS"],
        [
          ["file", "production"],
          ["a-long-name", "x"],
        ],
        plain,
      ),
    ).toBe("NAME         STATUS\nfile         production\na-long-name  x\n");
    expect(
      pairs([
        ["stored", "12"],
        ["dead letters", "0"],
      ]),
    ).toBe("stored        12\ndead letters  0\n");
  });

  test("FW-CLI-04 a cell cannot break its line or colour the screen", () => {
    expect(table(["A", "B"], [["x\ny", "\u001b[31m"]], plain)).toBe("A     B\nx\\ny  \\u001b[31m\n");
  });

  test("FW-CLI-04 colour is for terminals only, and NO_COLOR turns it off", () => {
    const bold = (terminal: boolean, environment: Record<string, string>): string =>
      styleOf(recordingOutput(terminal), environment).bold("x");
    expect(bold(true, {})).toBe("\u001b[1mx\u001b[22m");
    expect(bold(false, {})).toBe("x");
    expect(bold(true, { NO_COLOR: "1" })).toBe("x");
    expect(bold(true, { NO_COLOR: "" })).not.toBe("x");
    expect(bold(true, { TERM: "dumb" })).toBe("x");
  });
});
