// What memory does not hold of our own past, and evidence or a replay needs: blocks are read from the store, where the block lies, or what outlived it; and validators.

import { blockKey, pastKey, validatorsKey } from '../../machines/chain/keys.ts';
import { blocksNeeded } from '../../machines/evidence/pool.ts';
import { isRefusal } from '../../protocol/refusal.ts';
import { evidenceHeight } from '../../protocol/rules/evidence.ts';
import type { Evidence } from '../../protocol/types.ts';
import { decodeBlock, decodeValidatorSet } from '../../protocol/wire/index.ts';
import type { KeyValue } from '../turn.ts';
import type { Missing, Reading, ValidatorState } from './state.ts';

/** The first of our past that this evidence needs and memory does not hold; null: nothing is missing. */
export function missingFor(v: ValidatorState, evidence: Evidence): Missing | null {
  const isPast = (height: bigint): boolean =>
    height >= v.config.genesis.initialHeight && height <= v.chain.lastBlockHeight;
  for (const height of blocksNeeded(evidence))
    if (isPast(height) && !v.history.isRecalled(height)) return { what: 'block', height };
  const height = evidenceHeight(evidence);
  return isPast(height) && !v.history.isSetRecalled(height) ? { what: 'validators', height } : null;
}

export const isToRecall = (v: ValidatorState, evidence: Evidence): boolean =>
  missingFor(v, evidence) !== null;

/** Reads of our past what this evidence needs and memory does not hold. False: nothing is missing. */
export function recall(v: ValidatorState, list: readonly Evidence[]): boolean {
  for (const evidence of list) {
    const missing = missingFor(v, evidence);
    if (!missing) continue;
    readForEvidence(v, missing);
    return true;
  }
  return false;
}

export function readForEvidence(v: ValidatorState, { what, height }: Missing): void {
  if (what === 'block') readBlock(v, height);
  else readValidators(v, { for: 'evidence-validators', height }, height);
}

/** They stand under the height from which they hold. */
export function readValidators(v: ValidatorState, reading: Reading, height: bigint): void {
  v.load(reading, validatorsKey(0n), validatorsKey(height + 1n), 1, 'last');
}

/** The block, or what outlives it where the application let it go. */
function readBlock(v: ValidatorState, height: bigint): void {
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
  if (block && !isRefusal(block)) v.history.recall(block);
  else if (!isPast && height < v.store.base)
    return readBlock(v, height); // it went while we read
  else if (isPast) v.history.recallNothing(height);
  else {
    v.halt(`block ${height} is missing or broken in the store, and evidence needs it. Resync this node`);
    return;
  }
  judgeAgain(v);
}

export function onValidatorsRead(v: ValidatorState, height: bigint, found: readonly KeyValue[]): void {
  if (recallValidators(v, height, found[0]?.value)) judgeAgain(v);
}

/** False: they do not decode, and the node has halted. */
export function recallValidators(v: ValidatorState, height: bigint, value: Uint8Array | undefined): boolean {
  const set = value ? decodeValidatorSet(value) : null;
  if (isRefusal(set)) {
    v.halt(`the validators of height ${height} are broken in the store. Resync this node`);
    return false;
  }
  v.history.recallSet(height, set);
  return true;
}

/** What was read for evidence that is judged: a peer may name all of our past, one height after the other. A block keeps what was read for it. */
export function forgetRead(v: ValidatorState): void {
  for (const { block, rules } of v.consensus.blocks.all())
    if (block && block.evidence.length > 0 && (rules === 'reading' || rules === 'unknown')) return;
  v.history.forgetRecalled();
}

function judgeAgain(v: ValidatorState): void {
  if (v.mode !== 'consensus') return;
  for (const entry of v.consensus.blocks.all()) if (entry.rules === 'reading') entry.rules = 'unknown';
}
