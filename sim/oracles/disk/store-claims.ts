// What a node says of its store: to itself, where the store begins and ends, and to its peers. Both are true, and a peer hears of all that is there.

import type { Payload, Write } from '../../../actors/turn.ts';
import { blockKey, responseKey, seenCommitKey, storeRange } from '../../../machines/chain/keys.ts';
import { byteKey, equalBytes } from '../../../protocol/bytes.ts';
import { decodeWords } from '../../../protocol/words.ts';
import type { Machine } from '../../machine.ts';
import type { Report, WorldAbout } from '../../oracle.ts';
import { blocksyncMessage } from '../ghost/messages.ts';
import { saidLateNs } from '../ghost/pace.ts';
import { PerMachine } from '../ghost/per-machine.ts';
import { NO_RANGE, rangeOf, type StoreRange } from '../ghost/stored.ts';

/** Of what is gone a peer may hear for so long. */
const PATIENCE_NS = 5_000_000_000;

/** What is kept of each block. */
const OF_A_BLOCK = {
  'the block': blockKey,
  'the commit': seenCommitKey,
  "the application's answer": responseKey,
};

export class StoreClaims {
  private readonly report: Report;
  private readonly about: WorldAbout;
  /** Where a store began and ended, and since when, in this life: what was known a while ago comes first. */
  private readonly ranges = new PerMachine(
    () => [] as { readonly range: StoreRange; readonly sinceNs: number }[],
  );

  constructor(report: Report, about: WorldAbout) {
    this.report = report;
    this.about = about;
  }

  starts(at: Machine): void {
    this.ranges.delete(at);
    this.reaches(at, rangeOf(at));
  }

  // --- to itself -------------------------------------------------------------------------------------------

  /** It writes where its store begins and ends from now on. */
  writes(at: Machine, value: Uint8Array, writes: readonly Write[]): void {
    const range = decodeWords(storeRange, value) ?? NO_RANGE;
    this.isThere(at, range, writes);
    this.leavesNothing(at, this.reaches(at, range).base, range.base, writes);
  }

  /** Gives the range before. */
  private reaches(at: Machine, range: StoreRange): StoreRange {
    const known = this.ranges.of(at);
    const before = known.at(-1)?.range ?? NO_RANGE;
    const now = this.about.now();
    known.push({ range, sinceNs: now });
    while (known[1] && known[1].sinceNs < now - PATIENCE_NS) known.shift();
    return before;
  }

  private isThere(at: Machine, { base, height }: StoreRange, writes: readonly Write[]): void {
    const isKept = (block: bigint): boolean => {
      const key = blockKey(block);
      const written = writes.findLast((write) => equalBytes(write.key, key));
      return block === 0n || (written ? !written.remove : at.disk.read('chain', key) !== undefined);
    };
    const lacks = (end: string, block: bigint): void =>
      this.report(`${at.name} says that its store ${end} with block ${block}, which is not there`, at, block);
    if (!isKept(base)) lacks('begins', base);
    if (!isKept(height)) lacks('ends', height);
  }

  /** What is before its beginning now is gone. */
  private leavesNothing(at: Machine, before: bigint, base: bigint, writes: readonly Write[]): void {
    if (before === 0n || base <= before) return;
    const removed = new Set(writes.flatMap(({ key, remove }) => (remove ? [byteKey(key)] : [])));
    for (let height = before; height < base; height++) {
      for (const [what, keyOf] of Object.entries(OF_A_BLOCK)) {
        const key = keyOf(height);
        if (removed.has(byteKey(key)) || at.disk.read('chain', key) === undefined) continue;
        const begins = `says that its store begins with block ${base}`;
        this.report(`${at.name} ${begins}, and keeps ${what} of ${height}`, at, height);
        return;
      }
    }
  }

  // --- to its peers ----------------------------------------------------------------------------------------

  says(at: Machine, payloads: readonly Payload[]): void {
    for (const payload of payloads) {
      const message = blocksyncMessage(payload);
      if (message?.type === 'no-block-response') this.denies(at, message.height);
      else if (message?.type === 'status-response') this.claims(at, message);
    }
  }

  /** What it has known for so long at least; null: it was held back since, or began its life. */
  private rangeBefore(at: Machine, agoNs: number): StoreRange | null {
    const then = this.about.now() - agoNs;
    if (at.heldUntilNs >= then) return null;
    return this.ranges.of(at).findLast(({ sinceNs }) => sinceNs < then)?.range ?? null;
  }

  /** Who hears of a block that has been gone for long asks for it in vain; who does not hear of one that is there does not ask. */
  private claims(at: Machine, { base, height }: StoreRange): void {
    const says = (what: string): void =>
      this.report(`${at.name} tells its peers ${what}`, at, at.height + 1n);
    const begins = this.rangeBefore(at, PATIENCE_NS)?.base ?? 0n;
    const ends = this.rangeBefore(at, saidLateNs(at))?.height ?? 0n;
    const has = rangeOf(at).height;
    if (base < begins) says(`that it begins with block ${base}, and begins with ${begins}`);
    else if (height < ends) says(`that it ends with block ${height}, and ends with ${ends}`);
    if (height > has) says(`of block ${height}, and has ${has}`);
  }

  private denies(at: Machine, height: bigint): void {
    const range = this.rangeBefore(at, saidLateNs(at));
    if (!range || height > range.height || at.disk.read('chain', blockKey(height)) === undefined) return;
    this.report(`${at.name} says that it has no block ${height}, and has it`, at, at.height + 1n);
  }
}
