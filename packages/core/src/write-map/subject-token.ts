/** Token of a subject by its place, counted from 1; null when the subject has fewer. */
export function subjectToken(subject: string, place: number): string | null {
  let start = 0;
  for (let token = 1; token < place; token += 1) {
    const dot = subject.indexOf(".", start);
    if (dot === -1) return null;
    start = dot + 1;
  }
  const end = subject.indexOf(".", start);
  return subject.slice(start, end === -1 ? undefined : end);
}
