// Whether a block is good: it decodes to what its id names, the rules of the chain hold, our clock agrees, and the application accepts it.

import type { BlockEntry } from '../../machines/consensus/blocks.ts';
import { equalBytes } from '../../protocol/bytes.ts';
import { headerHash } from '../../protocol/hashes.ts';
import { isRefusal, type Refusal, unreachable } from '../../protocol/refusal.ts';
import { blockBytesMax } from '../../protocol/rules/params.ts';
import { validateBlockInState } from '../../protocol/rules/state.ts';
import { EMPTY_BYTES, type Evidence } from '../../protocol/types.ts';
import { requestsOf } from './execute.ts';
import { isToRecall, recall } from './recall.ts';
import type { ValidatorState } from './state.ts';
import { blockOf } from './words.ts';

/** All parts are here: they must decode to a block that hashes to the id that names them. */
export function read(v: ValidatorState, entry: BlockEntry): void {
  const bytes = entry.parts.bytes();
  if (BigInt(bytes.length) > blockBytesMax(v.chain.consensusParams)) return v.consensus.onBlock(entry, null);
  const { block, isCanonical } = blockOf(bytes);
  entry.isCanonical = isCanonical;
  const isNamed = !isRefusal(block) && equalBytes(headerHash(block.header), entry.id.hash);
  v.consensus.onBlock(entry, isNamed ? block : null);
}

/**
 * valid(v), the part that needs no application: the rules of the chain. False while evidence waits for our own store: which is read only for a
 * block that is well formed otherwise, and no further than to the first evidence that is false, for a liar may name all of our past.
 */
export function judge(v: ValidatorState, entry: BlockEntry): boolean {
  const block = entry.block ?? unreachable('judged when whole');
  const { verify } = v.config;
  const check = (list: readonly Evidence[]): Refusal | null => v.evidencePool.check(list, v.facts(), verify);
  const rules = (verifyEvidence: typeof check): Refusal | null =>
    validateBlockInState(v.chain, block, { verify, verifyEvidence });
  let refusal: Refusal | null = null;
  if (block.evidence.length > 0 && !entry.isFormed) {
    refusal = rules(() => null);
    entry.isFormed = refusal === null;
  }
  const next = refusal ? -1 : block.evidence.findIndex((each) => isToRecall(v, each));
  // What is missing for it was read just now, or never.
  if (next > 0) refusal = check(block.evidence.slice(next - 1, next));
  if (next >= 0 && !refusal) {
    recall(v, block.evidence);
    entry.rules = 'reading';
    return false;
  }
  refusal ??= rules(check);
  entry.rules = refusal ? 'bad' : 'good';
  entry.why = refusal;
  entry.doubted = isDoubted(v, entry);
  if (refusal)
    v.publish({
      type: 'refused',
      height: v.consensus.height,
      hash: entry.id.hash,
      because: refusal.because,
    });
  return true;
}

/** Our clock may have come to the time of a block since it was judged, and its proposer may propose the same again. */
export function doubtAgain(v: ValidatorState): void {
  for (const entry of v.consensus.blocks.all()) if (entry.doubted) entry.doubted = isDoubted(v, entry);
}

/** Of a whole block. What we propose is of the time that others gave, whatever our clock thinks of it. */
function isDoubted(v: ValidatorState, { block, isCanonical }: BlockEntry): boolean {
  if (!isCanonical) return true;
  const { header } = block ?? unreachable('judged when whole');
  if (equalBytes(header.proposerAddress, v.config.key?.address ?? EMPTY_BYTES)) return false;
  return header.timeNs >= v.turn.wallNs + v.consensus.config.blockTimeToleranceNs;
}

export function askApp(v: ValidatorState, entry: BlockEntry): void {
  const block = entry.block ?? unreachable('asked when whole');
  const value = requestsOf(v, block, entry.id).process;
  v.ask(
    { for: 'process', height: v.consensus.height, blockId: entry.id },
    { type: 'process-proposal', value },
  );
}
