// Where a validator stands in a height, and what follows: the `upon` rules of "The latest gossip on BFT
// consensus" (arXiv 1807.04938), one row for each outcome and the line of its rule behind it (`sim zoo --rules` reads it).
// The chart only says decisions; `consensus.ts` carries them out on its data. Facts are levels: the survey is looked at until the chart rests.

import { type AnyActor, type MachineSnapshot, setup } from 'xstate';

/** What can be seen from the data, all at once. Booleans, so that two looks compare by value. */
export interface Survey {
  /** The wait after the last commit is over, or cut short: it begins when the application has answered. */
  readonly heightMayStart: boolean;
  /** There is something to propose: transactions, a due empty block, or a round after the first. */
  readonly mayPropose: boolean;
  /** L22: a new proposal of this round, complete and judged, and we may prevote it. */
  readonly proposalAcceptable: boolean;
  /** L22: it is complete and judged, and we may not: invalid, or against our lock. */
  readonly proposalRefused: boolean;
  /** L28: a proposal that brings a polka that we know of, complete and judged, and we may prevote it. */
  readonly reproposalAcceptable: boolean;
  /** L28: it is complete and judged, its polka is here, and we may not: our lock is younger. */
  readonly reproposalRefused: boolean;
  readonly proposeTimeout: boolean;
  /** Two thirds prevoted a block of this round that we hold and find valid. */
  readonly polkaForBlock: boolean;
  readonly polkaForNil: boolean;
  readonly prevotesAny: boolean;
  readonly prevoteTimeout: boolean;
  /** The valid value is older than this round's polka. */
  readonly newValidValue: boolean;
  /** Two thirds precommitted anything in this round, and the timer does not run yet. */
  readonly precommitsAny: boolean;
  readonly precommitTimeout: boolean;
  /** Two thirds precommitted one block in some round. */
  readonly decided: boolean;
  /** More than a third of the power speaks in a later round. */
  readonly laterRound: boolean;
  /** The decided block is here, whole and valid. */
  readonly decisionExecutable: boolean;
  readonly heightDone: boolean;
}

export type Decision =
  | 'startRound'
  | 'propose'
  | 'prevoteBlock'
  | 'prevoteNil'
  | 'waitForPrevotes'
  | 'lock'
  | 'precommitBlock'
  | 'precommitNil'
  | 'setValid'
  | 'waitForPrecommits'
  | 'nextRound'
  | 'skipRound'
  | 'enterCommit'
  | 'execute'
  | 'nextHeight';

type Look = { readonly type: 'look'; readonly seen: Survey };
const sees =
  (fact: keyof Survey) =>
  ({ event }: { event: Look }): boolean =>
    event.seen[fact];
const says = (): void => {};

/** Rules that hold in every step of a round. */
const always = [
  { guard: 'decided', target: 'commit', actions: 'enterCommit' }, // L49
  { guard: 'laterRound', target: 'newRound', actions: 'skipRound', reenter: true }, // L55
  { guard: 'precommitTimeout', target: 'newRound', actions: 'nextRound', reenter: true }, // L65
  { guard: 'precommitsAny', actions: 'waitForPrecommits' }, // L47
] as const;

/** Rules of the prevote step, whether or not its timer runs. */
const prevoting = [
  { guard: 'polkaForBlock', target: 'precommit', actions: ['lock', 'setValid', 'precommitBlock'] }, // L36
  { guard: 'polkaForNil', target: 'precommit', actions: 'precommitNil' }, // L44
  { guard: 'prevoteTimeout', target: 'precommit', actions: 'precommitNil' }, // L61
] as const;

