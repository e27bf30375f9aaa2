import type { ErrorCode } from "../error/codes.js";
import { ConfigurationError } from "../error/errors.js";

const brand: unique symbol = Symbol.for("sinks.configuration-faults") as never;

/** One thing that is wrong with a configuration. */
export interface ConfigurationFault {
  /** Path of the key, such as `delivery.batch_size`; the file's name when the file itself is at fault. */
  readonly path: string;
  /** The rule that is broken; never a received value (FW-CFG-03). */
  readonly message: string;
  /** What to do about it; null when the rule says it all. */
  readonly remedy: string | null;
  readonly code: ErrorCode;
}

/** Makes a fault of a key; its code is `configuration_invalid` unless another one says more. */
export function fault(
  path: string,
  message: string,
  remedy: string | null = null,
  code: ErrorCode = "configuration_invalid",
): ConfigurationFault {
  return { path, message, remedy, code };
}

/** The one line that a fault is shown as. */
export function faultLine({ path, message, remedy }: ConfigurationFault): string {
  return `${path}: ${message}${remedy === null ? "" : `; ${remedy}`}`;
}

/** One error for all faults, a line each. Its code is theirs when they agree. */
export function faultsError(faults: readonly ConfigurationFault[]): ConfigurationError {
  const codes = new Set(faults.map(({ code }) => code));
  const [code] = codes;
  const error = new ConfigurationError(faults.map(faultLine).join("\n"), {
    code: codes.size === 1 && code !== undefined ? code : "configuration_invalid",
  });
  Object.defineProperty(error, brand, { value: Object.freeze([...faults]), enumerable: false });
  return error;
}

/** The faults that an error of the loader, the validator or the registry carries; empty for any other error. */
export function configurationFaults(error: unknown): readonly ConfigurationFault[] {
  if (typeof error !== "object" || error === null) return [];
  const faults = (error as Record<symbol, unknown>)[brand];
  return Array.isArray(faults) ? (faults as readonly ConfigurationFault[]) : [];
}

/** Writes a path as people read it: `nats.urls[1]`, odd names quoted, everything bounded. */
export function pathText(path: readonly PropertyKey[]): string {
  const text = path
    .map((key) => {
      if (typeof key === "number") return `[${key}]`;
      const name = String(key);
      return /^[A-Za-z0-9_:$-]{1,128}$/.test(name) ? `.${name}` : `[${JSON.stringify(name.slice(0, 64))}]`;
    })
    .join("");
  return text.startsWith(".") ? text.slice(1) : text;
}
