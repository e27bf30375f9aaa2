/** Places of one machine or of one checkout, which mean nothing to a reader elsewhere. */
const places = [/\.\.\/shared(?![\w-])/, /(?<![\w.-])\/work\//, /(?<![\w.-])\/root\//, /(?<![\w.-])\/(home|Users)\/[a-z]/i];

/** Nothing that is shipped or read names a place that only one machine has. */
export function machinePaths({ files }) {
  const findings = [];
  for (const { path, text } of files) {
    const wholly = places.some((place) => place.test(text));
    if (!wholly) continue;
    text.split("\n").forEach((line, index) => {
      if (places.some((place) => place.test(line)))
        findings.push({ path, line: index + 1, message: "names a place that only one machine has" });
    });
  }
  return findings;
}
