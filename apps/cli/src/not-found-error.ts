/** What the command was asked for does not exist; ends with exit code 4. */
export class NotFoundError extends Error {
  override readonly name = "NotFoundError";
}
