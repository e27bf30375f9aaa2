const longestSubject = 256;

/** Names a message in an error text by subject, stream and sequence, and by nothing it holds (FW-ENV-12). */
export function describeMessage(subject: string, stream: string | null, sequence: bigint | null): string {
  const shown = subject.length > longestSubject ? `${subject.slice(0, longestSubject)}…` : subject;
  return `subject ${JSON.stringify(shown)}, stream ${stream ?? "unknown"}, sequence ${sequence ?? "unknown"}`;
}
