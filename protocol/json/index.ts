// All that CometBFT keeps or prints as JSON: files, and the chain as RPC shows it.

export * from './chain.ts';
export { formatGenesis, genesisForm, paramsForm, paramsOfJson, parseGenesis } from './genesis.ts';
export * from './keys.ts';
export { memberText } from './member-text.ts';
export type { MalformedJson } from './reader.ts';
export { whyNotJson } from './syntax.ts';
