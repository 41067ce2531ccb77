// Tests what commits prove: each function against damage, and the order in which two faults are found.

import { describe, expect, it, vi } from 'vitest';
import { isRefusal } from '../../../protocol/refusal.ts';
import {
  TRUST_LEVEL_DEFAULT,
  verifyCommit,
  verifyCommitLight,
  verifyCommitLightAllSignatures,
  verifyCommitLightTrusting,
  verifyCommitLightTrustingAllSignatures,
} from '../../../protocol/rules/commit.ts';
import { makeValidatorSet } from '../../../protocol/rules/validator-set.ts';
import { verifySignature } from '../../../protocol/signatures.ts';
import {
  type Commit,
  type CommitSig,
  FLAG_ABSENT,
  FLAG_COMMIT,
  FLAG_NIL,
  type ValidatorSet,
} from '../../../protocol/types.ts';
import { CHAIN_ID, commitOf, members, okay, setOf, someBlockId } from './people.ts';

const blockId = someBlockId('block');
const set = setOf(10n, 10n, 10n, 10n);

const why = (verdict: unknown): string => (isRefusal(verdict) ? verdict.refused : 'ok');

/**
 * Verdicts of: the commit of a block, for light clients, all its signatures, trusting a third, trusting and
 * all.
 */
const verdicts = (commit: Commit, by: ValidatorSet = set, height = 7n): string[] =>
  [
    verifyCommit(CHAIN_ID, by, blockId, height, commit, verifySignature),
    verifyCommitLight(CHAIN_ID, by, blockId, height, commit, verifySignature),
    verifyCommitLightAllSignatures(CHAIN_ID, by, blockId, height, commit, verifySignature),
    verifyCommitLightTrusting(CHAIN_ID, by, commit, TRUST_LEVEL_DEFAULT, verifySignature),
    verifyCommitLightTrustingAllSignatures(CHAIN_ID, by, commit, TRUST_LEVEL_DEFAULT, verifySignature),
  ].map(why);

const all = (verdict: string): string[] => [verdict, verdict, verdict, verdict, verdict];

const bend = (commit: Commit, index: number, change: Partial<CommitSig>): Commit => ({
  ...commit,
  signatures: commit.signatures.map((one, i) => (i === index ? { ...one, ...change } : one)),
});

const good = commitOf(set, blockId, 7n);
const badSignature = new Uint8Array(64).fill(9);

describe('a commit', () => {
  it('holds when all signed', () => {
    expect(verdicts(good)).toEqual(all('ok'));
  });

  it('holds with one absent or for nil, not with two: votes for nil do not count', () => {
    for (const flag of [FLAG_ABSENT, FLAG_NIL]) {
      const one = commitOf(set, blockId, 7n, { flags: [FLAG_COMMIT, flag] });
      expect(verdicts(one)).toEqual(all('ok'));
      const two = commitOf(set, blockId, 7n, { flags: [flag, flag] });
      const few = 'not-enough-power';
      expect(verdicts(two)).toEqual([few, few, few, 'ok', 'ok']);
      const three = commitOf(set, blockId, 7n, { flags: [flag, flag, flag] });
      expect(verdicts(three)).toEqual(all(few));
    }
  });

  it('says how much power it has and needs', () => {
    const two = commitOf(set, blockId, 7n, { flags: [FLAG_NIL, FLAG_ABSENT] });
    const verdict = verifyCommit(CHAIN_ID, set, blockId, 7n, two, verifySignature);
    expect(verdict).toMatchObject({ refused: 'not-enough-power', got: 20n, needed: 26n });
  });

  it('is refused with a place too few or too many: no index beyond the set is ever looked at', () => {
    const extra: Commit = { ...good, signatures: [...good.signatures, good.signatures[0]!] };
    expect(verdicts(extra).slice(0, 3)).toEqual(Array(3).fill('commit-size'));
    const short: Commit = { ...good, signatures: good.signatures.slice(1) };
    expect(verdicts(short).slice(0, 3)).toEqual(Array(3).fill('commit-size'));
  });

  it('is refused for another height, block or chain', () => {
    expect(verdicts(good, set, 8n).slice(0, 3)).toEqual(Array(3).fill('commit-height'));
    expect(verdicts({ ...good, blockId: someBlockId('other') })).toEqual([
      ...Array(3).fill('commit-block-id'),
      ...Array(2).fill('wrong-signature'),
    ]);
    expect(verdicts(commitOf(set, blockId, 7n, { chainId: 'elsewhere' }))).toEqual(all('wrong-signature'));
  });

  it('is read to the end or only as far as needed', () => {
    const last = bend(good, 3, { signature: badSignature });
    const wrong = 'wrong-signature';
    expect(verdicts(last)).toEqual([wrong, 'ok', wrong, 'ok', wrong]);
  });

  it('must not pass a bad vote for nil', () => {
    const nil = bend(commitOf(set, blockId, 7n, { flags: [FLAG_NIL] }), 0, { signature: badSignature });
    expect(verdicts(nil)).toEqual(['wrong-signature', 'ok', 'ok', 'ok', 'ok']);
    // A signature for the block that is passed off as one for nil, and the other way round.
    expect(verdicts(bend(good, 0, { flag: FLAG_NIL }))[0]).toBe('wrong-signature');
    const turned = bend(commitOf(set, blockId, 7n, { flags: [FLAG_NIL] }), 0, { flag: FLAG_COMMIT });
    expect(verdicts(turned)).toEqual(all('wrong-signature'));
  });

  it('must not hold flags that nobody knows', () => {
    expect(verdicts(bend(good, 0, { flag: 9 }))[0]).toBe('commit-signature-form');
  });

  it('must have signers in their places, and each once', () => {
    const [a, b, ...rest] = good.signatures;
    const swapped: Commit = { ...good, signatures: [b!, a!, ...rest] };
    expect(verdicts(swapped)).toEqual([...Array(3).fill('wrong-address'), 'ok', 'ok']);
    const twice: Commit = { ...good, signatures: [a!, a!, ...rest] };
    expect(verdicts(twice).slice(3)).toEqual(['double-vote', 'double-vote']);
  });

  it('is trusted by those who know a third of its signers', () => {
    const older = setOf(0n + 10n, 10n, 1n);
    expect(verdicts(good, older).slice(3)).toEqual(['ok', 'ok']);
    const strangers = okay(makeValidatorSet(members(Array(30).fill(1n)).slice(20)));
    expect(verdicts(good, strangers).slice(3)).toEqual(Array(2).fill('not-enough-power'));
  });
});

