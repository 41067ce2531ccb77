// What a node keeps for good (spec 11.1): its store begins and ends with blocks that are there, as it tells its peers; and evidence that is
// too old for any block has left it, or it would grow for ever.

import type { Write } from '../../actors/turn.ts';
import { blockKey, heightOfKey, STORE_RANGE_KEY, storeRange } from '../../machines/chain/keys.ts';
import { byteKey, equalBytes } from '../../protocol/bytes.ts';
import { decodeWith } from '../../protocol/words.ts';
import type { Machine } from '../machine.ts';
import type { Oracle, OracleMaker } from '../oracle.ts';
import type { GhostChain } from './ghost.ts';
import { PerMachine } from './per-machine.ts';

/** The family of pending evidence: its height, then the 32 bytes that tell it apart. */
const EVIDENCE = 'e'.charCodeAt(0);
const EVIDENCE_KEY_BYTES = 41;

export const storesOracle =
  (ghost: GhostChain): OracleMaker =>
  (report, about): Oracle => {
    /** Keys of evidence that each node ever stored, until they are gone from its disk. */
    const stored = new PerMachine(() => new Map<string, Uint8Array>());

    /** Too old for the block after this one. */
    const isExpired = (height: bigint, after: bigint): boolean => {
      const params = ghost.params(after)?.evidence;
      const [timeNs, afterNs] = [ghost.timeNs(height), ghost.timeNs(after)];
      if (!params || timeNs === undefined || afterNs === undefined) return false;
      return after - height > params.maxAgeBlocks && afterNs - timeNs > params.maxAgeNs;
    };

    const saysWhatIsThere = (at: Machine, range: Uint8Array, writes: readonly Write[]): void => {
      const { base, height } = decodeWith(storeRange, range) ?? { base: 0n, height: 0n };
      for (const [end, block] of [
        ['begins', base],
        ['ends', height],
      ] as const) {
        const key = blockKey(block);
        const written = writes.findLast((write) => equalBytes(write.key, key));
        if (block === 0n || (written ? !written.remove : at.disk.read('chain', key) !== undefined)) continue;
        report(`${at.name} says that its store ${end} with block ${block}, which is not there`, at, block);
      }
    };

    return {
      name: 'stores',
      effects: ['store'],
      leaving(at, _actor, effect) {
        if (effect.type !== 'store' || effect.store !== 'chain' || !about.isHonest(at)) return;
        for (const { key, value, remove } of effect.writes) {
          if (remove) continue;
          if (key.length === EVIDENCE_KEY_BYTES && key[0] === EVIDENCE) stored.of(at).set(byteKey(key), key);
          else if (equalBytes(key, STORE_RANGE_KEY)) saysWhatIsThere(at, value, effect.writes);
        }
      },
      published(at, _actor, event) {
        if (event.type !== 'committed') return;
        const kept = stored.get(at);
        if (!kept) return;
        for (const [name, key] of kept) {
          const height = heightOfKey(key);
          if (at.disk.read('chain', key) === undefined) kept.delete(name);
          else if (isExpired(height, event.height - 1n)) {
            kept.delete(name);
            report(`${at.name} still keeps evidence of height ${height}, which is too old`, at, event.height);
          }
        }
      },
    };
  };
