// CRC-32C (Castagnoli, RFC 3720 B.4): the checksum of records in logs and traces. Finds torn and rotten bytes, not forged ones.

/** 0x1EDC6F41, bits reversed. */
const POLYNOMIAL = 0x82f63b78;

/** Eight tables ("slicing by 8"): table k holds the effect of a byte followed by k zero bytes. */
const TABLES = makeTables();

function makeTables(): Uint32Array {
  const tables = new Uint32Array(8 * 256);
  for (let byte = 0; byte < 256; byte++) {
    let crc = byte;
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ POLYNOMIAL : crc >>> 1;
    tables[byte] = crc;
  }
  for (let at = 256; at < tables.length; at++) {
    const before = tables[at - 256]!;
    tables[at] = (before >>> 8) ^ tables[before & 0xff]!;
  }
  return tables;
}

/** Of `bytes`, as an unsigned 32-bit number. `before` is the checksum of the bytes in front of them. */
export function crc32c(bytes: Uint8Array, before = 0): number {
  const t = TABLES;
  const length = bytes.length;
  let crc = ~before;
  let i = 0;
  for (const last = length - 8; i <= last; i += 8) {
    crc ^= bytes[i]! | (bytes[i + 1]! << 8) | (bytes[i + 2]! << 16) | (bytes[i + 3]! << 24);
    crc =
      t[1792 + (crc & 0xff)]! ^
      t[1536 + ((crc >>> 8) & 0xff)]! ^
      t[1280 + ((crc >>> 16) & 0xff)]! ^
      t[1024 + (crc >>> 24)]! ^
      t[768 + bytes[i + 4]!]! ^
      t[512 + bytes[i + 5]!]! ^
      t[256 + bytes[i + 6]!]! ^
      t[bytes[i + 7]!]!;
  }
  for (; i < length; i++) crc = (crc >>> 8) ^ t[(crc ^ bytes[i]!) & 0xff]!;
  return ~crc >>> 0;
}
