import { digestOf } from "./account.mjs";
import { eventAt, poison } from "./events.mjs";

/** Every so many events the publisher sends one again, as one does that did not see the reply. */
const repeatEvery = 100;
const window = 500;

/**
 * Publishes the events, with a poison message in the middle and repeats. Answers what the stream confirmed: sequence to
 * body digest, and how many repeats it recognised.
 */
export async function publishEvents(client, makeHeaders, count, onProgress) {
  const published = new Map();
  let repeats = 0;
  const send = async ({ subject, body, headers }) => {
    const answer = await client.publish(subject, body, { headers: makeHeaders(headers) });
    if (answer.duplicate) repeats += 1;
    else published.set(answer.seq, digestOf(body));
  };
  for (let first = 0; first < count; first += window) {
    const indexes = Array.from({ length: Math.min(window, count - first) }, (_, offset) => first + offset);
    await Promise.all(indexes.map((index) => send(index === Math.floor(count / 2) ? poison() : eventAt(index))));
    await Promise.all(indexes.filter((index) => index % repeatEvery === 1).map((index) => send(eventAt(index))));
    onProgress(published.size);
  }
  return { published, repeats };
}
