import type { Check } from "../connector/preflight.js";

/** A check that found nothing wrong. */
export function passed(id: string, message: string): Check {
  return { id, status: "pass", message, remedy: null };
}

/** A check that found something a pipeline can live with. */
export function warned(id: string, message: string, remedy: string): Check {
  return { id, status: "warn", message, remedy };
}

/** A check that found what keeps the pipeline from working as configured. */
export function failed(id: string, message: string, remedy: string): Check {
  return { id, status: "fail", message, remedy };
}

/** A check that could not be made, or does not apply. */
export function skipped(id: string, message: string, remedy: string | null = null): Check {
  return { id, status: "skipped", message, remedy };
}
