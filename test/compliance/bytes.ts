// Short ways to say bytes in the compliance suites.

const encoder = new TextEncoder();
const decoder = new TextDecoder();

export const bytesOf = (text: string): Uint8Array => encoder.encode(text);
export const textOf = (bytes: Uint8Array): string => decoder.decode(bytes);
export const textsOf = (all: readonly Uint8Array[]): string[] => all.map(textOf);

/** `length` bytes that differ from place to place and from `salt` to `salt`. */
export function pattern(length: number, salt = 0): Uint8Array {
  const bytes = new Uint8Array(length);
  for (let i = 0; i < length; i++) bytes[i] = (i * 31 + (i >> 8) * 7 + salt * 101) & 0xff;
  return bytes;
}
