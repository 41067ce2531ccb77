// The blocks that this height speaks of, by id: their parts as they arrive, and what we have found out about each.

import { equalPartSetHeaders } from '../../protocol/block-id.ts';
import { equalBytes } from '../../protocol/bytes.ts';
import { PartSet } from '../../protocol/part-set.ts';
import { isRefusal, type Refusal } from '../../protocol/refusal.ts';
import type { Block, BlockId, Part, PartSetHeader } from '../../protocol/types.ts';
import { blockIdKey, equalBlockId } from '../../protocol/validate.ts';

/** A class, for objects that a spread begins are slow to read, and these are read at every word. */
export class BlockEntry {
  readonly id: BlockId;
  /** One for all ids that name the same parts: a liar may name those of a true block under another hash, and first. */
  readonly parts: PartSet;
  /** Set when the parts are complete and decode. */
  block: Block | null;
  /** What the rules of the chain say of it: `reading` while evidence in it waits for our own store; `bad` also when the parts do not decode or do not hash to the id. */
  rules: 'unknown' | 'reading' | 'good' | 'bad' = 'unknown';
  /** Its parts are the bytes that everybody would make of it. */
  isCanonical = true;
  /** All rules hold that need nothing of our store. */
  isFormed = false;
  /** What the application said (ProcessProposal): asked once per block. */
  app: 'unasked' | 'asked' | 'accepted' | 'rejected' = 'unasked';
  /**
   * Not prevoted when it is proposed without a polka, though the rules allow it: our clock thinks its time too far ahead (spec 5.4), or it is
   * not canonical.
   */
  doubted = false;
  /** Why `rules` is bad, for people. */
  why: Refusal | null = null;
  /** The last round in which a proposal or a quorum named it. */
  round = -1;
  /** It is ours, and the signer is at the proposal that names it in this round; -1: it is not. */
  signing = -1;

  constructor(id: BlockId, parts: PartSet, block: Block | null) {
    this.id = id;
    this.parts = parts;
    this.block = block;
  }
}

/** The paper's valid(v): the rules and the application agree. */
export const isValid = (entry: BlockEntry | undefined): entry is BlockEntry =>
  entry !== undefined && entry.rules === 'good' && entry.app === 'accepted';

export class Blocks {
  private readonly byId = new Map<string, BlockEntry>();
  private unread: BlockEntry[] = [];
  /** What the application said of those that were let go: it is asked once. */
  private readonly answers = new Map<string, BlockEntry['app']>();

  get(id: BlockId): BlockEntry | undefined {
    return this.byId.get(blockIdKey(id));
  }

  /** The entry for an id that a proposal or a quorum of this round named. */
  want(id: BlockId, round: number): BlockEntry {
    const key = blockIdKey(id);
    let entry = this.byId.get(key);
    if (!entry) {
      entry = new BlockEntry(id, this.partsOf(id.parts) ?? new PartSet(id.parts), null);
      this.enter(key, entry);
      if (entry.parts.isComplete) this.unread.push(entry);
    }
    if (round > entry.round) entry.round = round;
    return entry;
  }

  /**
   * Of what only rounds before this one have named nothing stays but what is kept (who is locked on a block must be able to show it: others may have
   * decided it), and what is being judged or signed: a height that stands still for a night would fill the memory. Whoever names a block again brings it
   * again. Gives the parts of all that is so old, kept or not: others may have let go of them.
   */
  letGoBefore(round: number, kept: readonly (BlockId | null)[]): readonly PartSetHeader[] {
    const old: PartSetHeader[] = [];
    for (const [key, entry] of this.byId) {
      const isBusy = entry.app === 'asked' || entry.rules === 'reading' || entry.signing >= 0;
      if (entry.round >= round || isBusy) continue;
      old.push(entry.id.parts);
      if (kept.some((id) => id !== null && equalBlockId(id, entry.id))) continue;
      this.byId.delete(key);
      if (entry.app !== 'unasked') this.answers.set(key, entry.app);
    }
    return old;
  }

  private enter(key: string, entry: BlockEntry): void {
    entry.app = this.answers.get(key) ?? 'unasked';
    this.byId.set(key, entry);
  }

  private partsOf(header: PartSetHeader): PartSet | null {
    for (const { id, parts } of this.byId.values()) if (equalPartSetHeaders(id.parts, header)) return parts;
    return null;
  }

  /** Entries whose parts are complete, and nobody has looked at what they make. Each is given once. */
  takeUnread(): readonly BlockEntry[] {
    if (this.unread.length === 0) return NONE;
    const { unread } = this;
    this.unread = [];
    return unread;
  }

  /** A block that is whole already: our own proposal, to be judged like everybody else's (CometBFT defaultDoPrevote). */
  put(id: BlockId, parts: PartSet, block: Block, round: number): BlockEntry {
    const key = blockIdKey(id);
    const known = this.byId.get(key);
    const entry = known?.block ? known : new BlockEntry(id, parts, block);
    entry.signing = round;
    entry.round = Math.max(round, known?.round ?? round);
    if (entry !== known) this.enter(key, entry);
    return entry;
  }

  /** The signer is through with our proposal of this round, or refuses it. */
  endSigning(round: number): void {
    for (const entry of this.byId.values()) if (entry.signing === round) entry.signing = -1;
  }

  /** The entry that this part completes or extends; `unwanted` when no entry asks for it. */
  addPart(part: Part): { readonly entry: BlockEntry; readonly isNew: boolean } | 'unwanted' {
    for (const entry of this.byId.values()) {
      if (entry.parts.isComplete) {
        if (entry.parts.has(part.index) && sameProof(entry.parts.part(part.index), part))
          return { entry, isNew: false };
        continue;
      }
      const added = entry.parts.add(part);
      // Another block's part may have the same index: it is known only if it is the same part.
      if (added === 'known' && !sameProof(entry.parts.part(part.index), part)) continue;
      if (isRefusal(added)) continue;
      if (added === 'added' && entry.parts.isComplete) this.completed(entry.parts);
      return { entry, isNew: added === 'added' };
    }
    return 'unwanted';
  }

  private completed(parts: PartSet): void {
    for (const entry of this.byId.values()) if (entry.parts === parts) this.unread.push(entry);
  }

  all(): IterableIterator<BlockEntry> {
    return this.byId.values();
  }
}

const NONE: readonly BlockEntry[] = [];

/** Not by their bytes: two blocks of one height may carry the same transactions at the same place, and so an equal part under another root. */
function sameProof(known: Part | undefined, part: Part): boolean {
  if (!known) return false;
  const { total, leafHash, aunts } = part.proof;
  return (
    known.proof.total === total &&
    equalBytes(known.proof.leafHash, leafHash) &&
    known.proof.aunts.length === aunts.length &&
    known.proof.aunts.every((aunt, i) => equalBytes(aunt, aunts[i] as Uint8Array))
  );
}
