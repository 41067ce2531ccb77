// One seat at the table: a consensus machine of four validators without an actor, told facts by name, its decisions as short words.

import { sha256, utf8Encode } from '#platform';
import type { BlockEntry } from '../../../machines/consensus/blocks.ts';
import {
  type ConsensusConfig,
  DEFAULT_CONSENSUS,
  type TimeoutStep,
} from '../../../machines/consensus/config.ts';
import { Consensus } from '../../../machines/consensus/consensus.ts';
import type { HeightStart, Said } from '../../../machines/consensus/said.ts';
import { PartSet } from '../../../protocol/part-set.ts';
import { unreachable } from '../../../protocol/refusal.ts';
import { proposerAtRound } from '../../../protocol/rules/validator-set.ts';
import {
  type Block,
  type BlockId,
  EMPTY_BYTES,
  NIL_BLOCK_ID,
  type Part,
  PRECOMMIT,
  PREVOTE,
  PROPOSAL,
  type Proposal,
  type ValidatorSet,
  type Vote,
} from '../../../protocol/types.ts';
import { blockIdKey, isNilBlockId } from '../../../protocol/validate.ts';
import { setOf } from '../../protocol/rules/people.ts';

interface Named {
  readonly id: BlockId;
  readonly parts: readonly Part[];
  readonly block: Block;
}

const known = new Map<string, Named>();
const names = new Map<string, string>();

/** The block of this name: the same everywhere. `Big...` has three parts. The machine never looks inside. */
export function blockNamed(name: string): Named {
  let found = known.get(name);
  if (!found) {
    const bytes = name.startsWith('Big') ? new Uint8Array(150_000) : utf8Encode(name);
    bytes.set(utf8Encode(name));
    const whole = PartSet.whole(bytes);
    const parts = Array.from({ length: whole.header.total }, (_, i) => whole.part(i) ?? unreachable('whole'));
    const id = { hash: sha256(bytes), parts: whole.header };
    found = { id, parts, block: { header: { name } } as unknown as Block };
    known.set(name, found);
    names.set(blockIdKey(id), name);
  }
  return found;
}

export const idOf = (name: string): BlockId => (name === 'nil' ? NIL_BLOCK_ID : blockNamed(name).id);
export const nameOf = (id: BlockId): string =>
  isNilBlockId(id) ? 'nil' : (names.get(blockIdKey(id)) ?? unreachable('a block without a name'));

/** Equal powers: the quorum is three, and every round has another proposer. */
export const FOUR: ValidatorSet = setOf(10n, 10n, 10n, 10n);
export const proposerOf = (round: number, set = FOUR): number =>
  set.validators.indexOf(proposerAtRound(set, round));

export function voteOf(
  type: number,
  name: string,
  round: number,
  index: number,
  height = 1n,
  set = FOUR,
): Vote {
  return {
    type,
    height,
    round,
    blockId: idOf(name),
    timeNs: 0n,
    validatorAddress: set.validators[index]!.address,
    validatorIndex: index,
    signature: EMPTY_BYTES,
    extension: EMPTY_BYTES,
    extensionSignature: EMPTY_BYTES,
  };
}

export const proposalOf = (name: string, round: number, polRound = -1): Proposal => ({
  type: PROPOSAL,
  height: 1n,
  round,
  polRound,
  blockId: idOf(name),
  timeNs: 0n,
  signature: EMPTY_BYTES,
});

export type Fact = (seat: Seat) => void;

export interface SeatOptions {
  readonly me?: number | null;
  readonly config?: Partial<ConsensusConfig>;
  readonly proofBlockDue?: boolean;
}

export class Seat {
  readonly consensus: Consensus;
  readonly me: number;
  /** What the rules of the chain and the application say of blocks; good and accepted if nothing stands here. */
  readonly rules = new Map<string, 'good' | 'bad' | 'early'>();
  readonly app = new Map<string, 'accepted' | 'rejected' | 'silent'>();
  /** Our own votes are counted at once, as if the signer took no time. */
  ownVotesCount = true;
  says: string[] = [];
  /** Hears everything that the machine says. */
  heard: ((said: Said) => void) | null = null;

  constructor(options: SeatOptions = {}) {
    // By default we propose last, in round 3.
    this.me = options.me === undefined ? proposerOf(3) : (options.me ?? -1);
    const me = this.me < 0 ? null : FOUR.validators[this.me]!.address;
    this.consensus = new Consensus({ ...DEFAULT_CONSENSUS, ...options.config }, me);
    this.consensus.begin(this.heightStart(1n, options.proofBlockDue ?? true));
  }

  private heightStart(height: bigint, proofBlockDue: boolean): HeightStart {
    return { height, validators: FOUR, lastCommit: null, proofBlockDue };
  }

  /** Tells a fact and looks until the machine rests; what it said on the way. */
  tell(fact: Fact): string[] {
    fact(this);
    this.says = [];
    for (;;) {
      const said = this.consensus.settle();
      let follows = false;
      for (const each of said) follows = this.carryOut(each) || follows;
      if (!follows) return this.says;
    }
  }

