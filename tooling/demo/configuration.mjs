/** The configuration of the demo, as its user would write it. */
export function configuration({ url, files }) {
  return `# Reads the stream EVENTS and keeps every message in segment files.
nats:
  url: ${url}
  stream: EVENTS
  consumer: demo
  subject: events.>

# Short, so that the messages which a killed process held come again soon.
consumer_management:
  ack_wait_seconds: 2

sink:
  type: file
  directory: ${JSON.stringify(files)}
  mode: segments

# Where messages go that can never be stored.
dead_letter:
  enabled: true
  subject: dead.events
`;
}
