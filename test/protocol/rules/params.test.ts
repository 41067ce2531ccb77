// Tests the bounds of consensus parameters and the room they leave for data.

import { describe, expect, it } from 'vitest';
import { maxDataBytes, roomInBlock } from '../../../protocol/rules/block-room.ts';
import {
  blockBytesMax,
  DEFAULT_PARAMS,
  updateParams,
  validateParams,
  voteExtensionsEnabled,
} from '../../../protocol/rules/params.ts';
import { validateUpdates } from '../../../protocol/rules/state.ts';
import { type ConsensusParamsUpdate, FLAG_COMMIT } from '../../../protocol/types.ts';
import { encodeCommit } from '../../../protocol/wire/index.ts';
import { person } from './people.ts';

const block = (maxBytes: bigint, maxGas = -1n): ConsensusParamsUpdate => ({ block: { maxBytes, maxGas } });
const evidence = (maxAgeBlocks: bigint, maxAgeNs: bigint, maxBytes: bigint): ConsensusParamsUpdate => ({
  evidence: { maxAgeBlocks, maxAgeNs, maxBytes },
});
const keys = (...publicKeyTypes: string[]): ConsensusParamsUpdate => ({ validator: { publicKeyTypes } });
const extensions = (voteExtensionsEnableHeight: bigint): ConsensusParamsUpdate => ({
  abci: { voteExtensionsEnableHeight },
});

describe('parameters', () => {
  const rows: readonly [string, ConsensusParamsUpdate, string | null][] = [
    ['defaults', {}, null],
    ['no block', block(0n), 'cannot be 0'],
    ['negative block', block(-2n), '-1 or greater'],
    ['any block', block(-1n), null],
    ['largest block', block(104_857_600n), null],
    ['block beyond', block(104_857_601n), 'too big'],
    ['gas', block(22_020_096n, -2n), 'MaxGas'],
    ['evidence age in blocks', evidence(0n, 1n, 0n), 'MaxAgeNumBlocks'],
    ['evidence age in time', evidence(1n, 0n, 0n), 'MaxAgeDuration'],
    ['evidence age in blocks, more than are counted', evidence(2n ** 63n, 1n, 0n), 'MaxAgeNumBlocks is too'],
    ['gas, more than is counted', block(1000n, 2n ** 63n), 'MaxGas is too big'],
    ['evidence age in time, 292 years', evidence(1n, 9_223_372_036_854_775_807n, 0n), null],
    [
      'evidence age in time, longer',
      evidence(1n, 9_223_372_036_854_775_808n, 0n),
      'MaxAgeDuration is too big',
    ],
    ['evidence size', evidence(1n, 1n, -1n), 'non negative'],
    ['evidence as large as a block', evidence(1n, 1n, 22_020_096n), null],
    ['evidence larger than a block', evidence(1n, 1n, 22_020_097n), 'greater than upper bound'],
    ['no key types', keys(), 'must be greater than 0'],
    ['both key types', keys('ed25519', 'secp256k1'), null],
    ['unknown key type', keys('ed25519', 'rsa'), 'PubKeyTypes[1], rsa, is an unknown pubkey type'],
    ['negative extension height', extensions(-1n), 'cannot be negative'],
  ];
  for (const [name, update, because] of rows) {
    it(`${because === null ? 'may be' : 'may not be'}: ${name}`, () => {
      const refusal = validateParams(updateParams(DEFAULT_PARAMS, update));
      if (because === null) expect(refusal).toBeNull();
      else expect(refusal?.because).toContain(because);
    });
  }

  it('change by whole sub-messages', () => {
    const changed = updateParams(DEFAULT_PARAMS, block(1000n, 7n));
    expect(changed).toEqual({ ...DEFAULT_PARAMS, block: { maxBytes: 1000n, maxGas: 7n } });
    expect(updateParams(DEFAULT_PARAMS, undefined)).toBe(DEFAULT_PARAMS);
    expect(blockBytesMax(updateParams(DEFAULT_PARAMS, block(-1n)))).toBe(104_857_600n);
  });

  it('enable vote extensions from their height on', () => {
    const on = updateParams(DEFAULT_PARAMS, extensions(5n));
    expect([4n, 5n, 6n].map((height) => voteExtensionsEnabled(on, height))).toEqual([false, true, true]);
    expect(voteExtensionsEnabled(DEFAULT_PARAMS, 5n)).toBe(false);
  });
});

