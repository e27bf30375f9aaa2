import { expect } from "vitest";

/** The error that some work ends with; work that succeeds fails the test. */
export async function failureOf(work: Promise<unknown>): Promise<Error & { code?: string }> {
  return work.then(
    () => expect.fail("it succeeded"),
    (error: Error) => error,
  );
}
