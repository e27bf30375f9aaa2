import { preset } from "@sinks/tooling/vitest";

export default preset(import.meta.dirname);