describe('room for data', () => {
  it('is what header, commit and evidence leave', () => {
    expect(maxDataBytes(22_020_096n, 0n, 1)).toBe(22_016_007n); // recorded from a CometBFT node
    const reserved = 11n + 626n + 94n + 3358n * 4n;
    expect(maxDataBytes(reserved + 100n, 100n, 4)).toBe(0n);
    expect(maxDataBytes(reserved + 100n, 101n, 4)).toMatchObject({ refused: 'block-too-small' });
  });

  it('is less where the commit in it is of many more validators than its own height has', () => {
    const [least, sig] = [11n + 626n + 94n, 111n];
    expect(roomInBlock(22_020_096n, 4, 4)).toBe(maxDataBytes(22_020_096n, 0n, 4));
    expect(roomInBlock(100_000n, 1, 30)).toBe(maxDataBytes(100_000n, 0n, 1)); // what is reserved for one is enough
    expect(roomInBlock(100_000n, 1, 40)).toBe(100_000n - least - 40n * sig);
    expect(roomInBlock(least + 40n * sig, 1, 40)).toBe(0n);
    expect(roomInBlock(least + 40n * sig - 1n, 1, 40)).toMatchObject({ refused: 'commit-too-large' });
    expect(roomInBlock(least, 1, 40)).toMatchObject({ refused: 'block-too-small' });
  });

  it('has room for a commit of the largest signatures that there are', () => {
    const most = {
      flag: FLAG_COMMIT,
      validatorAddress: new Uint8Array(20).fill(255),
      timeNs: 253_402_300_799_999_999_999n,
      signature: new Uint8Array(64).fill(255),
    };
    const hash = new Uint8Array(32).fill(255);
    const blockId = { hash, parts: { total: 0xffff_ffff, hash } };
    const bytesOf = (signers: number): number =>
      encodeCommit({
        height: 2n ** 62n,
        round: 0x7fff_ffff,
        blockId,
        signatures: Array.from({ length: signers }, () => most),
      }).length;
    expect(bytesOf(1) - bytesOf(0)).toBeLessThanOrEqual(111);
    expect(bytesOf(0)).toBeLessThanOrEqual(94);
  });
});

describe('validator updates', () => {
  const { publicKey } = person(0);
  const secp = { type: 'secp256k1', bytes: new Uint8Array(33).fill(2) } as const;
  it('need a power, and a key type in force unless they remove', () => {
    expect(validateUpdates([{ publicKey, power: 5n }], DEFAULT_PARAMS)).toBeNull();
    expect(validateUpdates([{ publicKey, power: -1n }], DEFAULT_PARAMS)).toMatchObject({
      refused: 'update-negative-power',
    });
    expect(validateUpdates([{ publicKey: secp, power: 1n }], DEFAULT_PARAMS)).toMatchObject({
      refused: 'update-key-type',
    });
    expect(validateUpdates([{ publicKey: secp, power: 0n }], DEFAULT_PARAMS)).toBeNull();
  });

  it('need keys of their kind’s size, also where they remove', () => {
    for (const [type, size] of [
      ['ed25519', 31],
      ['ed25519', 33],
      ['secp256k1', 32],
    ] as const)
      for (const power of [0n, 1n]) {
        const odd = { publicKey: { type, bytes: new Uint8Array(size) }, power };
        expect(validateUpdates([odd], DEFAULT_PARAMS)).toMatchObject({ refused: 'update-key-size' });
      }
  });
});
