// Double votes that an honest node could prove: whether each is punished in time. What the node says of them may be lost on its way, and
// is said again: the time counts from when it was heard, or should have been said anew.

import { hexOf } from '../../../protocol/bytes.ts';
import type { Block, Evidence, Header, Vote } from '../../../protocol/types.ts';
import { hexFor } from '../../addresses.ts';
import type { Machine } from '../../machine.ts';
import type { Report, WorldAbout } from '../../oracle.ts';
import { STEP } from '../../steps.ts';
import { equalBlockId } from '../canonical/block-id.ts';
import { PRECOMMIT } from '../canonical/numbers.ts';
import { countedUntil, isPrompt } from '../ghost/between-heights.ts';
import { type GhostChain, isTrueVote } from '../ghost/ghost.ts';
import { PerMachine } from '../ghost/per-machine.ts';
import { accusedBy, heightOfCrime } from './proofs.ts';

/** Heights that its prover may decide until a double vote is punished. */
const HEIGHTS_UNTIL_PUNISHED = 8n;
/** What nobody heard is said again each ten seconds (spec 5.10), a little late where it waits for a beat. */
const SAID_AGAIN_NS = 12_000_000_000;
/** It is said for the first time by then: where heights take no time, many pass before that. */
const SAID_FIRST_NS = 2_000_000_000;
/** Less room for evidence than this in a block may be too little for what waits. */
const ROOM_LEAST = 16_384n;
/** Where nobody knows the parameters. */
const NEVER = { maxAgeBlocks: 1n << 62n, maxAgeNs: 1n << 62n, maxBytes: 1n << 62n };
/** Of one liar a node keeps no more double votes: of all together more is no promise. */
const DOUBLE_VOTES_KEPT = 64;
/** Heights in which votes are compared. */
const HEIGHTS_COMPARED = 4;

/** A double vote whose two halves reached a node while it could count them. */
interface Proven {
  readonly by: Machine;
  readonly life: number;
  /** How often its disk had lost something when it said that it holds the evidence; null: it has not said so. */
  storedAt: number | null;
  /** At which height that was. */
  storedIn: bigint;
  /** Somebody honest has heard of it from `by`. */
  isHeard: boolean;
  /** Its height is over at `by`, which has been looked at. */
  isDue: boolean;
  /** From this height on it is expected. */
  since: bigint;
  /** Not before, in virtual time. */
  notBeforeNs: number;
  readonly address: string;
  readonly height: bigint;
  /** Whose, and of which step: each is punished. */
  readonly place: string;
}

export const placeOf = (address: string, { height, round, type }: Vote): string =>
  `${address}/${height}/${round}/${type}`;

/** Batches that a crash took, and old copies that took the place of what was there. */
const lossesOf = ({ disk: { counters } }: Machine): number => counters.batchesLost + counters.restores;

/** The block punishes nothing, or others for what is more recent. Of one liar only so much is held, and the oldest goes first. */
const isPassedOver = ({ address, height }: Proven, evidence: readonly Evidence[]): boolean =>
  evidence.every((each) => heightOfCrime(each) > height && !accusedBy(each).includes(address));

export class Unpunished {
  private readonly ghost: GhostChain;
  private readonly about: WorldAbout;
  private readonly report: Report;
  /** By height, and there by voter, round and type: the first that each node heard. */
  private readonly votes = new PerMachine(() => new Map<number, Map<string, Vote>>());
  /** In which round a node decided its last height, in this life. */
  private readonly decidedIn = new Map<Machine, number>();
  private proven: Proven[] = [];
  /** Double votes that came between two heights: it is clear later whether they came in time. */
  private late: { readonly proven: Proven; readonly atNs: number }[] = [];

  constructor(ghost: GhostChain, about: WorldAbout, report: Report) {
    this.ghost = ghost;
    this.about = about;
    this.report = report;
  }

  get isEmpty(): boolean {
    return this.proven.length === 0;
  }

