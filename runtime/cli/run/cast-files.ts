// A cast from real files: a genesis, and every priv_validator_key.json below a folder, matched by address.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parsePrivValidatorKey } from '../../../protocol/json/index.ts';
import type { KeyPair } from '../../../protocol/keys.ts';
import { isRefusal } from '../../../protocol/refusal.ts';
import { type Cast, castFromFiles } from '../../../sim/cast.ts';
import { CliError, whyNot } from '../usage.ts';

export const KEY_FILE = 'priv_validator_key.json';

export function castOfFiles(genesisPath: string, keysFolder: string): Cast {
  const cast = castFromFiles(textOf('the genesis file', genesisPath), keysBelow(keysFolder));
  if (isRefusal(cast))
    throw new CliError(`${genesisPath} with the keys below ${keysFolder}: ${cast.because}`);
  return cast as Cast;
}

function textOf(what: string, path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new CliError(`${what} ${path} cannot be read: ${whyNot(error)}`);
  }
}

function keysBelow(folder: string): KeyPair[] {
  let files: string[];
  try {
    files = readdirSync(folder, { recursive: true }).map(String);
  } catch (error) {
    throw new CliError(`the folder of keys ${folder} cannot be read: ${whyNot(error)}`);
  }
  const found = files.filter((file) => file === KEY_FILE || file.endsWith(`/${KEY_FILE}`)).sort();
  if (found.length === 0) throw new CliError(`there is no ${KEY_FILE} below ${folder}`);
  return found.map((file) => {
    const path = join(folder, file);
    const key = parsePrivValidatorKey(textOf('the validator key file', path));
    if (isRefusal(key)) throw new CliError(`the validator key file ${path} is not valid: ${key.because}`);
    return key.pair;
  });
}
