// Blocks that the application lets go of. What evidence may still ask of them, header and last commit, outlives them until evidence of
// their height is too old (spec 11.1; CometBFT `BlockStore.PruneBlocks`).

import {
  blockKey,
  heightOfKey,
  pastKey,
  responseKey,
  STORE_RANGE_KEY,
  seenCommitKey,
  storeRange,
} from '../../machines/chain/keys.ts';
import { isRefusal } from '../../protocol/refusal.ts';
import { isExpired } from '../../protocol/rules/evidence.ts';
import type { TimeNs } from '../../protocol/types.ts';
import { decodeBlock, encodeBlock } from '../../protocol/wire/index.ts';
import { encodeWith } from '../../protocol/words.ts';
import { type KeyValue, put, remove, type Write } from '../turn.ts';
import type { ValidatorState } from './state.ts';

/** Blocks that go with one block that comes: catching up with a large retain height must not stall a turn. */
const BLOCKS_MAX = 16;

export class Pruning {
  /** The first block that the application still wants. */
  retain = 0n;
  /** One read of a kind at a time. */
  isPruning = false;
  isForgetting = false;
  /** Nothing that outlived its block is older. */
  oldest: { readonly height: bigint; readonly timeNs: TimeNs } = { height: 0n, timeNs: 0n };
}

/** After a commit: reads what may go, if anything may. Who lets go of what is not there yet has made a mistake, and nothing goes for it. */
export function prune(v: ValidatorState, retainHeight: bigint): void {
  const { pruning, store } = v;
  if (retainHeight > store.height)
    v.warn(
      `the application wants no block before ${retainHeight}, and the last is ${store.height}: all are kept`,
    );
  else if (retainHeight > pruning.retain) pruning.retain = retainHeight;
  const isWhole = store.base <= v.config.genesis.initialHeight;
  if (store.base === 0n || (pruning.retain === 0n && isWhole)) return;
  if (!pruning.isPruning && pruning.retain > store.base) {
    pruning.isPruning = true;
    v.load({ for: 'pruning' }, blockKey(store.base), blockKey(pruning.retain), BLOCKS_MAX);
  }
  if (!pruning.isForgetting && isOutOfDate(v, pruning.oldest.height, pruning.oldest.timeNs)) {
    pruning.isForgetting = true;
    v.load({ for: 'forgetting' }, pastKey(0n), pastKey(store.base), BLOCKS_MAX);
  }
}

const isOutOfDate = ({ chain }: ValidatorState, height: bigint, timeNs: TimeNs): boolean =>
  isExpired(chain.consensusParams, chain.lastBlockHeight - height, chain.lastBlockTimeNs - timeNs);

/** The oldest blocks, in their order: they go. */
export function onPruningRead(v: ValidatorState, found: readonly KeyValue[]): void {
  v.pruning.isPruning = false;
  const last = found.at(-1);
  if (!last) return;
  const writes: Write[] = [];
  for (const { key, value } of found) {
    const height = heightOfKey(key);
    for (const family of [blockKey, seenCommitKey, responseKey]) writes.push(remove(family(height)));
    const block = decodeBlock(value);
    if (isRefusal(block) || isOutOfDate(v, height, block.header.timeNs)) continue;
    writes.push(put(pastKey(height), encodeBlock({ ...block, txs: [], evidence: [] })));
  }
  v.store = { base: heightOfKey(last.key) + 1n, height: v.store.height };
  writes.push(put(STORE_RANGE_KEY, encodeWith(storeRange, v.store)));
  v.does({ type: 'store', store: 'chain', durable: false, writes });
}

/** What outlived the oldest blocks, in their order: it goes as far as no evidence may ask for it any more. */
export function onForgettingRead(v: ValidatorState, found: readonly KeyValue[]): void {
  const { pruning } = v;
  pruning.isForgetting = false;
  const writes: Write[] = [];
  let oldest = { height: found.length < BLOCKS_MAX ? v.store.base : 0n, timeNs: 0n };
  for (const { key, value } of found) {
    const height = heightOfKey(key);
    const block = decodeBlock(value);
    if (!isRefusal(block) && !isOutOfDate(v, height, block.header.timeNs)) {
      oldest = { height, timeNs: block.header.timeNs };
      break;
    }
    writes.push(remove(key));
  }
  pruning.oldest = oldest;
  if (writes.length > 0) v.does({ type: 'store', store: 'chain', durable: false, writes });
}
