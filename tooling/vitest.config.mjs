import { preset } from "./vitest.mjs";

export default preset(import.meta.dirname);