export const consensusChart = setup({
  types: {} as { events: Look },
  guards: {
    heightMayStart: sees('heightMayStart'),
    mayPropose: sees('mayPropose'),
    proposalAcceptable: sees('proposalAcceptable'),
    proposalRefused: sees('proposalRefused'),
    reproposalAcceptable: sees('reproposalAcceptable'),
    reproposalRefused: sees('reproposalRefused'),
    proposeTimeout: sees('proposeTimeout'),
    polkaForBlock: sees('polkaForBlock'),
    polkaForNil: sees('polkaForNil'),
    prevotesAny: sees('prevotesAny'),
    prevoteTimeout: sees('prevoteTimeout'),
    newValidValue: sees('newValidValue'),
    precommitsAny: sees('precommitsAny'),
    precommitTimeout: sees('precommitTimeout'),
    decided: sees('decided'),
    laterRound: sees('laterRound'),
    decisionExecutable: sees('decisionExecutable'),
    heightDone: sees('heightDone'),
  },
  actions: {
    startRound: says,
    propose: says,
    prevoteBlock: says,
    prevoteNil: says,
    waitForPrevotes: says,
    lock: says,
    precommitBlock: says,
    precommitNil: says,
    setValid: says,
    waitForPrecommits: says,
    nextRound: says,
    skipRound: says,
    enterCommit: says,
    execute: says,
    nextHeight: says,
  },
}).createMachine({
  id: 'consensus',
  initial: 'newHeight',
  states: {
    newHeight: {
      on: {
        look: [
          { guard: 'decided', target: 'commit', actions: 'enterCommit' }, // L49, before we started
          { guard: 'heightMayStart', target: 'newRound', actions: 'startRound' }, // L10
        ],
      },
    },
    newRound: {
      on: { look: [...always, { guard: 'mayPropose', target: 'propose', actions: 'propose' }] }, // L11-L21
    },
    propose: {
      on: {
        look: [
          ...always,
          { guard: 'proposalAcceptable', target: 'prevote', actions: 'prevoteBlock' }, // L22, to L24
          { guard: 'proposalRefused', target: 'prevote', actions: 'prevoteNil' }, // L22, to L26
          { guard: 'reproposalAcceptable', target: 'prevote', actions: 'prevoteBlock' }, // L28, to L30
          { guard: 'reproposalRefused', target: 'prevote', actions: 'prevoteNil' }, // L28, to L32
          { guard: 'proposeTimeout', target: 'prevote', actions: 'prevoteNil' }, // L57
        ],
      },
    },
    prevote: {
      on: {
        look: [
          ...always,
          ...prevoting,
          { guard: 'prevotesAny', target: 'prevoteWait', actions: 'waitForPrevotes' }, // L34
        ],
      },
    },
    prevoteWait: { on: { look: [...always, ...prevoting] } },
    precommit: {
      on: { look: [...always, { guard: 'newValidValue', actions: 'setValid' }] }, // L36, later (L42)
    },
    commit: {
      on: {
        look: [
          { guard: 'heightDone', target: 'newHeight', actions: 'nextHeight' }, // L52-L54
          { guard: 'decisionExecutable', actions: 'execute' }, // L51
        ],
      },
    },
  },
});

export type Step = 'newHeight' | 'newRound' | 'propose' | 'prevote' | 'prevoteWait' | 'precommit' | 'commit';

/** Step numbers of the wire and of events (spec 5.1). */
export const STEP_NUMBER: Readonly<Record<Step, number>> = {
  newHeight: 1,
  newRound: 2,
  propose: 3,
  prevote: 4,
  prevoteWait: 5,
  precommit: 6,
  commit: 8,
};

// biome-ignore lint/suspicious/noExplicitAny: the machine's own snapshot type is private to its setup
type Snapshot = MachineSnapshot<any, Look, any, any, any, any, any, any>;

interface Seen {
  readonly next: Snapshot;
  readonly decisions: readonly Decision[];
}

/** The chart has no context, so a look is a pure function of where it stands and what it sees: each pair is asked of xstate once. */
const looks = new WeakMap<object, Map<Survey, Seen>>();

const noChild = { id: 'consensus', sessionId: 'consensus', send: says } as unknown as AnyActor;
let decided: Decision[] = [];
/** One scope for all: a pure `transition()` would build an actor at each call. Actions are only said, so nothing of it is kept. */
const scope = {
  self: noChild,
  id: 'consensus',
  sessionId: 'consensus',
  system: { _sendInspectionEvent: says, scheduler: { schedule: says, cancel: says } },
  logger: says,
  defer: says,
  emit: says,
  stopChild: says,
  actionExecutor: (action: { readonly type: string }) => {
    decided.push(action.type as Decision);
  },
};
const beginning = consensusChart.getInitialSnapshot(
  scope as never,
  undefined as never,
) as unknown as Snapshot;

/** Steps the chart of one validator. */
export class ChartStepper {
  private snapshot: Snapshot = beginning;

  get step(): Step {
    return this.snapshot.value as Step;
  }

  /** One look: the decisions that follow from what is seen, in order; empty when the chart rests. `seen` is one object per value. */
  look(seen: Survey): readonly Decision[] {
    let here = looks.get(this.snapshot);
    if (!here) {
      here = new Map();
      looks.set(this.snapshot, here);
    }
    let look = here.get(seen);
    if (!look) {
      look = ask(this.snapshot, seen);
      here.set(seen, look);
    }
    this.snapshot = look.next;
    return look.decisions;
  }
}

/** Snapshots by their step, so that equal places are one object and the looks from them are found. */
const places = new Map<string, Snapshot>([[beginning.value as string, beginning]]);

function ask(snapshot: Snapshot, seen: Survey): Seen {
  decided = [];
  const event: Look = { type: 'look', seen };
  const moved = consensusChart.transition(snapshot as never, event, scope as never) as unknown as Snapshot;
  const next = places.get(moved.value as string) ?? moved;
  places.set(moved.value as string, next);
  return { next, decisions: decided };
}
