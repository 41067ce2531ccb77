// Key and genesis files in a folder: what is written is read, and what is wrong is named.

import * as fs from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  formatNodeKey,
  formatPrivValidatorKey,
  formatPrivValidatorState,
} from '../../../protocol/json/index.ts';
import { keyPairOfSeed } from '../../../protocol/keys.ts';
import {
  readGenesisFile,
  readNodeKeyFile,
  readSignStateFile,
  readValidatorKeyFile,
} from '../../../runtime/host/home/key-files.ts';
import { temporaryFolder } from './folders.ts';

const pair = keyPairOfSeed(new Uint8Array(32).fill(3));
const file = (content: string): string => {
  const path = join(temporaryFolder(), 'file.json');
  fs.writeFileSync(path, content);
  return path;
};

describe('read back', () => {
  test('keys', () => {
    expect(readNodeKeyFile(file(formatNodeKey(pair)))).toEqual(pair);
    expect(readValidatorKeyFile(file(formatPrivValidatorKey(pair))).pair).toEqual(pair);
  });
  test("the signer's state, or none", () => {
    const state = {
      height: 7n,
      round: 1,
      step: 2,
      signature: new Uint8Array(64),
      signBytes: Uint8Array.of(1),
    };
    expect(readSignStateFile(file(formatPrivValidatorState(state)))).toEqual(state);
    expect(readSignStateFile(join(temporaryFolder(), 'none.json'))).toBeNull();
  });
});

describe('refused', () => {
  const readers = { readGenesisFile, readNodeKeyFile, readValidatorKeyFile, readSignStateFile };
  for (const [name, read] of Object.entries(readers)) {
    test(`${name}: what is not JSON, and what is not the right JSON`, () => {
      for (const content of ['', '{', '[]', '{"priv_key":{"type":"x","value":"y"}}']) {
        const path = file(content);
        expect(() => read(path)).toThrow(`${path} is not valid: `);
      }
    });
  }
  test('a file that is not there', () => {
    expect(() => readGenesisFile('/nowhere/genesis.json')).toThrow(
      'cannot read the genesis file /nowhere/genesis.json: there is no such file',
    );
  });
});
