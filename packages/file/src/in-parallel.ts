/**
 * Runs `work` for 0 … `count` − 1, at most `concurrency` at a time. Each begins, up to its first wait, in that order. The
 * first rejection rejects.
 */
export async function inParallel(count: number, concurrency: number, work: (index: number) => Promise<void>): Promise<void> {
  let next = 0;
  const run = async () => {
    while (next < count) {
      next += 1;
      await work(next - 1);
    }
  };
  await Promise.all(Array.from({ length: Math.min(concurrency, count) }, run));
}
