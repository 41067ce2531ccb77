// Blocks that a peer owed when it went: they are asked of another one that has them, and room for them, in the same moment. Whatever may have made
// the node think otherwise of that other one, of the block, or of how many it may ask for, ends what is known here.

import type { PeerId } from '../../../actors/turn.ts';
import type { BlocksyncMessage } from '../../../protocol/messages.ts';
import type { Machine } from '../../machine.ts';
import { HOP_NS } from '../ghost/pace.ts';

/** What is asked at once of who has given nothing yet. */
const OF_STRANGER = 2;
/** Who answers so many questions later than one about a block that it owes is not believed. */
const EVASIONS = 3;
/** The next two may be asked for again, for a dispute. */
const PAIR = 2;

interface Claim {
  readonly base: bigint;
  readonly height: bigint;
  readonly atNs: number;
}

/** One that was not away in this life of the node, and never in doubt. */
class Source {
  readonly upNs: number;
  claim: Claim | null = null;
  /** When it gave the first block that it was asked for; null: none. */
  provenNs: number | null = null;
  /** When it answered last about a block: there may be more to ask of it than it is told yet. */
  answeredNs = 0;
  /** When it was asked last how far it is. */
  questionNs = 0;
  evasions = 0;
  /** It took back what it said, or broke a rule. */
  isDoubtful = false;
  /** At least what it owes, and since when: it may have been given by others. */
  readonly owes = new Map<bigint, number>();
  /** What it owed as another one gave it: it may be on its line all the same. */
  private readonly late = new Map<bigint, number>();

  constructor(upNs: number) {
    this.upNs = upNs;
  }

  asks(height: bigint, now: number): void {
    this.late.delete(height);
    if (!this.owes.has(height)) this.owes.set(height, now);
  }

  /** True: it owed this block. What it was to give before does not come any more. */
  gives(height: bigint): boolean {
    const { owes, late } = this;
    const sinceNs = owes.get(height) ?? late.get(height);
    if (sinceNs === undefined) return false;
    for (const [each, askedNs] of late) if (askedNs < sinceNs || each === height) late.delete(each);
    return owes.delete(height);
  }

  hasApplied(upTo: bigint): void {
    for (const [height, sinceNs] of this.owes) {
      if (height > upTo) continue;
      this.owes.delete(height);
      this.late.set(height, sinceNs);
    }
  }

  claims({ base, height }: { readonly base: bigint; readonly height: bigint }, now: number): void {
    const { claim, owes, questionNs } = this;
    let isEvading = false;
    for (const sinceNs of owes.values()) isEvading ||= sinceNs < questionNs;
    if (isEvading) this.evasions++;
    const takesBack = claim !== null && (base < claim.base || height < claim.height);
    if (takesBack || this.evasions === EVASIONS) this.isDoubtful = true;
    this.claim = { base, height, atNs: now };
  }

  /** For certain: it is here, said to have this block, and may be asked for so many more. */
  hasRoom(block: bigint, count: number, perPeerMax: number, beganNs: number, now: number): boolean {
    const { claim, provenNs } = this;
    if (this.isDoubtful || !claim || claim.base > block || block > claim.height) return false;
    const isTaken = claim.atNs > Math.max(this.upNs, beganNs) + HOP_NS;
    if (!isTaken || now - Math.max(claim.atNs, this.answeredNs) <= HOP_NS) return false;
    const most = provenNs === null ? Math.min(OF_STRANGER, perPeerMax) : perPeerMax;
    return this.owes.size + this.late.size + count <= most;
  }
}

interface Due {
  /** Who went. */
  readonly peer: PeerId;
  readonly sinceNs: number;
}

/** One node, in this life. */
export class AskedAnew {
  private readonly sources = new Map<PeerId, Source>();
  /** Who went, or was cut off: it may be banned when it comes again. */
  private readonly gone = new Set<PeerId>();
  /** Of whom a block was asked; null: of more than one, or it was given. */
  private readonly askedOf = new Map<bigint, PeerId | null>();
  private readonly given = new Set<bigint>();
  /** Of all words that brought one. */
  private bytesMost = 0;
  private readonly due = new Map<bigint, Due>();
  /** Since when it asks for blocks, also by its own clock; null: it does not. */
  private began: { readonly ns: number; readonly count: number } | null = null;

