// Which rule of the paper (arXiv 1807.04938) was at work at one node, and with which outcome: told from what reached it,
// what it sent and which timers it asked for. The labels that a campaign must have seen (`sim/swarm/coverage.ts`).

import { equalBytes } from '../../../protocol/bytes.ts';
import type { BlockId, Proposal, Vote } from '../../../protocol/types.ts';
import { STEP } from '../../steps.ts';
import { equalBlockId } from '../canonical/block-id.ts';
import { PRECOMMIT, PREVOTE } from '../canonical/numbers.ts';
import { slotOf } from '../ghost/about-votes.ts';
import type { HeardHeight } from '../ghost/tally.ts';
import { stepOf, timerOf } from '../ghost/timers.ts';

/** What a node speaks for since a round, or null. */
export type Choice = { readonly round: number; readonly id: BlockId } | null;

interface Timer {
  readonly height: bigint;
  readonly round: number;
  readonly dueNs: number;
}

/** The rule that a timer of this step fires. */
const RULE_OF_TIMER: ReadonlyMap<string, string> = new Map([
  ['propose', 'L57'],
  ['prevote', 'L61'],
  ['precommit', 'L65'],
]);

const isNil = ({ hash }: BlockId): boolean => hash.length === 0;

export class AtWork {
  private readonly reached: (label: string) => void;
  private readonly now: () => number;
  private height = 0n;
  private round = 0;
  private step = 0;
  private readonly timers = new Map<string, Timer>();
  /** Timers of this height that came while they meant something: step and round. */
  private fired = new Set<string>();
  private asked = new Set<string>();
  /** What it voted in this height, by round and type. */
  private said = new Map<number, BlockId>();

  constructor(reached: (label: string) => void, now: () => number) {
    this.reached = reached;
    this.now = now;
  }

  moveTo(height: bigint): void {
    if (height <= this.height) return;
    this.comeDue();
    this.height = height;
    this.round = 0;
    this.step = 0;
    if (this.fired.size > 0) this.fired = new Set();
    if (this.asked.size > 0) this.asked = new Set();
    if (this.said.size > 0) this.said = new Map();
  }

  /** A life begins: its timers are gone. */
  restarts(): void {
    this.timers.clear();
  }

  // --- timers ----------------------------------------------------------------------------------------------

  asksFor(timer: string, afterNs: bigint, heard: (height: bigint) => HeardHeight | null): void {
    const { step, height, round } = timerOf(timer);
    if (RULE_OF_TIMER.get(step) === undefined) return;
    this.moveTo(height);
    this.comeDue();
    const at: Timer = { height, round, dueNs: this.now() + Number(afterNs) };
    this.timers.set(step, at);
    this.asked.add(`${step}/${round}`);
    if (step === 'prevote') this.reached('L34 waits for more prevotes');
    else if (step === 'precommit')
      this.reached(
        this.step < STEP.precommit
          ? 'L47 waits for more precommits before it precommitted'
          : 'L47 waits for more precommits',
      );
    else if (heard(at.height)?.isProposer(at.round) === false) this.reached('L21 waits for a proposal');
  }

  lets(timer: string): void {
    this.timers.delete(stepOf(timer));
  }

  /** Timers that came since anything else happened to the node. */
  private comeDue(): void {
    for (const [step, { height, round, dueNs }] of this.timers) {
      if (dueNs > this.now()) continue;
      this.timers.delete(step);
      const rule = RULE_OF_TIMER.get(step);
      if (height !== this.height) continue;
      if (round !== this.round) this.reached(`${rule} comes for a round that it left`);
      else if (step === 'propose' && this.step > STEP.propose) this.reached('L57 comes when it has prevoted');
      else if (step === 'prevote' && this.step >= STEP.precommit)
        this.reached('L61 comes when it has precommitted');
      else this.fired.add(`${step}/${round}`);
    }
  }

  // --- rounds ----------------------------------------------------------------------------------------------

  /** A step, as it was published. */
  steps(heard: HeardHeight | null, round: number, step: number): void {
    this.comeDue();
    const before = this.round;
    const from = this.step;
    this.round = round;
    this.step = step;
    if (!heard || round <= before) return;
    if (!heard.isThirdIn(round)) return this.reached('L65 begins a round on timeout');
    this.reached('L55 skips to a round of others');
    if (round > before + 1) this.reached('L55 skips over rounds');
    if (from === STEP.propose) this.reached('L55 skips before it prevoted');
    if (from >= STEP.precommit) this.reached('L55 skips after it precommitted');
  }

  proposes({ round, polRound, blockId }: Proposal, lock: Choice): void {
    if (polRound < 0)
      return this.reached(round === 0 ? 'L18 proposes the first block of a height' : 'L18 proposes anew');
    this.reached('L16 proposes its valid value');
    if (polRound < round - 1) this.reached('L16 proposes a valid value of rounds before');
    if (!lock) this.reached('L16 proposes a valid value without a lock');
    else if (equalBlockId(lock.id, blockId)) this.reached('L16 proposes what it is locked on');
  }

