// What nobody needs any more leaves a store, or it would grow for ever: evidence that is too old for any block, blocks that the application wants
// no longer, and what outlived them for evidence's sake.

import { heightOfKey, pastKey } from '../../../machines/chain/keys.ts';
import { byteKey } from '../../../protocol/bytes.ts';
import { isRefusal } from '../../../protocol/refusal.ts';
import { decodeBlock } from '../../../protocol/wire/index.ts';
import type { Machine } from '../../machine.ts';
import type { Report, WorldAbout } from '../../oracle.ts';
import type { GhostChain } from '../ghost/ghost.ts';
import { PerMachine } from '../ghost/per-machine.ts';
import { rangeOf } from '../ghost/stored.ts';

/** The family of pending evidence: its height, then the 32 bytes that tell it apart. */
const EVIDENCE = 'e'.charCodeAt(0);
const EVIDENCE_KEY_BYTES = 41;

/** What is kept of blocks that are gone, for evidence. */
const PAST = pastKey(0n)[0];

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

export class StoreLeavings {
  private readonly ghost: GhostChain;
  private readonly report: Report;
  private readonly about: WorldAbout;
  /** Keys of evidence that each node ever stored, until they are gone from its disk. */
  private readonly evidence = new PerMachine(() => new Map<string, Uint8Array>());
  /** What outlived its block on each disk, oldest first, and since when the oldest is too old for any evidence. */
  private readonly outlived = new PerMachine(() => ({
    keys: [] as Uint8Array[],
    sinceNs: null as number | null,
  }));
  private readonly lettingGo = new PerMachine(
    (at): LettingGo => ({ retain: 0n, base: 0n, height: at.height, sinceNs: 0 }),
  );

  constructor(ghost: GhostChain, report: Report, about: WorldAbout) {
    this.ghost = ghost;
    this.report = report;
    this.about = about;
  }

  starts(at: Machine): void {
    this.lettingGo.delete(at);
    const kept = this.outlived.get(at);
    if (kept) kept.sinceNs = null;
  }

  writes(at: Machine, key: Uint8Array, value: Uint8Array): void {
    if (key[0] === PAST) {
      this.outlived.of(at).keys.push(key);
      this.keepsLittle(at, heightOfKey(key), value);
    } else if (key.length === EVIDENCE_KEY_BYTES && key[0] === EVIDENCE)
      this.evidence.of(at).set(byteKey(key), key);
  }

  /** What evidence asks of a block that goes are its header and its last commit. */
  private keepsLittle(at: Machine, height: bigint, value: Uint8Array): void {
    const block = decodeBlock(value);
    if (isRefusal(block) || block.txs.length + block.evidence.length === 0) return;
    this.report(
      `${at.name} keeps what block ${height} held, and its application wants it no more`,
      at,
      height,
    );
  }

  /** Its application wants no block before this one. */
  retains(at: Machine, retain: bigint): void {
    if (retain === 0n || retain > rangeOf(at).height) return;
    const going = this.lettingGo.of(at);
    if (retain > going.retain) going.retain = retain;
  }

  commits(at: Machine, height: bigint): void {
    this.blocksLeave(at, height);
    this.theOutlivedLeave(at, height);
    this.evidenceLeaves(at, height);
  }

  private isLongSince(at: Machine, sinceNs: number): boolean {
    return this.about.now() - Math.max(sinceNs, at.heldUntilNs) >= PATIENCE_NS;
  }

  private blocksLeave(at: Machine, height: bigint): void {
    const going = this.lettingGo.get(at);
    if (!going) return;
    const { base } = rangeOf(at);
    if (base >= going.retain || base !== going.base) {
      Object.assign(going, { base, height, sinceNs: this.about.now() });
      return;
    }
    const isPatient = height - going.height < HEIGHTS_PATIENT || at.mode !== 'consensus';
    if (isPatient || !this.isLongSince(at, going.sinceNs)) return;
    const what = `still keeps block ${base}, and its application wants none before ${going.retain}`;
    this.report(`${at.name} ${what}`, at, height);
  }

  private theOutlivedLeave(at: Machine, height: bigint): void {
    const kept = this.outlived.get(at);
    while (kept?.keys[0] && at.disk.read('chain', kept.keys[0]) === undefined) {
      kept.keys.shift();
      kept.sinceNs = null;
    }
    if (!kept?.keys[0]) return;
    const oldest = heightOfKey(kept.keys[0]);
    if (!this.isExpired(oldest, height - HEIGHTS_PATIENT) || at.mode !== 'consensus') return;
    kept.sinceNs ??= this.about.now();
    if (!this.isLongSince(at, kept.sinceNs)) return;
    const what = `still keeps the header of block ${oldest}, too old for any evidence`;
    this.report(`${at.name} ${what}`, at, height);
  }

  private evidenceLeaves(at: Machine, height: bigint): void {
    const kept = this.evidence.get(at);
    if (!kept) return;
    for (const [name, key] of kept) {
      const of = heightOfKey(key);
      if (at.disk.read('chain', key) === undefined) kept.delete(name);
      else if (this.isExpired(of, height - 1n)) {
        kept.delete(name);
        this.report(`${at.name} still keeps evidence of height ${of}, which is too old`, at, height);
      }
    }
  }

  /** Too old for the block after this one. */
  private isExpired(height: bigint, after: bigint): boolean {
    const params = this.ghost.params(after + 1n)?.evidence; // in force there, and a node has them with the block
    const [timeNs, afterNs] = [this.ghost.timeNs(height), this.ghost.timeNs(after)];
    if (!params || timeNs === undefined || afterNs === undefined) return false;
    return after - height > params.maxAgeBlocks && afterNs - timeNs > params.maxAgeNs;
  }
}
