// Tests the light client: single steps, the heights it asks for, walking back, and what a lying or silent
// provider gets.

import { describe, expect, it } from 'vitest';
import { headerHash } from '../../../protocol/hashes.ts';
import { walkFromBlock, walkFromTrust, walkNow } from '../../../protocol/light/skipping.ts';
import {
  TRUST_LEVEL_DEFAULT,
  type TrustOptions,
  validateTrustLevel,
  verifyAdjacent,
  verifyBackwards,
  verifyNonAdjacent,
  verifyStep,
} from '../../../protocol/light/verify.ts';
import { isRefusal } from '../../../protocol/refusal.ts';
import { verifySignature } from '../../../protocol/signatures.ts';
import type { Header, LightBlock } from '../../../protocol/types.ts';
import { CHAIN_ID, chainOf, okay, person, SECOND_NS, setOf } from '../rules/people.ts';

const why = (verdict: unknown): string => (isRefusal(verdict) ? verdict.refused : 'ok');

// One of three leaves and another comes at each height from 3 to 14: three heights apart, nobody is left.
const links = chainOf([10n, 10n, 10n], 20, (height) =>
  height < 3n || height > 14n
    ? {}
    : {
        validatorUpdates: [
          { publicKey: person(Number(height) - 3).publicKey, power: 0n },
          { publicKey: person(Number(height)).publicKey, power: 10n },
        ],
      },
);
const lightBlocks = (chain: typeof links): Map<bigint, LightBlock> =>
  new Map(
    chain.map(({ block, commit, before }) => [
      block.header.height,
      { signedHeader: { header: block.header, commit }, validatorSet: before.validators },
    ]),
  );
const blocks = lightBlocks(links);
/** Another chain of the same name. */
const others = lightBlocks(chainOf([10n, 10n, 10n, 10n], 20));
const at = (height: number): LightBlock => blocks.get(BigInt(height))!;
const now = at(20).signedHeader.header.timeNs + SECOND_NS;
const options: TrustOptions & { chainId: string } = {
  chainId: CHAIN_ID,
  level: TRUST_LEVEL_DEFAULT,
  periodNs: 1000n * SECOND_NS,
  clockDriftNs: SECOND_NS,
  nowNs: now,
};

const step = (from: number, to: LightBlock, more: Partial<TrustOptions> = {}): string => {
  const trusted = at(from);
  const given = { ...options, ...more };
  return why(
    verifyStep(
      trusted.signedHeader,
      trusted.validatorSet,
      to.signedHeader,
      to.validatorSet,
      given,
      verifySignature,
    ),
  );
};

const bent = (height: number, change: Partial<Header>): LightBlock => {
  const { signedHeader, validatorSet } = at(height);
  return { signedHeader: { ...signedHeader, header: { ...signedHeader.header, ...change } }, validatorSet };
};

describe('a step', () => {
  it('is trusted over any gap that enough signers bridge', () => {
    expect(step(1, at(2))).toBe('ok');
    expect(step(1, at(5))).toBe('ok');
    expect(step(1, at(9))).toBe('cannot-be-trusted');
    expect(step(8, at(9))).toBe('ok');
  });

  it('needs more signers at a higher level', () => {
    expect(step(3, at(5), { level: { numerator: 2n, denominator: 3n } })).toBe('cannot-be-trusted');
    expect(step(3, at(5), { level: { numerator: 1n, denominator: 3n } })).toBe('ok');
  });

  it('expires with the header it starts from', () => {
    const age = now - at(1).signedHeader.header.timeNs;
    expect(step(1, at(2), { periodNs: age })).toBe('expired');
    expect(step(1, at(2), { periodNs: age + 1n })).toBe('ok');
  });

  it('is invalid from the future, backwards, or to a header that was bent', () => {
    const { timeNs } = at(5).signedHeader.header;
    expect(step(4, at(5), { nowNs: timeNs, clockDriftNs: 0n })).toBe('invalid');
    expect(step(4, at(5), { nowNs: timeNs, clockDriftNs: 1n })).toBe('ok');
    expect(step(5, at(4))).toBe('invalid');
    expect(step(5, at(5))).toBe('invalid');
    expect(step(4, bent(5, { appHash: Uint8Array.of(1) }))).toBe('invalid');
    expect(step(4, bent(5, { chainId: 'other' }))).toBe('invalid');
    expect(step(4, { ...at(5), validatorSet: at(9).validatorSet })).toBe('invalid');
  });

  it('to the next height is signed by those whom the trusted header names', () => {
    expect(step(4, others.get(5n)!)).toBe('invalid');
    expect(step(4, at(5))).toBe('ok');
  });

  it('must be of its kind', () => {
    const from = at(4);
    const [near, far] = [at(5), at(6)];
    const adjacent = verifyAdjacent(
      from.signedHeader,
      far.signedHeader,
      far.validatorSet,
      options,
      verifySignature,
    );
    const apart = verifyNonAdjacent(
      from.signedHeader,
      from.validatorSet,
      near.signedHeader,
      near.validatorSet,
      options,
      verifySignature,
    );
    expect([why(adjacent), why(apart)]).toEqual(['invalid', 'invalid']);
  });

  it('knows which levels make sense', () => {
    const level = (numerator: bigint, denominator: bigint) =>
      why(validateTrustLevel({ numerator, denominator }));
    expect([level(1n, 3n), level(2n, 3n), level(1n, 1n)]).toEqual(['ok', 'ok', 'ok']);
    expect([level(1n, 4n), level(4n, 3n), level(0n, 0n)]).toEqual(Array(3).fill('trust-level'));
  });
});

