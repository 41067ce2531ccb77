// One validator's consensus on one height after another: what it has heard, what it has locked, and what follows (arXiv 1807.04938).
// Knows no clock, disk or peer: facts come in by `on...`, decisions come out of `settle` as words that the actor carries out.

import { must, unreachable } from '../../protocol/refusal.ts';
import { indexByAddress, proposerAtRound } from '../../protocol/rules/validator-set.ts';
import {
  type Address,
  type Block,
  type BlockId,
  NIL_BLOCK_ID,
  type Part,
  PRECOMMIT,
  PREVOTE,
  type Proposal,
  type Validator,
  type ValidatorSet,
  type Vote,
  type VoteType,
} from '../../protocol/types.ts';
import { isNilBlockId } from '../../protocol/validate.ts';
import { type BlockEntry, Blocks, isValid } from './blocks.ts';
import { ChartStepper, type Decision, type Step } from './chart.ts';
import type { ConsensusConfig, TimeoutStep } from './config.ts';
import { FACT, LOOKED_AT, surveyOf } from './facts.ts';
import { judgeProposals, NO_PROPOSAL } from './judging.ts';
import { type Round, Rounds, type VoteOutcome } from './rounds.ts';
import type { HeightStart, Said } from './said.ts';

/**
 * Blocks that the application may be judging at once: a slow one must not work through the proposals of all failed rounds before it comes to the
 * block that is decided.
 */
const ASKED_AT_ONCE_MAX = 2;
/** Each look moves the chart, or a fact. A round has about two dozen of both, and rounds ahead are skipped at once: more looks are an endless loop. */
const LOOKS_UNTIL_REST_MAX = 1_024;

export class Consensus {
  readonly config: ConsensusConfig;
  readonly me: Address | null;
  height = 0n;
  round = 0;
  rounds!: Rounds;
  blocks!: Blocks;
  validators!: ValidatorSet;
  lastCommit: HeightStart['lastCommit'] = null;
  lockedRound = -1;
  lockedId: BlockId | null = null;
  validRound = -1;
  validId: BlockId | null = null;
  /** L49: the round whose precommits decided, and what. */
  decision: { readonly round: number; readonly id: BlockId } | null = null;
  /** False while a log is replayed: further on it may say what the application answered, and that we were locked before later rounds began. */
  asksApp = true;

  private readonly chart = new ChartStepper();
  private myIndex = -1;
  private proofBlockDue = false;
  private startDue = false;
  private txsWaiting = false;
  private emptyBlockDue = false;
  private executing = false;
  private executed: HeightStart | null = null;
  /** Which timers of the current round run or have fired. */
  private timers = newTimers();
  private lastMask = -1;
  private said: Said[] = [];

  constructor(config: ConsensusConfig, me: Address | null) {
    this.config = config;
    this.me = me;
  }

  get step(): Step {
    return this.chart.step;
  }

  get isValidator(): boolean {
    return this.myIndex >= 0;
  }

  get index(): number {
    return this.myIndex;
  }

  proposer(round: number): Validator {
    return proposerAtRound(this.validators, round);
  }

  get current(): Round {
    return this.rounds.at(this.round);
  }

  /** The first height of a life. Later heights follow from `onExecuted`. */
  begin(start: HeightStart): void {
    this.height = start.height;
    this.round = 0;
    this.validators = start.validators;
    this.lastCommit = start.lastCommit;
    this.proofBlockDue = start.proofBlockDue;
    this.rounds = new Rounds(start.height, start.validators);
    this.blocks = new Blocks();
    this.myIndex = this.me ? indexByAddress(start.validators, this.me) : -1;
    this.lockedRound = -1;
    this.lockedId = null;
    this.validRound = -1;
    this.validId = null;
    this.decision = null;
    this.startDue = false;
    this.txsWaiting = false;
    this.emptyBlockDue = false;
    this.executing = false;
    this.executed = null;
    this.timers = newTimers();
    this.lastMask = -1;
  }

  // --- facts -----------------------------------------------------------------------------------------------------

