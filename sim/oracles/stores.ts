// What a node keeps for good (spec 11.1): its store begins and ends with blocks that are there, as it tells its peers; and what nobody needs has
// left it, or it would grow for ever: evidence that is too old for any block, and blocks that the application wants no longer.

import type { Payload, Write } from '../../actors/turn.ts';
import { blockKey, heightOfKey, STORE_RANGE_KEY, storeRange } from '../../machines/chain/keys.ts';
import { byteKey, equalBytes } from '../../protocol/bytes.ts';
import { CHANNEL_BLOCKSYNC } from '../../protocol/messages.ts';
import { isRefusal } from '../../protocol/refusal.ts';
import { decodeBlocksyncMessage } from '../../protocol/wire/index.ts';
import { decodeWith } from '../../protocol/words.ts';
import type { Machine } from '../machine.ts';
import type { Oracle, OracleMaker } from '../oracle.ts';
import type { GhostChain } from './ghost.ts';
import { PerMachine } from './per-machine.ts';

/** The family of pending evidence: its height, then the 32 bytes that tell it apart. */
const EVIDENCE = 'e'.charCodeAt(0);
const EVIDENCE_KEY_BYTES = 41;

/** A block takes some of those with it that are to go; so many have come and none went. */
const HEIGHTS_PATIENT = 4n;
const PATIENCE_NS = 5_000_000_000;

/** How far a node is with the blocks that its application lets go of, in this life. */
interface LettingGo {
  /** The first block that the application wants. */
  retain: bigint;
  base: bigint;
  /** Since when it has that base, or needs no other. */
  height: bigint;
  sinceNs: number;
}

function rangeOf(at: Machine): { readonly base: bigint; readonly height: bigint } | null {
  const range = at.disk.read('chain', STORE_RANGE_KEY);
  return range === undefined ? null : decodeWith(storeRange, range);
}

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

    const lettingGo = new PerMachine(
      (at): LettingGo => ({ retain: 0n, base: 0n, height: at.height, sinceNs: 0 }),
    );

    const claims = (at: Machine, payloads: readonly Payload[]): void => {
      for (const { channel, bytes } of payloads) {
        const message = channel === CHANNEL_BLOCKSYNC ? decodeBlocksyncMessage(bytes) : null;
        if (!message || isRefusal(message) || message.type !== 'status-response') continue;
        const has = rangeOf(at)?.height ?? 0n;
        if (message.height <= has) continue;
        report(`${at.name} tells its peers of block ${message.height}, and has ${has}`, at, at.height + 1n);
      }
    };

    const letsGo = (at: Machine, height: bigint): void => {
      const going = lettingGo.get(at);
      if (!going) return;
      const base = rangeOf(at)?.base ?? 0n;
      if (base >= going.retain || base !== going.base) {
        Object.assign(going, { base, height, sinceNs: about.now() });
        return;
      }
      const isPatient = height - going.height < HEIGHTS_PATIENT || at.mode !== 'consensus';
      if (isPatient || about.now() - Math.max(going.sinceNs, at.heldUntilNs) < PATIENCE_NS) return;
      const what = `still keeps block ${base}, and its application wants none before ${going.retain}`;
      report(`${at.name} ${what}`, at, height);
    };

    return {
      name: 'stores',
      effects: ['store', 'tell', 'send'],
      events: ['committed'],
      started(at) {
        lettingGo.delete(at);
      },
      leaving(at, actor, effect) {
        if (effect.type === 'send' && actor === 'blocksync' && about.isHonest(at))
          claims(at, effect.payloads);
        if (effect.type === 'tell' && actor === 'app' && about.isHonest(at)) {
          const { message } = effect;
          if (message.type !== 'answer' || message.response.type !== 'commit') return;
          const { retainHeight } = message.response.value;
          if (retainHeight > 0n && retainHeight > lettingGo.of(at).retain)
            lettingGo.of(at).retain = retainHeight;
          return;
        }
        if (effect.type !== 'store' || effect.store !== 'chain' || !about.isHonest(at)) return;
        for (const { key, value, remove } of effect.writes) {
          if (remove) continue;
          if (key.length === EVIDENCE_KEY_BYTES && key[0] === EVIDENCE) stored.of(at).set(byteKey(key), key);
          else if (equalBytes(key, STORE_RANGE_KEY)) saysWhatIsThere(at, value, effect.writes);
        }
      },
      published(at, _actor, event) {
        if (event.type !== 'committed') return;
        letsGo(at, event.height);
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
