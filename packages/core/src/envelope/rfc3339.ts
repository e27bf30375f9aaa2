const nsPerSecond = 1_000_000_000n;
const secondsPerDay = 86_400;
const form = /^(\d{4})-(\d\d)-(\d\d)[Tt ](\d\d):(\d\d):(\d\d)(?:\.(\d+))?(?:[Zz]|([+-])(\d\d):(\d\d))?$/;

/**
 * Nanoseconds since the Unix epoch of an RFC 3339 time, exact to the last digit; a time without zone is UTC (FW-META-02).
 * Digits beyond the nanosecond are cut. Null when the text is no such time.
 */
export function parseRfc3339(text: string): bigint | null {
  const found = form.exec(text);
  if (found === null) return null;
  const [year, month, day, hour, minute, second] = found.slice(1, 7).map(Number) as [number, number, number, number, number, number];
  const [fraction = "", sign, zoneHour = "0", zoneMinute = "0"] = found.slice(7);
  if (month < 1 || month > 12 || day < 1 || day > daysInMonth(year, month)) return null;
  // 60 is the leap second; like POSIX time, it counts as the first second of the next minute.
  if (hour > 23 || minute > 59 || second > 60 || Number(zoneHour) > 23 || Number(zoneMinute) > 59) return null;
  const offset = (Number(zoneHour) * 60 + Number(zoneMinute)) * 60 * (sign === "-" ? -1 : 1);
  const seconds = daysFromCivil(year, month, day) * secondsPerDay + hour * 3600 + minute * 60 + second - offset;
  return BigInt(seconds) * nsPerSecond + BigInt(fraction.slice(0, 9).padEnd(9, "0"));
}

/** RFC 3339 in UTC with nine decimals; null outside the years 0000 to 9999, which the form cannot hold. */
export function formatRfc3339(epochNs: bigint): string | null {
  // Digits instead of bigint division, which costs more than all the rest.
  if (epochNs >= nsPerSecond) {
    const digits = epochNs.toString();
    return formatSeconds(Number(digits.slice(0, -9)), digits.slice(-9));
  }
  const fraction = ((epochNs % nsPerSecond) + nsPerSecond) % nsPerSecond;
  return formatSeconds(Number((epochNs - fraction) / nsPerSecond), fraction.toString().padStart(9, "0"));
}

function formatSeconds(seconds: number, fraction: string): string | null {
  const days = Math.floor(seconds / secondsPerDay);
  if (days < -719_528 || days > 2_932_896) return null;
  const rest = seconds - days * secondsPerDay;
  const minutes = (rest / 60) | 0;
  return `${civilFromDays(days)}T${pair((minutes / 60) | 0)}:${pair(minutes % 60)}:${pair(rest % 60)}.${fraction}Z`;
}

const pairs: readonly string[] = Object.freeze(Array.from({ length: 100 }, (_, value) => String(value).padStart(2, "0")));

function pair(value: number): string {
  return pairs[value] as string;
}

function daysInMonth(year: number, month: number): number {
  if (month === 2) return (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0 ? 29 : 28;
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
}

/** Days since 1970-01-01 in the proleptic Gregorian calendar; years begin in March so that the leap day comes last. */
function daysFromCivil(year: number, month: number, day: number): number {
  const shifted = month <= 2 ? year - 1 : year;
  const era = Math.floor(shifted / 400);
  const yearOfEra = shifted - era * 400;
  const dayOfYear = Math.floor((153 * (month + (month > 2 ? -3 : 9)) + 2) / 5) + day - 1;
  return era * 146_097 + yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear - 719_468;
}

function civilFromDays(days: number): string {
  const shifted = days + 719_468;
  const era = Math.floor(shifted / 146_097);
  const dayOfEra = shifted - era * 146_097;
  const yearOfEra = Math.floor(
    (dayOfEra - Math.floor(dayOfEra / 1460) + Math.floor(dayOfEra / 36_524) - Math.floor(dayOfEra / 146_096)) / 365,
  );
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
  const march = Math.floor((5 * dayOfYear + 2) / 153);
  const month = march < 10 ? march + 3 : march - 9;
  const year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0);
  return `${pair((year / 100) | 0)}${pair(year % 100)}-${pair(month)}-${pair(dayOfYear - Math.floor((153 * march + 2) / 5) + 1)}`;
}