/** Other checks would refuse most of these, too, for another reason. */
describe('each refusal has its own reason', () => {
  const because = (verdict: unknown): string => (isRefusal(verdict) ? verdict.because : 'ok');

  it('a header that is not the next one, not later, or of another set', () => {
    const from = at(4).signedHeader;
    const sameTime = { ...from, header: { ...from.header, timeNs: at(5).signedHeader.header.timeNs } };
    const next = (trusted: typeof from, { signedHeader }: LightBlock, { validatorSet }: LightBlock): string =>
      because(verifyAdjacent(trusted, signedHeader, validatorSet, options, verifySignature));
    expect(next(from, at(5), at(5))).toBe('ok');
    expect(next(from, at(6), at(6))).toBe('headers must be adjacent in height');
    expect(next(sameTime, at(5), at(5))).toBe('expected new header time to be after old header time');
    expect(next(from, at(5), at(9))).toMatch('to match those that were supplied');
    const later = at(6).signedHeader;
    const early = { ...later, header: { ...later.header, timeNs: at(3).signedHeader.header.timeNs } };
    const { signedHeader, validatorSet } = at(5);
    const to = verifyNonAdjacent(early, validatorSet, signedHeader, validatorSet, options, verifySignature);
    expect(because(to)).toMatch('to be greater than one of old header 6');
  });

  it('a header before that is of another chain, not older, or not the one named', () => {
    const [before, trusted] = [at(3).signedHeader.header, at(4).signedHeader.header];
    const back = (header: Header): string => because(verifyBackwards(header, trusted));
    expect(back(before)).toBe('ok');
    expect(back({ ...before, chainId: 'x'.repeat(51) })).toMatch('chain');
    expect(back({ ...before, chainId: 'x'.repeat(51) })).not.toBe('header belongs to another chain');
    expect(back({ ...before, chainId: 'other' })).toBe('header belongs to another chain');
    expect(back({ ...before, timeNs: trusted.timeNs })).toMatch('before new header time');
    expect(back(at(2).signedHeader.header)).toMatch('does not match');
  });

  it('a level that makes no sense, and a beginning that nobody signed', () => {
    const block = at(1);
    const { header, commit } = block.signedHeader;
    const signatures = commit.signatures.map((each) => ({ ...each, signature: new Uint8Array(64) }));
    const unsigned = { ...block, signedHeader: { header, commit: { ...commit, signatures } } };
    expect(walk(1, 1, () => unsigned).verdict).toBe('invalid');
    const level = { numerator: 1n, denominator: 4n };
    const trust = { height: 1n, hash: headerHash(header) };
    const asked = walkFromTrust(trust, 1n, { ...options, level }, verifySignature).next();
    expect(because(asked.value)).toMatch('trust');
    for (const periodNs of [0n, -1n]) {
      const never = walkFromTrust(trust, 1n, { ...options, periodNs }, verifySignature).next();
      expect(because(never.value)).toBe(`trusting period must be greater than zero, not ${periodNs}`);
    }
  });
});

/** What a walk came to, and what it asked for. */
function walk(
  from: number,
  to: number,
  fetch: (height: bigint) => LightBlock | null = (height) => blocks.get(height) ?? null,
  hash = headerHash(at(from).signedHeader.header),
) {
  const fetched: number[] = [];
  const result = walkNow(
    walkFromTrust({ height: BigInt(from), hash }, BigInt(to), options, verifySignature),
    (height) => {
      fetched.push(Number(height));
      return fetch(height);
    },
  );
  const path = isRefusal(result) ? [] : result.path.map((block) => Number(block.signedHeader.header.height));
  return { verdict: why(result), fetched, path };
}