  get stands(): string {
    return `${this.consensus.step} ${this.consensus.round}`;
  }

  private carryOut(said: Said): boolean {
    this.heard?.(said);
    switch (said.say) {
      case 'step':
      case 'let-go':
        return false;
      case 'judge':
        return this.judge(said.entry);
      case 'ask-app':
        return this.answer(said.entry);
      case 'vote': {
        const { vote, round, blockId } = said;
        this.says.push(`${vote === PREVOTE ? 'prevote' : 'precommit'} ${nameOf(blockId)}`);
        if (!this.ownVotesCount) return false;
        this.consensus.onVote(voteOf(vote, nameOf(blockId), round, this.me, this.consensus.height), '');
        return true;
      }
      case 'wait':
        this.says.push(`wait ${said.step}`);
        return false;
      case 'propose':
        this.says.push(`propose ${said.valid ? `${nameOf(said.valid.id)} of ${said.polRound}` : 'new'}`);
        return false;
      case 'locked':
        this.says.push(`lock ${nameOf(said.blockId)}`);
        return false;
      case 'valid':
        this.says.push(`valid ${nameOf(said.blockId)}`);
        return false;
      case 'execute':
        this.says.push(`execute ${nameOf(said.entry.id)} of ${said.round}`);
        return false;
      case 'height-begins':
        this.says.push(`height ${this.consensus.height}`);
        return true;
      case 'wait-for-txs':
        this.says.push('wait for txs');
        return false;
    }
  }

  private judge(entry: BlockEntry): boolean {
    const verdict = this.rules.get(nameOf(entry.id)) ?? 'good';
    entry.rules = verdict === 'bad' ? 'bad' : 'good';
    entry.doubted = verdict === 'early';
    return true;
  }

  private answer(entry: BlockEntry): boolean {
    const answer = this.app.get(nameOf(entry.id)) ?? 'accepted';
    this.says.push(`ask ${nameOf(entry.id)}`);
    if (answer === 'silent') return false;
    entry.app = answer;
    return true;
  }

  /** The `n` others that come first in the set. */
  others(n: number): number[] {
    return [0, 1, 2, 3].filter((index) => index !== this.me).slice(0, n);
  }
}

// --- facts -------------------------------------------------------------------------------------------------------------

export const started: Fact = ({ consensus }) => consensus.onStartDue(consensus.height);
export const timeout =
  (step: TimeoutStep, round = 0): Fact =>
  ({ consensus }) =>
    consensus.onTimeout(step, 1n, round);
export const txs: Fact = ({ consensus }) => consensus.onTxsAvailable();
export const emptyDue: Fact = ({ consensus }) => consensus.onEmptyBlockDue(1n);
export const both =
  (...facts: readonly Fact[]): Fact =>
  (seat) => {
    for (const fact of facts) fact(seat);
  };
export const onlyProposal =
  (name: string, round = 0, polRound = -1): Fact =>
  ({ consensus }) => {
    consensus.onProposal(proposalOf(name, round, polRound));
  };
export const parts =
  (name: string): Fact =>
  ({ consensus }) => {
    const { parts, block } = blockNamed(name);
    for (const part of parts) {
      const added = consensus.onPart(part);
      if (added !== 'unwanted' && added.isNew && added.entry.parts.isComplete)
        consensus.onBlock(added.entry, block);
    }
  };
export const proposal = (name: string, round = 0, polRound = -1): Fact =>
  both(onlyProposal(name, round, polRound), parts(name));
const votes =
  (type: number, name: string, n: number, round: number): Fact =>
  (seat) => {
    for (const index of seat.others(n))
      seat.consensus.onVote(voteOf(type, name, round, index), `peer ${index}`);
  };
export const prevotes = (name: string, n: number, round = 0): Fact => votes(PREVOTE, name, n, round);
export const precommits = (name: string, n: number, round = 0): Fact => votes(PRECOMMIT, name, n, round);
/** Votes of these indexes among the others: 0, 1, 2. */
export const voteFrom =
  (type: number, name: string, other: number, round = 0): Fact =>
  (seat) => {
    const index = seat.others(3)[other] ?? unreachable('three others');
    seat.consensus.onVote(voteOf(type, name, round, index), `peer ${index}`);
  };
export const appSays =
  (name: string, answer: 'accepted' | 'rejected'): Fact =>
  ({ consensus }) => {
    (consensus.blocks.get(idOf(name)) ?? unreachable('asked')).app = answer;
  };
export const executed: Fact = ({ consensus }) =>
  consensus.onExecuted({
    height: consensus.height + 1n,
    validators: FOUR,
    lastCommit: {
      round: consensus.decision!.round,
      precommits: consensus.rounds.at(consensus.decision!.round).precommits,
    },
    proofBlockDue: false,
  });
