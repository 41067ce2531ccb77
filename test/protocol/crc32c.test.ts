// CRC-32C against its published vectors, and against the plain definition.

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { crc32c } from '../../protocol/crc32c.ts';

const ascii = (text: string): Uint8Array => Uint8Array.from(text, (char) => char.charCodeAt(0));

test('RFC 3720 B.4 and the check value of the catalogue', () => {
  const ascending = Uint8Array.from({ length: 32 }, (_, i) => i);
  expect(crc32c(new Uint8Array(32))).toBe(0x8a9136aa);
  expect(crc32c(new Uint8Array(32).fill(0xff))).toBe(0x62a8ab43);
  expect(crc32c(ascending)).toBe(0x46dd794e);
  expect(crc32c(ascending.toReversed())).toBe(0x113fdb5c);
  expect(crc32c(ascii('123456789'))).toBe(0xe3069283);
  expect(crc32c(new Uint8Array(0))).toBe(0);
});

/** Bit by bit, as the polynomial says. */
function plainly(bytes: Uint8Array): number {
  let crc = 0xffffffff;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0x82f63b78 : crc >>> 1;
  }
  return ~crc >>> 0;
}

test('any bytes, whole and in two pieces', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 100 }), fc.nat(100), (bytes, at) => {
      expect(crc32c(bytes)).toBe(plainly(bytes));
      expect(crc32c(bytes.subarray(at), crc32c(bytes.subarray(0, at)))).toBe(crc32c(bytes));
    }),
  );
});
