// When a vote is dated (spec 5.2): by the clock of who casts it, or just after its block where that clock is behind. The time of the next block is the
// median of these: by it evidence and trust grow old. And a proposal: by the clock of who proposes.

import type { AppMail, SignerMail } from '../../../actors/mail.ts';
import { equalBytes, settled } from '../../../protocol/bytes.ts';
import type { Proposal, Vote } from '../../../protocol/types.ts';
import type { Machine } from '../../machine.ts';
import type { Report, WorldAbout } from '../../oracle.ts';
import { PREVOTE } from '../canonical/numbers.ts';
import { Authors } from '../ghost/authors.ts';
import { areFewLiars } from '../ghost/few-liars.ts';
import type { GhostChain } from '../ghost/ghost.ts';
import { saidLateNs } from '../ghost/pace.ts';
import { BLOCK_STEP_NS, latestClock } from './validity.ts';

/** Between the look at its clock and the question to its signer lies a flush, or some, on a good disk. */
const PROMPT_NS = 60_000_000;
/** Where all clocks are behind, blocks that follow each other add some milliseconds each. */
const BEYOND_NS = 10_000_000_000n;
/** Who is further behind votes on what is decided. */
const HEIGHTS_KEPT = 8;

interface Known {
  readonly hash: Uint8Array;
  readonly timeNs: bigint;
}

function nameOf(said: Vote | Proposal): string {
  const kind = 'polRound' in said ? 'proposal' : said.type === PREVOTE ? 'prevote' : 'precommit';
  return `${kind} of ${said.height}/${said.round}`;
}

export class VoteTimes {
  private readonly ghost: GhostChain;
  private readonly report: Report;
  private readonly about: WorldAbout;
  private readonly authors: Authors;
  /** By height: blocks that applications of honest nodes were asked about. None of these votes for one before that. */
  private readonly asked = new Map<number, Known[]>();
  private latest = 0;

  constructor(ghost: GhostChain, report: Report, about: WorldAbout) {
    this.ghost = ghost;
    this.report = report;
    this.about = about;
    this.authors = new Authors(about);
  }

  asksApp(mail: AppMail): void {
    if (mail.type !== 'request' || mail.request.type !== 'process-proposal') return;
    const { hash, height, timeNs } = mail.request.value;
    const at = Number(height);
    if (at <= this.latest - HEIGHTS_KEPT) return;
    let known = this.asked.get(at);
    if (!known) {
      known = [];
      this.asked.set(at, known);
      this.asked.delete(at - HEIGHTS_KEPT);
      this.latest = Math.max(this.latest, at);
    }
    if (!known.some((each) => equalBytes(each.hash, hash))) known.push({ hash: settled(hash), timeNs });
  }

  /** Nobody honest dates a vote far beyond all clocks and good blocks. And what its clock says now, it said a moment ago, unless somebody has set it, or the node was held back. */
  asksSigner(at: Machine, mail: SignerMail): void {
    if (mail.type === 'sign-vote') this.asksForVote(at, mail.vote);
    else if (mail.type === 'sign-proposal') this.asksForProposal(at, mail.proposal);
  }

  private asksForVote(at: Machine, vote: Vote): void {
    const beyondNs = this.beyondNs(at, vote);
    if (beyondNs > BEYOND_NS) return this.wrong(at, vote, `${beyondNs} ns ahead of every honest clock`);
    const behindNs = this.behindNs(vote);
    if (behindNs > 0n) return this.wrong(at, vote, `${behindNs} ns earlier than its block allows`);
    const wrong = this.wrongByClock(at, vote.timeNs);
    if (wrong && (!wrong.isAhead || this.isAhead(vote))) this.wrong(at, vote, wrong.what);
  }

  /** No block pushes its time on: what its clock said is what it says. */
  private asksForProposal(at: Machine, proposal: Proposal): void {
    const wrong = this.wrongByClock(at, proposal.timeNs);
    if (wrong) this.wrong(at, proposal, wrong.what);
  }

  /** Null: it is what its clock said a moment ago, or nobody knows what that said. */
  private wrongByClock(
    at: Machine,
    timeNs: bigint,
  ): { readonly isAhead: boolean; readonly what: string } | null {
    if (saidLateNs(at) > PROMPT_NS) return null;
    const { clock } = at;
    const sinceNs = this.about.now() - PROMPT_NS;
    if (at.heldUntilNs >= sinceNs || clock.setAtNs >= sinceNs) return null;
    const behindNs = clock.wallNs() - timeNs;
    if (behindNs < 0n) return { isAhead: true, what: `${-behindNs} ns ahead of its clock` };
    const isPrompt = behindNs <= BigInt(Math.ceil(PROMPT_NS * clock.fastest));
    return isPrompt ? null : { isAhead: false, what: `${behindNs} ns behind its clock` };
  }

  private wrong(at: Machine, said: Vote | Proposal, what: string): void {
    this.report(`${at.name} dates its ${nameOf(said)} ${what}`, at, said.height, 'time');
  }

  /** How far it is ahead of all that a good block may be of: the time of one that is not good says nothing. 0: it is not, or too many lie. */
  private beyondNs(at: Machine, { height, timeNs }: Vote): bigint {
    if (timeNs <= at.clock.wallLatestNs()) return 0n;
    const earlier = this.ghost.timeNs(height - 1n) ?? 0n;
    const latest = latestClock(this.ghost, this.about);
    const beyond = timeNs - (latest > earlier ? latest : earlier);
    return beyond > BEYOND_NS && this.isMedianTrue(height - 1n) ? beyond : 0n;
  }

  /** How far it is before the least that its block allows. 0: it is not, or another block may have dated it (a lock, or a second proposal of a liar). */
  private behindNs({ height, round, blockId, timeNs }: Vote): bigint {
    const [block, another] = this.asked.get(Number(height)) ?? [];
    if (!block || another || !equalBytes(block.hash, blockId.hash)) return 0n;
    if (!this.isProposerHonest(height, round)) return 0n;
    const least = block.timeNs + BLOCK_STEP_NS;
    return timeNs < least ? least - timeNs : 0n;
  }

  /** Of two thirds of the votes for a block the median is no liar's then. */
  private isMedianTrue(height: bigint): boolean {
    const set = this.ghost.set(height);
    return set ? areFewLiars(set, this.about) : height < this.ghost.genesis.initialHeight;
  }

  /**
   * It is later than any block of its height allows. A vote for nil may be dated by a block that nobody asked about, and so may one in the round of
   * a liar that proposed two.
   */
  private isAhead({ height, round, blockId, timeNs }: Vote): boolean {
    const known = this.asked.get(Number(height));
    if (!known || !this.isProposerHonest(height, round)) return false;
    if (!known.some(({ hash }) => equalBytes(hash, blockId.hash))) return false;
    return known.every((each) => timeNs > each.timeNs + BLOCK_STEP_NS);
  }
  private isProposerHonest(height: bigint, round: number): boolean {
    const proposer = this.ghost.set(height)?.atRound(round);
    return proposer !== undefined && this.authors.isHonest(proposer);
  }
}
