import { preset } from "@sinks/tooling/tsup";

export default preset(["src/index.ts", "src/runtime.ts"]);
