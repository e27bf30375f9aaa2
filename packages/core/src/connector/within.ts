import { DestinationUnavailableError } from "../error/errors.js";

/**
 * Runs `work` of a command under a signal that aborts at the limit; rejects there with `DestinationUnavailableError` even when
 * the work does not heed the signal.
 */
export async function within<Result>(limitMs: number, work: (signal: AbortSignal) => Promise<Result>): Promise<Result> {
  const limit = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      // First, so that what the abort breaks does not answer in its place.
      reject(new DestinationUnavailableError("the destination did not answer in time; delivery.start_timeout_ms bounds the wait"));
      limit.abort();
    }, limitMs);
  });
  try {
    return await Promise.race([work(limit.signal), late]);
  } finally {
    clearTimeout(timer);
  }
}