  /** A life begins: of what it heard before its log may have lost some, and what it holds it says again. */
  starts(at: Machine): void {
    this.votes.delete(at);
    this.decidedIn.delete(at);
    this.late = this.late.filter((each) => each.proven.by !== at);
    for (const each of this.proven) if (each.by === at && !each.isHeard) this.waits(each, SAID_AGAIN_NS);
  }

  private waits(proven: Proven, forNs: number): void {
    const notBeforeNs = this.about.now() + forNs / proven.by.clock.slowest; // it says so by its own clock
    proven.notBeforeNs = Math.max(proven.notBeforeNs, notBeforeNs);
  }

  decides(at: Machine, round: number): void {
    this.decidedIn.set(at, round);
  }

  /** A round begins at a node: what came well before was counted, and of what it counted at the height before it has made evidence. */
  begins(at: Machine): void {
    for (const each of this.proven) if (each.by === at && !each.isDue) this.isMade(each);
    if (this.late.length === 0) return;
    const until = countedUntil(at, this.about.now());
    for (const each of this.late)
      if (each.proven.by === at && until !== null && each.atNs <= until) this.proven.push(each.proven);
    this.late = this.late.filter((each) => each.proven.by !== at);
  }

  /** Whoever proposes next can punish it then: where evidence is soon too old, nobody could later. */
  private isMade(due: Proven): void {
    const { by, address, height } = due;
    if (by.height < height) return;
    due.isDue = true;
    if (by.height > height || this.isForgotten(due)) return;
    const ofOne = this.proven.filter((each) => each.by === by && each.address === address);
    if (ofOne.length > DOUBLE_VOTES_KEPT / 2) return;
    if (ofOne.some((each) => each.height === height && each.storedAt !== null)) return;
    const what = `heard ${address.slice(0, 12)} vote twice at ${height}, and begins the next height without evidence of it`;
    this.report(`${by.name} ${what}`, by, height + 1n);
  }

  /** A vote of somebody who lies, at somebody who does not. */
  hears(at: Machine, address: string, vote: Vote): void {
    if (!this.counts(at, vote)) return;
    const known = this.votesOf(at, Number(vote.height));
    const key = `${address}/${vote.round}/${vote.type}`;
    const before = known.get(key);
    if (before && equalBlockId(before.blockId, vote.blockId)) return;
    const set = this.ghost.set(vote.height);
    if (!set || !isTrueVote(this.about, set, vote)) return;
    if (!before) {
      known.set(key, vote);
      return;
    }
    if (known.size > DOUBLE_VOTES_KEPT) return;
    const found: Proven = {
      by: at,
      life: at.lives,
      storedAt: null,
      storedIn: 0n,
      isHeard: false,
      isDue: false,
      since: vote.height,
      notBeforeNs: 0,
      address,
      height: vote.height,
      place: placeOf(address, vote),
    };
    if (vote.height > at.height) this.proven.push(found);
    // Evidence of these is made when the next height is over.
    else this.late.push({ proven: { ...found, isDue: true }, atNs: this.about.now() });
  }

  private votesOf(at: Machine, height: number): Map<string, Vote> {
    const heights = this.votes.of(at);
    let known = heights.get(height);
    if (!known) {
      known = new Map();
      heights.set(height, known);
      heights.delete(height - HEIGHTS_COMPARED);
    }
    return known;
  }

  /** It counts votes of its height, up to the next round; what comes in a pause waits, and may come too late. */
  private counts(at: Machine, vote: Vote): boolean {
    if (at.mode !== 'consensus' || at.node?.isPaused !== false) return false;
    if (vote.height !== at.height + 1n) return this.isLate(at, vote);
    if (at.step !== STEP.commit) return vote.round <= at.round + 1;
    // As it executes its block it may be between the heights already, and on a slow disk says so long after: then nobody knows what it counts.
    return vote.round === at.round && isPrompt(at);
  }

  /** Between two heights it counts the precommits of the round that decided the last one, too. */
  private isLate(at: Machine, { type, height, round }: Vote): boolean {
    const isBetween = height === at.height && at.step === STEP.newHeight;
    return type === PRECOMMIT && isBetween && round === this.decidedIn.get(at);
  }

