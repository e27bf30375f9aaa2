/** The tests that take too long for every change: the real command killed at 200 random points instead of 20. Ends like `npm test`. */
process.env.SINKS_KILL_POINTS ??= "200";
process.argv.splice(2, 0, "fault", "apps/cli/test/kill.fault");
await import("./run.mjs");
