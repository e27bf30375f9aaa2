import { NumberToken } from "./json.js";

/** Longer integers stay tokens, so that no message can make the arithmetic of huge integers costly. */
const longestInteger = 1000;
const firstExponentForm = 1e21;

/**
 * Value of a JSON number literal without loss (FW-MAP-05): an integer literal is a number or, beyond 2^53, a bigint; a decimal
 * is a number when the double prints an equal value; anything else is a token. A decimal that a double would print as an
 * integer beyond 2^53 is a token too, because such a number could not be told from one that lost digits.
 */
export function numberFromLiteral(literal: string): number | bigint | NumberToken {
  if (/^-?[0-9]+$/.test(literal)) {
    const value = Number(literal);
    if (Number.isSafeInteger(value)) return value;
    return literal.length > longestInteger ? new NumberToken(literal) : BigInt(literal);
  }
  const value = Number(literal);
  return isHeld(literal, value) ? value : new NumberToken(literal);
}

/** True for a number whose JSON spelling has only digits it really holds: finite, and no integer beyond 2^53 in plain digits. */
export function isExactNumber(value: number): boolean {
  return Number.isFinite(value) && (!Number.isInteger(value) || Number.isSafeInteger(value) || Math.abs(value) >= firstExponentForm);
}

function isHeld(literal: string, value: number): boolean {
  if (!isExactNumber(value)) return false;
  const given = decimal(literal);
  const printed = decimal(String(value));
  return (
    given.digits === printed.digits && (given.digits === "" || (given.exponent === printed.exponent && given.negative === printed.negative))
  );
}

/** A decimal as digits without outer zeros, times ten to the exponent; zero has no digits. */
function decimal(literal: string): { negative: boolean; digits: string; exponent: number } {
  const negative = literal.startsWith("-");
  const [mantissa, power = "0"] = (negative ? literal.slice(1) : literal).toLowerCase().split("e") as [string, string?];
  const [whole, fraction = ""] = mantissa.split(".") as [string, string?];
  const all = whole + fraction;
  let end = all.length;
  while (end > 0 && all.charCodeAt(end - 1) === 0x30) end -= 1;
  let start = 0;
  while (start < end && all.charCodeAt(start) === 0x30) start += 1;
  return { negative, digits: all.slice(start, end), exponent: Number(power) - fraction.length + (all.length - end) };
}