describe('of two faults', () => {
  const few = bend(commitOf(set, blockId, 7n, { flags: [FLAG_ABSENT, FLAG_ABSENT] }), 2, {
    signature: badSignature,
  });

  it('too little power is found first when signatures come in a batch, without verifying one', () => {
    const verify = vi.fn(verifySignature);
    expect(why(verifyCommit(CHAIN_ID, set, blockId, 7n, few, verify))).toBe('not-enough-power');
    expect(verify).not.toHaveBeenCalled();
  });

  it('a signature of a wrong length is found first, as it cannot join a batch', () => {
    const verify = vi.fn(verifySignature);
    for (const signature of [Uint8Array.of(1), new Uint8Array(65), new Uint8Array(0)]) {
      const short = bend(few, 2, { signature });
      expect(why(verifyCommit(CHAIN_ID, set, blockId, 7n, short, verify))).toBe('wrong-signature');
      const { signatures } = commitOf(set, blockId, 7n, { flags: Array(4).fill(FLAG_ABSENT) });
      const alone = bend({ ...good, signatures }, 1, { ...good.signatures[1], signature });
      expect(verdicts(alone)).toEqual(all('wrong-signature'));
      const stranger = bend(alone, 1, { validatorAddress: new Uint8Array(20) });
      expect(verdicts(stranger).slice(3)).toEqual(Array(2).fill('not-enough-power'));
    }
    expect(verify).not.toHaveBeenCalled();
  });

  it('a length is not looked at beyond the power that suffices', () => {
    const last = bend(good, 3, { signature: Uint8Array.of(1) });
    const wrong = 'wrong-signature';
    expect(verdicts(last)).toEqual([wrong, 'ok', wrong, 'ok', wrong]);
  });

  it('a wrong signature is found first when keys differ in kind', () => {
    const validators = set.validators.map((one, i) =>
      i === 3 ? { ...one, publicKey: { type: 'secp256k1' as const, bytes: new Uint8Array(33) } } : one,
    );
    expect(why(verifyCommit(CHAIN_ID, { ...set, validators }, blockId, 7n, few, verifySignature))).toBe(
      'wrong-signature',
    );
  });
});

describe('a trust level', () => {
  it('needs a denominator and a product within int64', () => {
    const at = (numerator: bigint, denominator: bigint) =>
      why(verifyCommitLightTrusting(CHAIN_ID, set, good, { numerator, denominator }, verifySignature));
    expect(at(1n, 0n)).toBe('trust-level');
    expect(at(1n << 62n, 1n << 62n)).toBe('trust-level');
    expect(at(2n, 3n)).toBe('ok');
    expect(at(1n, 1n)).toBe('not-enough-power');
  });
});