describe('a light client', () => {
  it('goes straight where it can, and bisects above the middle where it cannot', () => {
    expect(walk(1, 5)).toEqual({ verdict: 'ok', fetched: [1, 5], path: [1, 5] });
    const far = walk(1, 20);
    expect(far.verdict).toBe('ok');
    expect(far.fetched.slice(0, 3)).toEqual([1, 20, 11]); // 1 + 19 * 9 / 16
    expect(new Set(far.fetched).size).toBe(far.fetched.length); // nothing is asked for twice
    expect(far.path[0]).toBe(1);
    expect(far.path.at(-1)).toBe(20);
  });

  it('stays where it is when trusted and target are one', () => {
    expect(walk(7, 7)).toEqual({ verdict: 'ok', fetched: [7], path: [7] });
  });

  it('walks back by hashes', () => {
    expect(walk(6, 3)).toEqual({ verdict: 'ok', fetched: [6, 3, 5, 4, 3], path: [6, 5, 4, 3] });
    const lying = (height: bigint) =>
      height === 4n ? bent(4, { appHash: Uint8Array.of(1) }) : blocks.get(height)!;
    expect(walk(6, 3, lying).verdict).toBe('invalid');
    const swapping = (height: bigint) => at(height === 3n ? 4 : Number(height));
    expect(walk(6, 3, swapping).verdict).toBe('invalid');
    const elsewhere = (height: bigint) => (height < 5n ? others : blocks).get(height)!;
    expect(walk(6, 3, elsewhere)).toEqual({ verdict: 'invalid', fetched: [6, 3, 5, 4], path: [] });
  });

  it('asks for nothing more when it cannot go on', () => {
    const fetched: bigint[] = [];
    const trust = { height: 1n, hash: headerHash(at(1).signedHeader.header) };
    const early = { ...options, nowNs: at(20).signedHeader.header.timeNs, clockDriftNs: 0n };
    const walking = walkFromTrust(trust, 20n, early, verifySignature);
    const result = walkNow(walking, (height) => {
      fetched.push(height);
      return fetched.length < 9 ? blocks.get(height)! : null; // or it would ask for ever
    });
    expect([why(result), fetched]).toEqual(['invalid', [1n, 20n]]);
  });

  it('does not start from a block that the user did not mean', () => {
    const other = headerHash(at(2).signedHeader.header);
    expect(walk(1, 5, undefined, other)).toEqual({ verdict: 'invalid', fetched: [1], path: [] });
  });

  it('stops at a bad block on its path, and is not told of one beside it', () => {
    const path = walk(1, 20).path;
    const lies = (bad: number) => (height: bigint) =>
      Number(height) === bad ? bent(bad, { appHash: Uint8Array.of(1) }) : blocks.get(height)!;
    for (const bad of path) expect(walk(1, 20, lies(bad)).verdict).toBe('invalid');
    const beside = [...blocks.keys()].map(Number).filter((height) => !walk(1, 20).fetched.includes(height));
    for (const bad of beside) expect(walk(1, 20, lies(bad)).verdict).toBe('ok');
  });

  it('takes no block from a provider that does not hold together', () => {
    const swapped = at(3).validatorSet.validators.map((one) => ({ ...one, address: person(15).address }));
    const strange = [at(8).validatorSet, setOf(), { ...at(3).validatorSet, validators: swapped }];
    for (const validatorSet of strange) {
      expect(
        walk(1, 3, (height) => ({ ...at(Number(height)), ...(height === 3n && { validatorSet }) })),
      ).toEqual({
        verdict: 'invalid',
        fetched: [1, 3],
        path: [],
      });
    }
  });

  it('says that nothing is there, or that nothing nearer is', () => {
    expect(walk(1, 5, (height) => (height === 5n ? null : blocks.get(height)!)).verdict).toBe('no-block');
    expect(walk(1, 20, (height) => (height === 11n ? null : blocks.get(height)!)).verdict).toBe(
      'cannot-be-trusted',
    );
  });

  it('can go on from a block it holds', () => {
    const result = okay(
      walkNow(walkFromBlock(at(1), 5n, options, verifySignature), (height) => blocks.get(height) ?? null),
    );
    expect(result.path.length).toBe(2);
    const there = okay(walkNow(walkFromBlock(at(5), 5n, options, verifySignature), () => null));
    expect(there.path).toEqual([at(5)]);
  });
});
