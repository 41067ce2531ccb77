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
import { encodeWords } from '../../protocol/words.ts';
import { type KeyValue, put, remove, type Write } from '../turn.ts';
import type { Budget, ValidatorState } from './state.ts';

/** What goes with one block that comes: catching up with a large retain height must not stall a turn, and blocks may be large. */
const AT_ONCE: Budget = { blocks: 16, bytes: 16 * 1024 * 1024 };

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
    readOldest(v, AT_ONCE);
  }
  if (!pruning.isForgetting && isOutOfDate(v, pruning.oldest.height, pruning.oldest.timeNs)) {
    pruning.isForgetting = true;
    v.load({ for: 'forgetting' }, pastKey(0n), pastKey(store.base), AT_ONCE.blocks);
  }
}

const isOutOfDate = ({ chain }: ValidatorState, height: bigint, timeNs: TimeNs): boolean =>
  isExpired(chain.consensusParams, chain.lastBlockHeight - height, chain.lastBlockTimeNs - timeNs);

function readOldest(v: ValidatorState, left: Budget): void {
  v.load({ for: 'pruning', left }, blockKey(v.store.base), blockKey(v.pruning.retain), 1);
}

/** The oldest block goes, and then the next one. */
export function onPruningRead(
  v: ValidatorState,
  { blocks, bytes }: Budget,
  found: readonly KeyValue[],
): void {
  const { pruning } = v;
  const [oldest] = found;
  if (oldest) letGo(v, oldest);
  const left: Budget = { blocks: blocks - 1, bytes: bytes - (oldest?.value.length ?? 0) };
  const isMore = oldest !== undefined && pruning.retain > v.store.base;
  const goesOn = isMore && left.blocks > 0 && left.bytes > 0;
  pruning.isPruning = goesOn;
  if (goesOn) readOldest(v, left);
}

function letGo(v: ValidatorState, { key, value }: KeyValue): void {
  const height = heightOfKey(key);
  const writes: Write[] = [blockKey, seenCommitKey, responseKey].map((family) => remove(family(height)));
  const block = decodeBlock(value);
  if (!isRefusal(block) && !isOutOfDate(v, height, block.header.timeNs))
    writes.push(put(pastKey(height), encodeBlock({ ...block, txs: [], evidence: [] })));
  v.store = { base: height + 1n, height: v.store.height };
  writes.push(put(STORE_RANGE_KEY, encodeWords(storeRange, v.store)));
  v.does({ type: 'store', store: 'chain', durable: false, writes });
}

/** What outlived the oldest blocks, in their order: it goes as far as no evidence may ask for it any more. */
export function onForgettingRead(v: ValidatorState, found: readonly KeyValue[]): void {
  const { pruning } = v;
  pruning.isForgetting = false;
  const writes: Write[] = [];
  let oldest = { height: found.length < AT_ONCE.blocks ? v.store.base : 0n, timeNs: 0n };
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
