/**
 * A server on 127.0.0.1. URL, port and data stay the same over `kill` and a restart. One that was named by a variable of
 * the environment is shared and cannot be stopped: `own` is false and the verbs reject.
 */
export interface RunningServer extends AsyncDisposable {
  readonly url: string;
  readonly port: number;
  readonly version: string;
  /** Where it came from, for a line of output. */
  readonly origin: string;
  readonly own: boolean;
  /** Process id of an own server process, null for others and while it is down. */
  readonly pid: number | null;
  /** Everything the server has logged so far. */
  log(): Promise<string>;
  /** Ends it in order. */
  stop(): Promise<void>;
  /** Ends it at once (SIGKILL). */
  kill(): Promise<void>;
  /** Stops it from running without ending it (SIGSTOP): connections stay open and nothing answers. */
  freeze(): Promise<void>;
  /** Lets a frozen one run again. */
  thaw(): Promise<void>;
}
