const textOid = 25;
const headerBytes = 20;

/**
 * A column of values as one parameter: `text[]` of one dimension in the server's binary format, to be bound under an
 * explicit `$n::text[]`. Nothing is escaped and nothing parsed, which halves the cost of the text form on both sides.
 */
export function textArray(values: readonly (string | null)[]): Buffer {
  let size = headerBytes;
  for (const value of values) size += 4 + (value === null ? 0 : Buffer.byteLength(value));
  const bytes = Buffer.allocUnsafe(size);
  bytes.writeInt32BE(1, 0); // dimensions
  bytes.writeInt32BE(1, 4); // may hold nulls
  bytes.writeInt32BE(textOid, 8);
  bytes.writeInt32BE(values.length, 12);
  bytes.writeInt32BE(1, 16); // index of the first element
  let offset = headerBytes;
  for (const value of values) {
    const written = value === null ? 0 : bytes.write(value, offset + 4, "utf8");
    bytes.writeInt32BE(value === null ? -1 : written, offset);
    offset += 4 + written;
  }
  return bytes;
}
