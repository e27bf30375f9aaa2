/** Runs `work` with something that must be disposed of, and disposes of it however `work` ends. */
export async function withResource(resource, work) {
  try {
    return await work(resource);
  } finally {
    await resource[Symbol.asyncDispose]();
  }
}