  begins(now: number, count: number): void {
    this.began = { ns: now, count };
  }

  ends(): void {
    this.began = null;
    this.due.clear();
  }

  comes(peer: PeerId, now: number): void {
    if (!this.gone.has(peer)) this.sources.set(peer, new Source(now));
  }

  asksHowFar(peer: PeerId, now: number): void {
    const source = this.sources.get(peer);
    if (source) source.questionNs = now;
  }

  /** Since when it could have asked for this block again, and did not; null: it has not waited. */
  asks(peer: PeerId, height: bigint, now: number, heldNs: number): Due | null {
    this.sources.get(peer)?.asks(height, now);
    const asked = this.askedOf.get(height);
    this.askedOf.set(height, asked === undefined || asked === peer ? peer : null);
    const due = this.due.get(height);
    this.due.delete(height);
    return due && now - due.sinceNs > HOP_NS && heldNs < due.sinceNs ? due : null;
  }

  hears(peer: PeerId, message: BlocksyncMessage, bytes: number, now: number): void {
    const source = this.sources.get(peer);
    if (message.type === 'block-response') {
      const { height } = message.block.header;
      const isFirst = !this.given.has(height); // a long one that nobody waits for is not even read
      this.answers(height);
      this.given.add(height);
      this.bytesMost = Math.max(this.bytesMost, bytes);
      if (!source) return;
      source.answeredNs = now;
      if (source.gives(height) && isFirst) source.provenNs ??= now;
    } else if (message.type === 'no-block-response') {
      this.answers(message.height);
      if (source) source.isDoubtful = true;
    } else if (message.type === 'status-response' && source && this.began) source.claims(message, now);
  }

  private answers(height: bigint): void {
    this.askedOf.set(height, null);
    this.due.delete(height);
  }

  hasApplied(upTo: bigint): void {
    if (this.askedOf.size === 0 && this.given.size === 0) return;
    for (const each of [this.askedOf, this.given, this.due])
      for (const height of each.keys()) if (height <= upTo) each.delete(height);
    for (const source of this.sources.values()) source.hasApplied(upTo);
  }

  /** It breaks a rule, and what others would be asked for may be asked of nobody. */
  distrusts(peer: PeerId, now: number): void {
    this.sources.delete(peer);
    this.gone.add(peer);
    for (const [height, { sinceNs }] of this.due) if (now - sinceNs <= HOP_NS) this.due.delete(height);
  }

  /** Its connection is gone. */
  goes(peer: PeerId, at: Machine, now: number): void {
    const owed = this.sources.get(peer)?.owes;
    this.distrusts(peer, now);
    const { began } = this;
    if (!owed || !began) return;
    const { waitNs } = at.config.sync;
    const hasWaited = at.clock.count() - began.count > Number(waitNs) + HOP_NS;
    if (!hasWaited || at.node?.isPaused !== false || now - at.heldUntilNs <= HOP_NS) return;
    for (const height of this.missing(at, began.ns, now))
      if (owed.has(height) && this.askedOf.get(height) === peer) this.due.set(height, { peer, sinceNs: now });
  }

  /** Of the next blocks those that nobody owes or gave, as far as one peer has them, and room for all of them. */
  private *missing(at: Machine, beganNs: number, now: number): Generator<bigint> {
    const { requestsPerPeerMax, bufferBytesMax } = at.config.sync;
    const underWay = new Set<bigint>([...this.given, ...this.askedOf.keys()]);
    if ((underWay.size + PAIR) * this.bytesMost >= bufferBytesMax) return;
    const sources = [...this.sources.values()];
    let count = PAIR;
    for (let height = at.height + 1n; height < at.height + BigInt(requestsPerPeerMax); height++) {
      if (this.given.has(height)) continue;
      count++; // of one that is owed a second peer may be asked in the same moment
      if (sources.some(({ owes }) => owes.has(height))) continue;
      if (sources.some((each) => each.hasRoom(height, count, requestsPerPeerMax, beganNs, now))) yield height;
    }
  }
}
