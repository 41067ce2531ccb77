// Reads the files that CometBFT keeps in a home: genesis and keys. An error names path, field and fix.

import { existsSync } from 'node:fs';
import {
  type PrivValidatorKey,
  parseGenesis,
  parseNodeKey,
  parsePrivValidatorKey,
  parsePrivValidatorState,
  type SignState,
} from '../../../protocol/json/index.ts';
import type { KeyPair } from '../../../protocol/keys.ts';
import { isRefusal, type Refusal } from '../../../protocol/refusal.ts';
import type { Genesis } from '../../../protocol/types.ts';
import { readText, SetupError } from '../disk/files.ts';

const read = <T>(what: string, path: string, parse: (text: string) => T | Refusal): T => {
  const parsed = parse(readText(what, path));
  if (isRefusal(parsed)) throw new SetupError(`${what} ${path} is not valid: ${parsed.because}`);
  return parsed as T;
};

/** config/genesis.json */
export const readGenesisFile = (path: string): Genesis => read('the genesis file', path, parseGenesis);

/** config/node_key.json */
export const readNodeKeyFile = (path: string): KeyPair => read('the node key file', path, parseNodeKey);

/** config/priv_validator_key.json, also with the signer's state in it, as before 0.31. */
export const readValidatorKeyFile = (path: string): PrivValidatorKey =>
  read('the validator key file', path, parsePrivValidatorKey);

/** data/priv_validator_state.json; null: there is none, this key has a new home. */
export const readSignStateFile = (path: string): SignState | null =>
  existsSync(path) ? read("the signer's state file", path, parsePrivValidatorState) : null;