  /**
   * A node says that it holds evidence: of what it heard in this life, not of what an earlier one took with it. `place`: of which double vote,
   * where others told it; null: it has made the evidence itself.
   */
  stores(at: Machine, address: string, height: bigint, place: string | null): void {
    const stored = this.proven.find(
      ({ by, life, storedAt, ...each }) =>
        by === at &&
        life === at.lives &&
        storedAt === null &&
        each.height === height &&
        each.address === address &&
        (place === null || each.place === place),
    );
    if (!stored) return;
    stored.storedAt = lossesOf(at);
    this.waits(stored, SAID_FIRST_NS);
    stored.storedIn = at.height;
  }

  /** A node tells its peers of the double votes of these places. */
  offers(at: Machine, places: ReadonlySet<string>): void {
    for (const each of this.proven) {
      if (each.by !== at || each.isHeard || !places.has(each.place)) continue;
      each.since = at.height > each.since ? at.height : each.since;
      this.waits(each, SAID_AGAIN_NS);
    }
  }

  /** What a node told of these has come to somebody honest who takes it. */
  isHeardFrom(by: Machine, places: ReadonlySet<string>): void {
    for (const each of this.proven) {
      if (each.by !== by || !places.has(each.place)) continue;
      each.isHeard = true;
      each.notBeforeNs = 0;
    }
  }

  /** A block is there. */
  passes({ header, evidence }: Block, guilty: ReadonlySet<string>): void {
    this.proven = this.proven.filter((each) => {
      const { by, height, address, place } = each;
      if (guilty.has(place) || this.isForgotten(each)) return false;
      if (isPassedOver(each, evidence) && this.couldPunish(each, header)) {
        const what = `proposed block ${header.height} without the evidence of height ${height} that it holds`;
        this.report(`${by.name} ${what}`, by, header.height);
        return false;
      }
      if (this.isExpired(each, header) || !this.isRoomy(header.height)) return false;
      if (by.mode !== 'consensus') each.since = header.height;
      if (by.height <= each.since + HEIGHTS_UNTIL_PUNISHED || this.about.now() < each.notBeforeNs)
        return true;
      const who = address.slice(0, 12);
      this.report(`${by.name} heard ${who} vote twice at ${height}; nobody was punished`, by, header.height);
      return false;
    });
  }

  /** With its memory, or with what its disk has lost since. */
  private isForgotten({ by, life, storedAt }: Proven): boolean {
    if (storedAt === null) return by.lives !== life || by.mode !== 'consensus';
    return lossesOf(by) !== storedAt;
  }

  /** Its prover made this block, held it when the height began, and it was not too old for it: measured from the block before (spec 5.10). */
  private couldPunish(
    { by, height, storedAt, storedIn }: Proven,
    { height: at, ...header }: Header,
  ): boolean {
    if (storedAt === null || storedIn + 2n > at || hexOf(header.proposerAddress) !== hexFor(by)) return false;
    const { maxAgeBlocks, maxAgeNs } = this.ghost.params(at)?.evidence ?? NEVER;
    const [timeNs, beforeNs] = [this.ghost.timeNs(height), this.ghost.timeNs(at - 1n)];
    if (timeNs === undefined || beforeNs === undefined || !this.isRoomy(at)) return false;
    return at - 1n - height <= maxAgeBlocks || beforeNs - timeNs <= maxAgeNs;
  }

  private isRoomy(height: bigint): boolean {
    return (this.ghost.params(height)?.evidence ?? NEVER).maxBytes >= ROOM_LEAST;
  }

  /** By the parameters in force: for the next block it is too old. */
  private isExpired({ height }: Proven, header: Header): boolean {
    const { maxAgeBlocks, maxAgeNs } = this.ghost.params(header.height)?.evidence ?? NEVER;
    const timeNs = this.ghost.timeNs(height) ?? header.timeNs;
    return header.height - height > maxAgeBlocks && header.timeNs - timeNs > maxAgeNs;
  }
}
