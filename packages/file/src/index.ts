export { file } from "./connector.js";
export { type FileOptions, fileOptions } from "./options.js";
