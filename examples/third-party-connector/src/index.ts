export { lineLog } from "./connector.js";
