// Tests the bounds of consensus parameters and the room they leave for data.

import { describe, expect, it } from 'vitest';
import {
  blockBytesMax,
  DEFAULT_PARAMS,
  updateParams,
  validateParams,
  voteExtensionsEnabled,
} from '../../../protocol/rules/params.ts';
import { maxDataBytes, validateUpdates } from '../../../protocol/rules/state.ts';
import type { ConsensusParamsUpdate } from '../../../protocol/types.ts';
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
});
