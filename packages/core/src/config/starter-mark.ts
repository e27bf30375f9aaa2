/** Mark of a key that stands in a starter configuration with this value, not commented out. */
export const starterMark = "x-sinks-starter";