  /** The signature, of its round's proposer, is verified. */
  onProposal(proposal: Proposal): 'kept' | 'known' | 'crowded' {
    must(proposal.height === this.height, 'proposals of other heights are sorted out by the actor');
    const proposer = this.proposer(proposal.round);
    const index = indexByAddress(this.validators, proposer.address);
    const refused = this.rounds.propose(proposal, index, proposer.power);
    if (refused) return refused;
    this.blocks.want(proposal.blockId, proposal.round);
    return 'kept';
  }

  onPart(part: Part): { readonly entry: BlockEntry; readonly isNew: boolean } | 'unwanted' {
    return this.blocks.addPart(part);
  }

  /** The parts are complete: their block, or null when they do not decode to it. */
  onBlock(entry: BlockEntry, block: Block | null): void {
    entry.block = block;
    if (block === null) entry.rules = 'bad';
  }

  /** Index, address and signature are verified. */
  onVote(vote: Vote, peer: string): VoteOutcome {
    must(vote.height === this.height, 'votes of other heights are sorted out by the actor');
    const voter = this.validators.validators[vote.validatorIndex] ?? unreachable('the index was checked');
    const outcome = this.rounds.tally(vote, voter.power, peer, this.round);
    if (outcome.tally === 'too-far' || outcome.tally === 'known') return outcome;
    this.onQuorum(vote);
    return outcome;
  }

  /** A quorum names a block: we want its parts even without a proposal, but of a polka of long ago, which only a proposal makes use of. */
  private onQuorum(vote: Vote): void {
    const round = this.rounds.at(vote.round);
    const tally = vote.type === PREVOTE ? round.prevotes : round.precommits;
    const id = tally.twoThirds;
    if (id === null || isNilBlockId(id) || (vote.type === PREVOTE && vote.round < this.round - 1)) return;
    this.blocks.want(id, vote.round);
    if (vote.type === PRECOMMIT && this.decision === null) this.decision = { round: vote.round, id };
  }

  /** Precommits of the height before, while we wait to start this one (spec 5.2). */
  onLateCommit(vote: Vote): boolean {
    if (!this.lastCommit || vote.round !== this.lastCommit.round || vote.type !== PRECOMMIT) return false;
    const voter = this.lastCommit.precommits.validators.validators[vote.validatorIndex];
    if (!voter) return false;
    return this.lastCommit.precommits.tally(vote, voter.power).tally === 'added';
  }

  onTimeout(step: TimeoutStep, height: bigint, round: number): void {
    if (height !== this.height || round !== this.round) return; // late timers carry their own height and round
    this.timers[step] = 'fired';
  }

  onStartDue(height: bigint): void {
    if (height === this.height) this.startDue = true;
  }

  onTxsAvailable(): void {
    this.txsWaiting = true;
  }

  onEmptyBlockDue(height: bigint): void {
    if (height === this.height) this.emptyBlockDue = true;
  }

  /** The block of this height is executed and stored: where the next height begins. */
  onExecuted(next: HeightStart): void {
    this.executed = next;
  }

  /**
   * Our own signed vote of a life before, from the log or the signer. A precommit for a block means that we had locked it, and that we had
   * found it valid: both are restored at once, without asking the application again.
   */
  onOwnVote(vote: Pick<Vote, 'height' | 'round' | 'type' | 'blockId'>): void {
    if (vote.height !== this.height || isNilBlockId(vote.blockId)) return;
    const entry = this.blocks.want(vote.blockId, vote.round);
    entry.app = 'accepted';
    if (vote.type !== PRECOMMIT || vote.round < this.lockedRound) return;
    this.lockedRound = vote.round;
    this.lockedId = vote.blockId;
    if (vote.round >= this.validRound) {
      this.validRound = vote.round;
      this.validId = vote.blockId;
    }
  }

  /** Two thirds decided what is no block of this chain: nothing can follow. */
  get badDecision(): BlockEntry | null {
    const entry = this.decision && this.blocks.get(this.decision.id);
    return entry?.rules === 'bad' ? entry : null;
  }

