// A new life's mempool is reminded of what was committed lately. It has forgotten, and a peer that is behind may still offer it: without a nonce the
// application would execute it twice. (CometBFT leaves this to applications.) What failed may come again, so the results are read with the blocks.

import { blockKey, heightOfKey, responseKey } from '../../machines/chain/keys.ts';
import { isRefusal } from '../../protocol/refusal.ts';
import { decodeBlock, decodeResponseFinalizeBlock } from '../../protocol/wire/index.ts';
import type { KeyValue } from '../turn.ts';
import { tellMempool } from './execute.ts';
import type { Outcomes, Reading, ValidatorState } from './state.ts';

/** Blocks whose transactions the mempool is reminded of at a start. */
const BLOCKS_REMINDED = 64n;
/** Of how much at once: a turn is hashed and recorded whole, and blocks may be large. */
const BYTES_REMINDED = 16 * 1024 * 1024;

type RecentBlock = Extract<Reading, { for: 'recent-block' }>;
type RecentResults = Extract<Reading, { for: 'recent-results' }>;

export const NOTHING_UNTOLD: Outcomes = { txs: [], codes: [] };

export function remindMempool(v: ValidatorState): void {
  const next = v.chain.lastBlockHeight + 1n;
  readBlock(v, next > BLOCKS_REMINDED ? next - BLOCKS_REMINDED : 0n, NOTHING_UNTOLD, 0);
}

/** The next block from this height on, while these outcomes wait to be told. */
function readBlock(v: ValidatorState, from: bigint, untold: Outcomes, bytes: number): void {
  v.load({ for: 'recent-block', untold, bytes }, blockKey(from), blockKey(v.chain.lastBlockHeight + 1n), 1);
}

/** @param whenDone goes on when there are no more, with what is left to tell. */
export function onRecentBlock(
  v: ValidatorState,
  { untold, bytes }: RecentBlock,
  found: readonly KeyValue[],
  whenDone: (v: ValidatorState, untold: Outcomes) => void,
): void {
  const [next] = found;
  if (!next) return whenDone(v, untold);
  const height = heightOfKey(next.key);
  const block = decodeBlock(next.value);
  if (!isRefusal(block)) v.history.addBlock(block);
  const txs = isRefusal(block) ? [] : block.txs;
  const sum = bytes + next.value.length;
  if (txs.length === 0) readOn(v, height, untold, sum);
  else
    v.load(
      { for: 'recent-results', height, txs, untold, bytes: sum },
      responseKey(height),
      responseKey(height + 1n),
      1,
    );
}

export function onRecentResults(
  v: ValidatorState,
  { height, txs, untold, bytes }: RecentResults,
  found: readonly KeyValue[],
): void {
  const value = found[0]?.value;
  // The application let the block go while we read: of those that went before it we know nothing either.
  if (!value && height < v.store.base) return readOn(v, height, untold, bytes);
  const response = value ? decodeResponseFinalizeBlock(value) : null;
  const results = response && !isRefusal(response) ? response.txResults : [];
  // What nobody knows the result of may have been executed: not a second time.
  const codes = txs.map((_, i) => results[i]?.code ?? 0);
  const both: Outcomes = { txs: [...untold.txs, ...txs], codes: [...untold.codes, ...codes] };
  readOn(v, height, both, bytes + (value?.length ?? 0));
}

/** In few messages: each makes the mempool check again whatever it holds by then. */
function readOn(v: ValidatorState, height: bigint, untold: Outcomes, bytes: number): void {
  if (bytes < BYTES_REMINDED) return readBlock(v, height + 1n, untold, bytes);
  tellMempool(v, v.chain.lastBlockHeight, untold);
  readBlock(v, height + 1n, NOTHING_UNTOLD, 0);
}
