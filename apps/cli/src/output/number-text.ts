/** A count with thousands set apart: `12,345`. */
export function countText(value: number): string {
  return Math.round(value)
    .toString()
    .replace(/\B(?=(\d{3})+$)/g, ",");
}

/** A count of messages in words: `1 message`, `12,345 messages`. */
export function messagesText(count: number): string {
  return `${countText(count)} ${count === 1 ? "message" : "messages"}`;
}

/** A duration in seconds: `0.42 s`, `12.3 s`, `340 s`. */
export function secondsText(seconds: number): string {
  return `${seconds < 10 ? seconds.toFixed(2) : seconds < 100 ? seconds.toFixed(1) : Math.round(seconds)} s`;
}
