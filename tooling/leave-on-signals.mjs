/** Ends this process in order on Ctrl-C and SIGTERM, so that what it started is ended and its folders are removed. */
export function leaveOnSignals() {
  process.once("SIGINT", () => process.exit(130));
  process.once("SIGTERM", () => process.exit(143));
}
