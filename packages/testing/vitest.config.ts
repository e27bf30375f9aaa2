import { preset } from "@sinks/tooling/vitest";

export default preset();