  // --- votes -----------------------------------------------------------------------------------------------

  prevotes(vote: Vote, heard: HeardHeight, lock: Choice): void {
    this.comeDue();
    const { proposals } = heard.round(vote.round);
    const { blockId: id } = vote;
    this.said.set(slotOf(vote), id);
    if (isNil(id)) return this.reached(this.whyNil(vote, heard, lock));
    const proposal = proposals.find(({ blockId }) => equalBlockId(blockId, id));
    if (!proposal) return; // its own: nobody was there to hear it
    const isOther = lock !== null && !equalBlockId(lock.id, id);
    if (proposals.some(({ blockId }) => !equalBlockId(blockId, id)))
      this.reached('L22 prevotes one of two proposals');
    if (proposal.polRound < 0)
      this.reached(lock ? 'L22 prevotes what it is locked on' : 'L22 prevotes a new proposal');
    else if (isOther) this.reached('L29 unlocked by a later polka');
    else
      this.reached(
        lock ? 'L29 prevotes its lock, that comes with its polka' : 'L28 prevotes a proposal with its polka',
      );
  }

  /** Why somebody prevotes nil, as far as it can be seen from outside. */
  private whyNil({ round }: Vote, heard: HeardHeight, lock: Choice): string {
    const { proposals } = heard.round(round);
    if (proposals.length === 0) return 'L57 prevotes nil: no proposal in time';
    const withPolka = proposals.filter(({ polRound }) => polRound >= 0);
    if (this.fired.has(`propose/${round}`)) {
      const isKnown = withPolka.some((each) => heard.isPolka(each.polRound, each.blockId));
      if (withPolka.length > 0 && !isKnown) return 'L57 prevotes nil: the polka of the proposal did not come';
      return 'L57 prevotes nil: the block of the proposal did not come';
    }
    const isAgainstLock = lock && proposals.every(({ blockId }) => !equalBlockId(blockId, lock.id));
    if (!isAgainstLock || round === 0) return 'L26 prevotes nil: the proposal is not acceptable';
    return withPolka.length > 0
      ? 'L32 refuses an older polka than its lock'
      : 'L26 refuses another block than its lock';
  }

  /** `lock`: what it was locked on before. */
  precommits(vote: Vote, heard: HeardHeight, lock: Choice): void {
    this.comeDue();
    const { blockId: id } = vote;
    const prevoted = this.said.get(slotOf({ type: PREVOTE, round: vote.round }));
    const waited = this.asked.has(`prevote/${vote.round}`);
    this.said.set(slotOf(vote), id);
    if (isNil(id)) {
      const isPolka = heard.isPolka(vote.round, id);
      this.reached(isPolka ? 'L44 precommits nil on a polka for nil' : 'L61 precommits nil on timeout');
      if (isPolka && waited) this.reached('L34 waited, and two thirds prevoted nil');
      if (isPolka && prevoted && !isNil(prevoted))
        this.reached('L44 precommits nil, and had prevoted a block');
      if (lock)
        this.reached(isPolka ? 'L44 precommits nil and stays locked' : 'L61 precommits nil and stays locked');
      return;
    }
    this.reached('L36 locks and precommits');
    if (waited) this.reached('L34 waited, and two thirds prevoted a block');
    if (prevoted && isNil(prevoted)) this.reached('L36 locks what it did not prevote');
    if (lock)
      this.reached(
        equalBlockId(lock.id, id) ? 'L36 locks the same block again' : 'L36 locks another block than before',
      );
  }

  /** A valid value, as it was published. */
  values(round: number): void {
    if (round < this.round || this.step > STEP.prevote + 1)
      this.reached('L42 learns of a valid value after it voted');
  }

  // --- the decision ----------------------------------------------------------------------------------------

  hearsPart(height: bigint): void {
    if (height === this.height && this.step === STEP.commit)
      this.reached('L49 gets the block after the decision');
  }

  decides(round: number, hash: Uint8Array, heard: HeardHeight | null, lock: Choice): void {
    this.comeDue();
    if (round < this.round) this.reached('L49 decides in a past round');
    else if (round > this.round) this.reached('L49 decides in a round that it has not begun');
    else this.reached('L49 decides in its round');
    const { proposals } = heard?.round(round) ?? { proposals: [] };
    if (proposals.some(({ polRound, blockId }) => polRound >= 0 && equalBytes(blockId.hash, hash)))
      this.reached('L49 decides a block that was proposed again');
    const precommitted = this.said.get(slotOf({ type: PRECOMMIT, round }));
    if (precommitted && isNil(precommitted)) this.reached('L49 decides what it did not precommit');
    if (lock && !equalBytes(lock.id.hash, hash)) this.reached('L49 decides another block than its lock');
  }
}
