/** A count with its words: `1 message is held`, `2 messages are held`. */
export function counted(count: number | bigint, one: string, many: string): string {
  return `${count} ${Number(count) === 1 ? one : many}`;
}