  // --- decisions -------------------------------------------------------------------------------------------------

  /** Looks until nothing more follows, and says what to do. */
  settle(): readonly Said[] {
    this.said = [];
    this.judgeBlocks();
    for (let looks = 0; ; looks++) {
      must(looks < LOOKS_UNTIL_REST_MAX, 'the chart does not come to rest');
      // Facts that no rule of this step looks at do not make a new look.
      const mask = this.survey() & LOOKED_AT[this.chart.step];
      if (mask === this.lastMask) break;
      this.lastMask = mask;
      const before = this.chart.step;
      const decisions = this.chart.look(surveyOf(mask));
      for (const decision of decisions) this.carryOut(decision);
      if (decisions.length > 0 || this.chart.step !== before) this.lastMask = -1;
      if (this.chart.step !== before)
        this.said.push({ say: 'step', step: this.chart.step, round: this.round });
    }
    return this.said;
  }

  private judgeBlocks(): void {
    let unasked: BlockEntry[] | null = null;
    for (const entry of this.blocks.all()) {
      if (entry.block === null) continue;
      if (entry.rules === 'unknown') this.said.push({ say: 'judge', entry });
      else if (entry.app !== 'unasked') continue;
      else if (!this.isValidator) entry.app = 'accepted';
      else if (entry.rules === 'good' && this.decision === null && this.asksApp) {
        unasked ??= [];
        unasked.push(entry);
      }
    }
    if (unasked) this.askApp(unasked);
  }

  /** In the order in which they were named. */
  private askApp(unasked: readonly BlockEntry[]): void {
    let room = ASKED_AT_ONCE_MAX;
    for (const { app } of this.blocks.all()) if (app === 'asked') room--;
    if (room <= 0) return;
    for (const entry of unasked.slice(0, room)) {
      entry.app = 'asked';
      this.said.push({ say: 'ask-app', entry });
    }
  }

  private carryOut(decision: Decision): void {
    switch (decision) {
      case 'startRound':
        return this.startRound(0);
      case 'skipRound':
        return this.startRound(this.rounds.skipTo(this.round));
      case 'nextRound':
        return this.startRound(this.round + 1);
      case 'propose':
        return this.propose();
      case 'prevoteBlock':
        return this.vote(
          PREVOTE,
          (judgeProposals(this).accepted ?? unreachable('a proposal was acceptable')).id,
        );
      case 'prevoteNil':
        return this.vote(PREVOTE, NIL_BLOCK_ID);
      case 'waitForPrevotes':
        return this.wait('prevote');
      case 'lock':
        return this.lock();
      case 'precommitBlock':
        return this.vote(PRECOMMIT, this.current.prevotes.twoThirds ?? unreachable('a polka was seen'));
      case 'precommitNil':
        return this.vote(PRECOMMIT, NIL_BLOCK_ID);
      case 'setValid':
        return this.setValid();
      case 'waitForPrecommits':
        return this.wait('precommit');
      case 'enterCommit':
        return;
      case 'execute':
        return this.execute();
      case 'nextHeight':
        this.begin(this.executed ?? unreachable('the height is done'));
        this.said.push({ say: 'height-begins' });
        return;
    }
  }

  private startRound(round: number): void {
    this.round = round;
    this.timers = newTimers();
    this.rounds.at(round);
    const old = this.asksApp ? this.blocks.letGoBefore(round - 1, [this.lockedId, this.validId]) : [];
    for (const parts of old) this.said.push({ say: 'let-go', parts });
    if (round === 0 && !this.mayPropose()) this.said.push({ say: 'wait-for-txs' });
  }

  private propose(): void {
    this.wait('propose');
    const { address } = this.proposer(this.round);
    if (this.isValidator && indexByAddress(this.validators, address) === this.myIndex)
      this.said.push(this.proposal);
  }

  /** In our turn: what is valid, else a new block. */
  get proposal(): Extract<Said, { say: 'propose' }> {
    const entry = this.validId === null ? null : this.blocks.get(this.validId);
    const valid = entry?.block ? entry : null;
    return { say: 'propose', round: this.round, valid, polRound: valid ? this.validRound : -1 };
  }

