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

/** Runs `work` for each item of a source as it comes, at most `concurrency` at a time. The first rejection rejects. */
export async function eachInParallel<Item>(
  source: AsyncIterable<Item>,
  concurrency: number,
  work: (item: Item) => Promise<void>,
): Promise<void> {
  const items = source[Symbol.asyncIterator]();
  let failed = false;
  const run = async () => {
    for (let next = await items.next(); next.done !== true && !failed; next = await items.next()) await work(next.value);
  };
  const runs = Array.from({ length: concurrency }, () =>
    run().catch((error: unknown) => {
      failed = true;
      throw error;
    }),
  );
  const ends = await Promise.allSettled(runs);
  await items.return?.();
  for (const end of ends) if (end.status === "rejected") throw end.reason;
}
