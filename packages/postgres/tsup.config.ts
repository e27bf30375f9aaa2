import { preset } from "@sinks/tooling/tsup";

export default preset(import.meta.dirname);