  private wait(step: TimeoutStep): void {
    this.timers[step] = 'runs';
    this.said.push({ say: 'wait', step, round: this.round });
  }

  private vote(vote: VoteType, blockId: BlockId): void {
    if (this.myIndex >= 0) this.said.push({ say: 'vote', vote, round: this.round, blockId });
  }

  /** L38-L39. Lock before we speak. */
  private lock(): void {
    const id = this.current.prevotes.twoThirds ?? unreachable('a polka was seen');
    this.lockedRound = this.round;
    this.lockedId = id;
    this.said.push({ say: 'locked', round: this.round, blockId: id });
  }

  /** L42-L43. */
  private setValid(): void {
    const id = this.current.prevotes.twoThirds ?? unreachable('a polka was seen');
    this.validRound = this.round;
    this.validId = id;
    this.said.push({ say: 'valid', round: this.round, blockId: id });
  }

  private execute(): void {
    const { round, id } = this.decision ?? unreachable('decided');
    this.executing = true;
    const entry = this.blocks.get(id) ?? unreachable('the decided block is here');
    this.said.push({ say: 'execute', entry, round, precommits: this.rounds.at(round).precommits });
  }

  // --- the survey ------------------------------------------------------------------------------------------------

  private mayPropose(): boolean {
    if (this.round > 0 || this.proofBlockDue || this.txsWaiting || this.emptyBlockDue) return true;
    if (this.config.createEmptyBlocks && this.config.createEmptyBlocksIntervalNs === 0n) return true;
    // Others saw transactions that we did not, or we had begun before a crash: the round runs.
    return this.rounds.isBegun(this.round, this.myIndex);
  }

  private survey(): number {
    const round = this.rounds.get(this.round);
    const polka = round?.prevotes.twoThirds ?? null;
    const step = this.chart.step;
    const isPolkaForBlock = polka !== null && !isNilBlockId(polka) && isValid(this.blocks.get(polka));
    const proposal = step === 'propose' ? judgeProposals(this) : NO_PROPOSAL;
    const decided = this.decision !== null;
    const decidedEntry = this.decision ? this.blocks.get(this.decision.id) : undefined;
    let mask = 0;
    if (this.startDue) mask |= FACT.heightMayStart;
    if (this.mayPropose()) mask |= FACT.mayPropose;
    if (proposal.acceptedBy === 22) mask |= FACT.proposalAcceptable;
    if (proposal.refusedBy === 22) mask |= FACT.proposalRefused;
    if (proposal.acceptedBy === 28) mask |= FACT.reproposalAcceptable;
    if (proposal.refusedBy === 28) mask |= FACT.reproposalRefused;
    if (this.timers.propose === 'fired') mask |= FACT.proposeTimeout;
    if (isPolkaForBlock) mask |= FACT.polkaForBlock;
    if (round?.prevotes.isNilTwoThirds) mask |= FACT.polkaForNil;
    if (round?.prevotes.hasTwoThirdsAny) mask |= FACT.prevotesAny;
    if (this.timers.prevote === 'fired') mask |= FACT.prevoteTimeout;
    if (isPolkaForBlock && this.validRound < this.round) mask |= FACT.newValidValue;
    if (round?.precommits.hasTwoThirdsAny && this.timers.precommit === 'idle') mask |= FACT.precommitsAny;
    if (this.timers.precommit === 'fired') mask |= FACT.precommitTimeout;
    if (decided) mask |= FACT.decided;
    if (this.rounds.skipTo(this.round) >= 0) mask |= FACT.laterRound;
    if (decidedEntry?.block && decidedEntry.rules === 'good' && !this.executing)
      mask |= FACT.decisionExecutable;
    if (this.executed) mask |= FACT.heightDone;
    return mask;
  }
}

type Timers = Record<TimeoutStep, 'idle' | 'runs' | 'fired'>;
const newTimers = (): Timers => ({ propose: 'idle', prevote: 'idle', precommit: 'idle' });
