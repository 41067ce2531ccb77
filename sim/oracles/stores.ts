// What a node keeps for good (spec 11.1): its store begins and ends with blocks that are there, as it tells its peers, and has the validators and
// parameters of each height, for who asks later; and what nobody needs has left it, or it would grow for ever: evidence that is too old for any
// block, blocks that the application wants no longer, and what outlived them for evidence's sake.

import type { Payload, Write } from '../../actors/turn.ts';
import {
  blockKey,
  GENESIS_KEY,
  heightOfKey,
  paramsKey,
  pastKey,
  responseKey,
  STORE_RANGE_KEY,
  seenCommitKey,
  storeRange,
  validatorsKey,
} from '../../machines/chain/keys.ts';
import { byteKey, equalBytes } from '../../protocol/bytes.ts';
import { isRefusal } from '../../protocol/refusal.ts';
import { decodeValidatorSet, encodeConsensusParams } from '../../protocol/wire/index.ts';
import { decodeWith, type Of } from '../../protocol/words.ts';
import type { Machine } from '../machine.ts';
import type { Oracle, OracleMaker } from '../oracle.ts';
import { type GhostChain, isSameSet } from './ghost.ts';
import { blocksyncMessage } from './messages.ts';
import { saidLateNs } from './pace.ts';
import { PerMachine } from './per-machine.ts';

/** The family of pending evidence: its height, then the 32 bytes that tell it apart. */
const EVIDENCE = 'e'.charCodeAt(0);
const EVIDENCE_KEY_BYTES = 41;

/** What is kept of blocks that are gone, for evidence. */
const PAST = pastKey(0n)[0];

/** A block takes some of those with it that are to go; so many have come and none went. */
const HEIGHTS_PATIENT = 4n;
const PATIENCE_NS = 5_000_000_000;

/** What is kept of each block. */
const OF_A_BLOCK = {
  'the block': blockKey,
  'the commit': seenCommitKey,
  "the application's answer": responseKey,
};

/** How far a node is with the blocks that its application lets go of, in this life. */
interface LettingGo {
  /** The first block that the application wants. */
  retain: bigint;
  base: bigint;
  /** Since when it has that base, or needs no other. */
  height: bigint;
  sinceNs: number;
}

type StoreRange = Of<typeof storeRange>;
const NO_RANGE: StoreRange = { base: 0n, height: 0n };

function rangeOf(at: Machine): StoreRange | null {
  const range = at.disk.read('chain', STORE_RANGE_KEY);
  return range === undefined ? null : decodeWith(storeRange, range);
}

