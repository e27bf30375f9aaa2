import { describe, expect, test } from "vitest";
import { PermanentSinkError } from "../../src/error/errors.js";
import { Flight } from "../../src/runner/flight.js";
import { MessageReports } from "../../src/runner/message-reports.js";
import { Acting } from "../fakes/acting.js";
import { admitted } from "../fakes/entries.js";
import { RecordingTelemetry } from "../fakes/recording-telemetry.js";

const permanent = new PermanentSinkError("bad");

describe("FW-OBS-04 what became of a single message is in the log", () => {
  test.each([
    ["message held", { deadLetters: false }],
    ["message dead-lettered", { deadLetters: true }],
    ["message discarded", { deadLetters: false, whenDisabled: "discard" as const }],
  ])("%s: sequence, subject and code, never a text or a payload", async (event, policy) => {
    const acting = new Acting({ policy });
    acting.apply(acting.batch(7), [permanent]);
    await acting.rest();
    const [line] = acting.telemetry.events.filter((entry) => entry.event === event);
    expect(line?.level).toBe("warn");
    expect(line?.fields).toMatchObject({ stream_sequence: 7, code: "permanent", deliveries: 1 });
    expect(typeof line?.fields["subject"]).toBe("string");
    expect(Object.keys(line?.fields ?? {})).toEqual(["stream_sequence", "subject", "code", "deliveries"]);
  });

  test("a flood is ten lines in ten seconds, and the next line says how many were left out", () => {
    const telemetry = new RecordingTelemetry();
    let now = 0;
    const reports = new MessageReports(telemetry, () => now);
    const entry = admitted(new Flight(), { sequence: 1 });
    for (let count = 0; count < 1000; count += 1) reports.report("message held", entry, "permanent");
    expect(telemetry.events).toHaveLength(10);
    reports.report("message discarded", entry, "permanent");
    expect(telemetry.events).toHaveLength(11);
    now = 10_000;
    reports.report("message held", entry, "permanent");
    reports.report("message held", entry, "permanent");
    expect(telemetry.events.slice(11).map(({ fields }) => fields["left_out"])).toEqual([990, undefined]);
  });
});
