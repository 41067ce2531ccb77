// Reads the shapes that the golden cases of rules and of the light client share: validators, headers,
// commits, times.

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { it } from 'vitest';
import { hexUpperOf } from '../../protocol/bytes.ts';
import { isRefusal, unreachable } from '../../protocol/refusal.ts';
import { existingValidatorSet } from '../../protocol/rules/validator-set.ts';
import type { ValidatorSet } from '../../protocol/types.ts';

/** What a refusal becomes in a test: a failure that says why. */
export const okay = <Value>(value: Value): Exclude<Value, { readonly refused: string }> =>
  isRefusal(value) ? unreachable(value.because) : (value as Exclude<Value, { readonly refused: string }>);

export interface MemberCase {
  readonly address: string;
  readonly power: string;
  readonly priority: string;
  readonly pub_key: string;
}

export const hexBytes = (text: string): Uint8Array => Uint8Array.from(Buffer.from(text, 'hex'));

export const upper = hexUpperOf;

export const ed25519Of = (hex: string) => ({ type: 'ed25519', bytes: hexBytes(hex) }) as const;

/** A set with the members and priorities of a case. */
export const setOfCase = (members: readonly MemberCase[]): ValidatorSet =>
  okay(
    existingValidatorSet(
      members.map(({ address, power, priority, pub_key }) => ({
        address: hexBytes(address),
        publicKey: ed25519Of(pub_key),
        power: BigInt(power),
        priority: BigInt(priority),
      })),
    ),
  );

export const caseOfSet = (set: ValidatorSet): MemberCase[] =>
  set.validators.map(({ address, power, priority, publicKey }) => ({
    address: upper(address),
    power: `${power}`,
    priority: `${priority}`,
    pub_key: Buffer.from(publicKey.bytes).toString('hex'),
  }));

const roots = [
  process.env['GOLDEN_DIR'] ?? fileURLToPath(new URL('../../../shared/vectors', import.meta.url)),
  fileURLToPath(new URL('./data', import.meta.url)),
];

const find = (path: string): string | null =>
  roots.map((root) => join(root, path)).find((full) => existsSync(full)) ?? null;

/**
 * Tests on the files of a golden folder: `run` gets the parsed JSON and says what it ran. Without the file
 * they are skipped.
 */
export const golden = (folder: string) => ({
  test<Case>(file: string, title: string, run: (cases: Case) => string): void {
    const path = find(join(folder, file));
    it.skipIf(path === null)(`${title} (${folder}/${file}${path === null ? ' is not here' : ''})`, () => {
      const ran = run(JSON.parse(readFileSync(path!, 'utf8')) as Case);
      console.log(`golden ${folder}/${file}: ${ran}`);
    });
  },
  testEach<Case>(sub: string, title: string, run: (cases: readonly [string, Case][]) => string): void {
    const path = find(join(folder, sub));
    it.skipIf(path === null)(`${title} (${folder}/${sub}${path === null ? ' is not here' : ''})`, () => {
      const names = readdirSync(path!).filter((name) => name.endsWith('.json'));
      const ran = run(
        names.sort().map((name) => [name, JSON.parse(readFileSync(join(path!, name), 'utf8')) as Case]),
      );
      console.log(`golden ${folder}/${sub}: ${ran}`);
    });
  },
});
