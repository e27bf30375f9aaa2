import { bareLoop } from "./bare-loop.mjs";

await bareLoop(async () => undefined);
