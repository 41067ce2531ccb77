// Blocks of our own past that evidence needs and memory does not hold: read from the store, where the block lies, or what outlived it.

import { blockKey, pastKey } from '../../machines/chain/keys.ts';
import { heightsNeeded } from '../../machines/evidence/pool.ts';
import { isRefusal } from '../../protocol/refusal.ts';
import type { Evidence } from '../../protocol/types.ts';
import { decodeBlock } from '../../protocol/wire/index.ts';
import type { KeyValue } from '../turn.ts';
import type { Reading, ValidatorState } from './state.ts';

/** Reads a block of our past that this evidence needs and memory does not hold. False: nothing is missing. */
export function recall(v: ValidatorState, list: readonly Evidence[]): boolean {
  for (const evidence of list) {
    for (const height of heightsNeeded(evidence)) {
      if (height < v.config.genesis.initialHeight || height > v.chain.lastBlockHeight) continue;
      if (v.history.isRecalled(height)) continue;
      readForEvidence(v, height);
      return true;
    }
  }
  return false;
}

/** The block, or what outlives it where the application let it go. */
function readForEvidence(v: ValidatorState, height: bigint): void {
  const isPast = height < v.store.base;
  const key = isPast ? pastKey : blockKey;
  v.load({ for: 'evidence', height, isPast }, key(height), key(height + 1n), 1);
}

export function onReadForEvidence(
  v: ValidatorState,
  { height, isPast }: Extract<Reading, { for: 'evidence' }>,
  found: readonly KeyValue[],
): void {
  const value = found[0]?.value;
  const block = value ? decodeBlock(value) : null;
  if (block && !isRefusal(block)) v.history.recall(block.header, block.lastCommit);
  else if (!isPast && height < v.store.base)
    return readForEvidence(v, height); // it went while we read
  else if (isPast) v.history.recallNothing(height);
  else {
    v.halt(`block ${height} is missing or broken in the store, and evidence needs it. Resync this node`);
    return;
  }
  if (v.mode !== 'consensus') return;
  for (const entry of v.consensus.blocks.all()) if (entry.rules === 'reading') entry.rules = 'unknown';
}
