import type { Host, HostSignal, Output } from "../../src/host.js";

/** An output that keeps what is written. */
export interface RecordingOutput extends Output {
  text(): string;
}

export function recordingOutput(isTerminal = false, columns = 80): RecordingOutput {
  let kept = "";
  return {
    isTerminal,
    columns: () => columns,
    write(text) {
      kept += text;
    },
    text: () => kept,
  };
}

/** A host without a process: outputs are kept, signals are raised by the test, leaving is noted. */
export interface RecordingHost extends Host {
  readonly stdout: RecordingOutput;
  readonly stderr: RecordingOutput;
  raise(signal: HostSignal): void;
  listeners(signal: HostSignal): number;
  readonly left: number[];
}

export function recordingHost(options: Partial<Host> & { readonly terminal?: boolean } = {}): RecordingHost {
  const listening = new Map<HostSignal, Set<() => void>>();
  const left: number[] = [];
  const { terminal = false, ...rest } = options;
  return {
    version: "1.2.3",
    environment: {},
    workingDirectory: "/nowhere",
    commandUrl: new URL("../../dist/sinks.js", import.meta.url).href,
    nowNs: () => 1_767_225_600_000_000_000n,
    monotonicMs: () => 0,
    ...rest,
    stdout: recordingOutput(terminal),
    stderr: recordingOutput(terminal),
    onSignal(signal, listener) {
      const set = listening.get(signal) ?? new Set();
      listening.set(signal, set.add(listener));
      return () => void set.delete(listener);
    },
    leave: (exitCode) => void left.push(exitCode),
    raise(signal) {
      for (const listener of listening.get(signal) ?? []) listener();
    },
    listeners: (signal) => listening.get(signal)?.size ?? 0,
    left,
  };
}
