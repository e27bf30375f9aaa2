/** The command line itself is wrong; ends with exit code 2. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}
