// Reads the shapes that the golden cases of rules and of the light client share: validators, headers,
// commits, times.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'vitest';
import { hexUpperOf } from '../../protocol/bytes.ts';
import { existingValidatorSet } from '../../protocol/rules/validator-set.ts';
import type { ValidatorSet } from '../../protocol/types.ts';
import { findGolden, okay, skipped } from './folder.ts';

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

/**
 * Tests on the files of a golden folder: `run` gets the parsed JSON and says what it ran. Without the file
 * they are skipped.
 */
export const golden = (folder: string) => ({
  test<Case>(file: string, title: string, run: (cases: Case) => string): void {
    const path = findGolden(join(folder, file));
    if (path === undefined) return skipped(title, `${folder}/${file}`);
    it(`${title} (${folder}/${file})`, () => {
      const ran = run(JSON.parse(readFileSync(path, 'utf8')) as Case);
      console.log(`golden ${folder}/${file}: ${ran}`);
    });
  },
  testEach<Case>(sub: string, title: string, run: (cases: readonly [string, Case][]) => string): void {
    const path = findGolden(join(folder, sub));
    if (path === undefined) return skipped(title, `${folder}/${sub}`);
    it(`${title} (${folder}/${sub})`, () => {
      const names = readdirSync(path).filter((name) => name.endsWith('.json'));
      const ran = run(
        names.sort().map((name) => [name, JSON.parse(readFileSync(join(path, name), 'utf8')) as Case]),
      );
      console.log(`golden ${folder}/${sub}: ${ran}`);
    });
  },
});
