/** A place to write text; writing never throws, also when the reader has gone away. */
export interface Output {
  write(text: string): void;
  /** True when a person looks at it. */
  readonly isTerminal: boolean;
  /** Width in characters; 80 where nobody knows. */
  columns(): number;
}

/** Signals that the command listens to. */
export type HostSignal = "SIGINT" | "SIGTERM" | "SIGHUP";

/** All that the command may know and do of its process; tests hand in one of their own. */
export interface Host {
  readonly version: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly workingDirectory: string;
  /** URL of the command's own file: connectors are looked up beside it when the project has none (FW-REG-04). */
  readonly commandUrl: string;
  readonly stdout: Output;
  readonly stderr: Output;
  /** Wall clock, for log lines and the factories of connectors. */
  readonly nowNs: () => bigint;
  /** Monotonic clock in milliseconds, for rates and deadlines. */
  readonly monotonicMs: () => number;
  /** Listens to a signal until the returned function is called. */
  onSignal(signal: HostSignal, listener: () => void): () => void;
  /** Ends the process at once, whatever is still going on. */
  leave(exitCode: number): void;
}
