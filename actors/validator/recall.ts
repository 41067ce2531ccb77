// Blocks of our own past that evidence needs and memory does not hold: read from the store, where the block lies, or what outlived it.

import { blockKey, pastKey } from '../../machines/chain/keys.ts';
import { heightsNeeded } from '../../machines/evidence/pool.ts';
import { isRefusal, unreachable } from '../../protocol/refusal.ts';
import type { Commit, Evidence, Header } from '../../protocol/types.ts';
import {
  decodeBlock,
  decodeCommit,
  decodeHeader,
  encodeCommit,
  encodeHeader,
} from '../../protocol/wire/index.ts';
import type { KeyValue } from '../turn.ts';
import type { Reading, ValidatorState } from './state.ts';

/** The first block of our past that this evidence needs and memory does not hold; null: nothing is missing. */
export function missingFor(v: ValidatorState, evidence: Evidence): bigint | null {
  for (const height of heightsNeeded(evidence)) {
    if (height < v.config.genesis.initialHeight || height > v.chain.lastBlockHeight) continue;
    if (!v.history.isRecalled(height)) return height;
  }
  return null;
}

export const isToRecall = (v: ValidatorState, evidence: Evidence): boolean =>
  missingFor(v, evidence) !== null;

/** Reads a block of our past that this evidence needs and memory does not hold. False: nothing is missing. */
export function recall(v: ValidatorState, list: readonly Evidence[]): boolean {
  for (const evidence of list) {
    const height = missingFor(v, evidence);
    if (height === null) continue;
    readForEvidence(v, height);
    return true;
  }
  return false;
}

/** The block, or what outlives it where the application let it go. */
export function readForEvidence(v: ValidatorState, height: bigint): void {
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
  // Copies: what was decoded is views on the bytes of the whole block.
  if (block && !isRefusal(block))
    v.history.recall(ownHeader(block.header), block.lastCommit && ownCommit(block.lastCommit));
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

function ownHeader(header: Header): Header {
  const copy = decodeHeader(encodeHeader(header));
  return isRefusal(copy) ? unreachable('what was encoded decodes') : copy;
}

function ownCommit(commit: Commit): Commit {
  const copy = decodeCommit(encodeCommit(commit));
  return isRefusal(copy) ? unreachable('what was encoded decodes') : copy;
}