export const storesOracle =
  (ghost: GhostChain): OracleMaker =>
  (report, about): Oracle => {
    /** Keys of evidence that each node ever stored, until they are gone from its disk. */
    const stored = new PerMachine(() => new Map<string, Uint8Array>());

    /** What outlived its block on each disk, oldest first, and since when the oldest is too old for any evidence. */
    const outlived = new PerMachine(() => ({ keys: [] as Uint8Array[], sinceNs: null as number | null }));

    const forgets = (at: Machine, height: bigint): void => {
      const kept = outlived.get(at);
      while (kept?.keys[0] && at.disk.read('chain', kept.keys[0]) === undefined) {
        kept.keys.shift();
        kept.sinceNs = null;
      }
      if (!kept?.keys[0]) return;
      const oldest = heightOfKey(kept.keys[0]);
      if (!isExpired(oldest, height - HEIGHTS_PATIENT) || at.mode !== 'consensus') return;
      kept.sinceNs ??= about.now();
      if (about.now() - Math.max(kept.sinceNs, at.heldUntilNs) < PATIENCE_NS) return;
      report(`${at.name} still keeps the header of block ${oldest}, too old for any evidence`, at, height);
    };

    /** Too old for the block after this one. */
    const isExpired = (height: bigint, after: bigint): boolean => {
      const params = ghost.params(after + 1n)?.evidence; // in force there, and a node has them with the block
      const [timeNs, afterNs] = [ghost.timeNs(height), ghost.timeNs(after)];
      if (!params || timeNs === undefined || afterNs === undefined) return false;
      return after - height > params.maxAgeBlocks && afterNs - timeNs > params.maxAgeNs;
    };

    const saysWhatIsThere = (at: Machine, { base, height }: StoreRange, writes: readonly Write[]): void => {
      const isThere = (block: bigint): boolean => {
        const key = blockKey(block);
        const written = writes.findLast((write) => equalBytes(write.key, key));
        return block === 0n || (written ? !written.remove : at.disk.read('chain', key) !== undefined);
      };
      const lacks = (end: string, block: bigint): void =>
        report(`${at.name} says that its store ${end} with block ${block}, which is not there`, at, block);
      if (!isThere(base)) lacks('begins', base);
      if (!isThere(height)) lacks('ends', height);
    };

    /** What is before its beginning now is gone. */
    const leavesNothing = (at: Machine, before: bigint, base: bigint, writes: readonly Write[]): void => {
      if (before === 0n || base <= before) return;
      const removed = new Set(writes.flatMap(({ key, remove }) => (remove ? [byteKey(key)] : [])));
      for (let height = before; height < base; height++) {
        for (const [what, keyOf] of Object.entries(OF_A_BLOCK)) {
          const key = keyOf(height);
          if (removed.has(byteKey(key)) || at.disk.read('chain', key) === undefined) continue;
          report(
            `${at.name} says that its store begins with block ${base}, and keeps ${what} of ${height}`,
            at,
            height,
          );
          return;
        }
      }
    };

    /** The last block whose sets were compared, and whether the validators that its answer leads to are others than before. */
    let changes = { height: 0n, validators: false };
    const changesValidators = (height: bigint): boolean => {
      if (changes.height !== height) {
        const [before, after] = [ghost.setThen(height + 1n), ghost.setThen(height + 2n)];
        changes = { height, validators: !!before && !!after && !isSameSet(before, after) };
      }
      return changes.validators;
    };

    /** What the chain began with, for who asks for it later. */
    const keepsTheFirst = (at: Machine, height: bigint): void => {
      const params = ghost.params(height);
      const value = at.disk.read('chain', paramsKey(height));
      if (params && !(value && equalBytes(value, encodeConsensusParams(params))))
        report(`${at.name} does not store the parameters of ${height}, the first`, at, height);
      if (at.disk.read('chain', GENESIS_KEY) === undefined)
        report(`${at.name} does not store which genesis its chain began with`, at, height);
    };

    /** Its block changed the validators, or the parameters: what is in force from then on is stored under that height. */
    const keepsChanges = (at: Machine, height: bigint): void => {
      const set = changesValidators(height) ? ghost.setThen(height + 2n) : undefined;
      if (set) {
        const value = at.disk.read('chain', validatorsKey(height + 2n));
        const stored = value && decodeValidatorSet(value);
        const isThere =
          stored &&
          !isRefusal(stored) &&
          stored.validators.length === set.members.length &&
          stored.validators.every(({ address, power }, i) => {
            const member = set.members[i];
            return !!member && member.power === power && equalBytes(member.addressBytes, address);
          });
        if (!isThere)
          report(`${at.name} does not store the validators of ${height + 2n}, which are new`, at, height);
      }
      if (height === ghost.genesis.initialHeight) keepsTheFirst(at, height);
      const [before, params] = [ghost.params(height), ghost.params(height + 1n)];
      if (!before || !params || before === params) return;
      const value = at.disk.read('chain', paramsKey(height + 1n));
      if (!value || !equalBytes(value, encodeConsensusParams(params)))
        report(`${at.name} does not store the parameters of ${height + 1n}, which are new`, at, height);
    };

    const lettingGo = new PerMachine(
      (at): LettingGo => ({ retain: 0n, base: 0n, height: at.height, sinceNs: 0 }),
    );

    /** Where its store began and ended, and since when, in this life: what it knew a while ago comes first. */
    const ranges = new PerMachine(() => [] as { readonly range: StoreRange; readonly sinceNs: number }[]);
    /** Gives the one before. */
    const reaches = (at: Machine, range: StoreRange): StoreRange => {
      const known = ranges.of(at);
      const before = known.at(-1)?.range ?? NO_RANGE;
      known.push({ range, sinceNs: about.now() });
      while (known[1] && known[1].sinceNs < about.now() - PATIENCE_NS) known.shift();
      return before;
    };
    /** What it has known for so long at least; null: it was held back since, or began its life. */
    const rangeBefore = (at: Machine, agoNs: number): StoreRange | null => {
      const then = about.now() - agoNs;
      if (at.heldUntilNs >= then) return null;
      return ranges.of(at).findLast(({ sinceNs }) => sinceNs < then)?.range ?? null;
    };

    /** Who hears of a block that has been gone for long asks for it in vain; who does not hear of one that is there does not ask. */
    const tellsWhatIsThere = (at: Machine, { base, height }: StoreRange): void => {
      const begins = rangeBefore(at, PATIENCE_NS)?.base ?? 0n;
      const ends = rangeBefore(at, saidLateNs(at))?.height ?? 0n;
      const what =
        base < begins
          ? `begins with block ${base}, and begins with ${begins}`
          : height < ends
            ? `ends with block ${height}, and ends with ${ends}`
            : null;
      if (what !== null) report(`${at.name} tells its peers that it ${what}`, at, at.height + 1n);
    };

    const denies = (at: Machine, height: bigint): void => {
      const range = rangeBefore(at, saidLateNs(at));
      if (!range || height > range.height || at.disk.read('chain', blockKey(height)) === undefined) return;
      report(`${at.name} says that it has no block ${height}, and has it`, at, at.height + 1n);
    };

    const claims = (at: Machine, payloads: readonly Payload[]): void => {
      for (const payload of payloads) {
        const message = blocksyncMessage(payload);
        if (!message) continue;
        if (message.type === 'no-block-response') denies(at, message.height);
        if (message.type !== 'status-response') continue;
        tellsWhatIsThere(at, message);
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
        ranges.delete(at);
        reaches(at, rangeOf(at) ?? NO_RANGE);
        const kept = outlived.get(at);
        if (kept) kept.sinceNs = null;
      },
      leaving(at, actor, effect) {
        if (effect.type === 'send' && actor === 'blocksync' && about.isHonest(at))
          claims(at, effect.payloads);
        if (effect.type === 'tell' && actor === 'app' && about.isHonest(at)) {
          const { message } = effect;
          if (message.type !== 'answer' || message.response.type !== 'commit') return;
          const { retainHeight } = message.response.value;
          const isThere = retainHeight > 0n && retainHeight <= (rangeOf(at)?.height ?? 0n);
          if (isThere && retainHeight > lettingGo.of(at).retain) lettingGo.of(at).retain = retainHeight;
          return;
        }
        if (effect.type !== 'store' || effect.store !== 'chain' || !about.isHonest(at)) return;
        for (const { key, value, remove } of effect.writes) {
          if (remove) continue;
          if (key[0] === PAST) outlived.of(at).keys.push(key);
          else if (key.length === EVIDENCE_KEY_BYTES && key[0] === EVIDENCE)
            stored.of(at).set(byteKey(key), key);
          else if (equalBytes(key, STORE_RANGE_KEY)) {
            const range = decodeWith(storeRange, value) ?? NO_RANGE;
            saysWhatIsThere(at, range, effect.writes);
            leavesNothing(at, reaches(at, range).base, range.base, effect.writes);
          }
        }
      },
      published(at, _actor, event) {
        if (event.type !== 'committed') return;
        letsGo(at, event.height);
        forgets(at, event.height);
        if (about.isHonest(at)) keepsChanges(at, event.height);
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
