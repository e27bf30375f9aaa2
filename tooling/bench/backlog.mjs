const encoder = new TextEncoder();
const window = 2_000;

/** A JSON event of about 200 bytes. */
export function event(index) {
  return encoder.encode(
    `{"order":${index},"customer":"customer-${index % 5_000}","region":"north","state":"accepted","amount_cents":${(index * 37) % 100_000},` +
      `"article":"A-${index % 10_000}","note":"left at the door, rang twice","at":"2026-01-01T00:00:00Z"}`,
  );
}

/** A message of a few bytes. */
export function smallMessage(index) {
  return encoder.encode(`{"n":${index}}`);
}

/** Makes a stream with file storage and fills it; resolves once the stream holds every message. */
export async function fillStream({ connection, client, manager }, { stream, count, body }) {
  await manager.streams.add({ name: stream, subjects: [`${stream}.>`], storage: "file" });
  for (let first = 0; first < count; first += window) {
    const last = Math.min(first + window, count) - 1;
    for (let index = first; index < last; index += 1) connection.publish(`${stream}.orders`, body(index));
    // The server answers in order: when the last one of a window is stored, so are the others.
    await client.publish(`${stream}.orders`, body(last));
  }
  const { state } = await manager.streams.info(stream);
  if (state.messages !== count) throw new Error(`the stream ${stream} holds ${state.messages} messages instead of ${count}`);
}
