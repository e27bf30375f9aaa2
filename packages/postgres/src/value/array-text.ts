import { faultBelow, ValueFault } from "./value-fault.js";

/** The server knows no more dimensions. */
const mostDimensions = 6;

/** How the values of an array become text. */
export interface ArrayElements {
  /** Name of their type; it decides the delimiter. */
  readonly base: string;
  /** True when an array is itself an element, as in `jsonb[]`; else it is a further dimension. */
  readonly arraysAreElements: boolean;
  readonly text: (element: unknown) => string | null;
}

/** Text of a Postgres array; every element that is text stands in quotes, so that none can be taken for structure (WO-VAL-11). */
export function arrayText(values: readonly unknown[], elements: ArrayElements, depth = 1): string {
  if (depth > mostDimensions) throw new ValueFault(`has more than ${mostDimensions} dimensions`);
  let text = "{";
  for (let index = 0; index < values.length; index += 1) {
    if (index > 0) text += elements.base === "box" ? ";" : ",";
    try {
      text += elementText(values[index], elements, depth);
    } catch (error) {
      throw faultBelow(`[${index}]`, error);
    }
  }
  return `${text}}`;
}

function elementText(value: unknown, elements: ArrayElements, depth: number): string {
  if (Array.isArray(value) && !elements.arraysAreElements) return arrayText(value, elements, depth + 1);
  const text = elements.text(value);
  if (text === null) return "NULL";
  if (typeof value === "number" || typeof value === "bigint" || typeof value === "boolean") return text;
  return `"${text.replace(/["\\]/g, "\\$&")}"`;
}
