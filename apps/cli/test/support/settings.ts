/** The smallest useful configuration, sections replaced or added. */
export function settings(sections: Readonly<Record<string, object>> = {}): Record<string, object> {
  return {
    nats: { url: "nats://127.0.0.1:1", stream: "EVENTS", consumer: "sink", subject: "events.>" },
    sink: { type: "file", directory: "out" },
    ...sections,
  };
}

/** The same with the connector `probe` of the test project, which `plugins` allows. */
export function probeSettings(probe: object = {}, sections: Readonly<Record<string, object>> = {}): Record<string, object> {
  const plugins = { enabled: true, allowed_sinks: ["probe"], require_production_ready: false };
  return settings({ sink: { type: "probe", ...probe }, plugins, ...sections });
}
