// The words of the chain: types, bytes, hashes, signatures, encodings. Pure functions; what decides stands
// in rules/ and light/.

export * from './abci.ts';
export * from './bit-array.ts';
export * from './block-id.ts';
export * from './bytes.ts';
export * from './hashes.ts';
export * from './json/index.ts';
export * from './keys.ts';
export * from './merkle.ts';
export * from './messages.ts';
export * from './part-set.ts';
export * from './refusal.ts';
export * from './sign-bytes.ts';
export * from './signatures.ts';
export * from './time.ts';
export * from './types.ts';
export * from './validate.ts';
export * from './wire/index.ts';
