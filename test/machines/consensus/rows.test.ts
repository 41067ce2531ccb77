// The algorithm as rows: read down `says`. Line numbers are the paper's (arXiv 1807.04938). We are the proposer of round 3 unless told.

import { expect, it } from 'vitest';
import { PRECOMMIT, PREVOTE } from '../../../protocol/types.ts';
import {
  appSays,
  blockNamed,
  both,
  emptyDue,
  executed,
  type Fact,
  onlyProposal,
  parts,
  precommits,
  prevotes,
  proposal,
  proposerOf,
  Seat,
  type SeatOptions,
  started,
  timeout,
  txs,
  voteFrom,
  voteOf,
} from './seat.ts';

interface Row {
  readonly when: Fact;
  readonly says: readonly string[];
  readonly stands: string;
}

function play(
  name: string,
  rows: readonly Row[],
  options: SeatOptions = {},
  set?: (seat: Seat) => void,
): void {
  it(name, () => {
    const seat = new Seat(options);
    set?.(seat);
    rows.forEach(({ when, says, stands }, i) => {
      const said = seat.tell(when);
      expect({ row: i, says: said, stands: seat.stands }).toEqual({ row: i, says, stands });
    });
  });
}

/** Of three others, in round 0. */
const prevotesForOtherParts =
  (name: string): Fact =>
  (seat) => {
    const { consensus } = seat;
    const blockId = { ...blockNamed(name).id, parts: blockNamed('Big').id.parts };
    for (const index of seat.others(3))
      consensus.onVote({ ...voteOf(PREVOTE, name, 0, index), blockId }, `peer ${index}`);
    expect(consensus.rounds.get(0)?.prevotes.twoThirds).toEqual(blockId);
  };

const begun: Row = { when: started, says: ['wait propose'], stands: 'propose 0' };
/** Locked on B in round 0, and in round 1 because nobody else got that far. */
const lockedOnB: readonly Row[] = [
  begun,
  { when: proposal('B'), says: ['ask B', 'prevote B'], stands: 'prevote 0' },
  { when: prevotes('B', 2), says: ['lock B', 'valid B', 'precommit B'], stands: 'precommit 0' },
  { when: precommits('nil', 2), says: ['wait precommit'], stands: 'precommit 0' },
  { when: timeout('precommit'), says: ['wait propose'], stands: 'propose 1' },
];

play('a calm height: L22, L36, L49, and the next one begins', [
  begun,
  { when: proposal('B'), says: ['ask B', 'prevote B'], stands: 'prevote 0' },
  { when: prevotes('B', 1), says: [], stands: 'prevote 0' },
  { when: prevotes('B', 3), says: ['lock B', 'valid B', 'precommit B'], stands: 'precommit 0' },
  { when: precommits('B', 2), says: ['execute B of 0'], stands: 'commit 0' },
  { when: executed, says: ['height 2'], stands: 'newHeight 0' },
]);

play(
  'L14-L19: the proposer proposes, and waits like everybody',
  [
    { when: started, says: ['wait propose', 'propose new'], stands: 'propose 0' },
    { when: proposal('B'), says: ['ask B', 'prevote B'], stands: 'prevote 0' },
  ],
  { me: proposerOf(0) },
);

play('L57: no proposal in time', [
  begun,
  { when: timeout('propose'), says: ['prevote nil'], stands: 'prevote 0' },
  { when: prevotes('nil', 2), says: ['precommit nil'], stands: 'precommit 0' }, // L44
  { when: precommits('nil', 2), says: ['wait precommit'], stands: 'precommit 0' }, // L47
  { when: timeout('precommit'), says: ['wait propose'], stands: 'propose 1' }, // L65
]);

play('timers of other rounds and steps change nothing', [
  begun,
  { when: timeout('propose', 1), says: [], stands: 'propose 0' },
  { when: timeout('prevote'), says: [], stands: 'propose 0' },
]);

play('L34, L61: prevotes that do not agree', [
  begun,
  { when: proposal('B'), says: ['ask B', 'prevote B'], stands: 'prevote 0' },
  { when: voteFrom(PREVOTE, 'nil', 0), says: [], stands: 'prevote 0' },
  { when: voteFrom(PREVOTE, 'nil', 1), says: ['wait prevote'], stands: 'prevoteWait 0' },
  { when: timeout('prevote'), says: ['precommit nil'], stands: 'precommit 0' },
]);

play('L36 while the prevote timer runs', [
  begun,
  { when: proposal('B'), says: ['ask B', 'prevote B'], stands: 'prevote 0' },
  {
    when: both(voteFrom(PREVOTE, 'B', 0), voteFrom(PREVOTE, 'nil', 1)),
    says: ['wait prevote'],
    stands: 'prevoteWait 0',
  },
  { when: voteFrom(PREVOTE, 'B', 2), says: ['lock B', 'valid B', 'precommit B'], stands: 'precommit 0' },
]);

play('L42: a polka that comes after we precommitted nil makes a valid value, no lock', [
  begun,
  { when: timeout('propose'), says: ['prevote nil'], stands: 'prevote 0' },
  { when: both(prevotes('B', 2)), says: ['wait prevote'], stands: 'prevoteWait 0' },
  { when: timeout('prevote'), says: ['precommit nil'], stands: 'precommit 0' },
  { when: both(proposal('B'), prevotes('B', 3)), says: ['ask B', 'valid B'], stands: 'precommit 0' },
  {
    when: both(precommits('nil', 2), (seat) => seat.consensus.onTimeout('precommit', 1n, 0)),
    says: ['wait propose'],
    stands: 'propose 1',
  },
  // Not locked: another new block may be prevoted (L22).
  { when: proposal('C', 1), says: ['ask C', 'prevote C'], stands: 'prevote 1' },
]);

play('L15: the valid value is proposed again', [
  ...lockedOnB,
  { when: precommits('nil', 3, 1), says: ['wait precommit'], stands: 'propose 1' },
  { when: timeout('precommit', 1), says: ['wait propose'], stands: 'propose 2' },
  {
    when: both(precommits('nil', 3, 2), timeout('precommit', 2)),
    says: ['wait propose', 'propose B of 0'],
    stands: 'propose 3',
  },
]);

play('L22: the lock refuses another new block, and says so at once (L26)', [
  ...lockedOnB,
  { when: proposal('C', 1), says: ['ask C', 'prevote nil'], stands: 'prevote 1' },
]);

play('L22: the locked block is prevoted again, even proposed as new', [
  ...lockedOnB,
  { when: onlyProposal('B', 1), says: ['prevote B'], stands: 'prevote 1' },
  { when: prevotes('B', 2, 1), says: ['lock B', 'valid B', 'precommit B'], stands: 'precommit 1' },
]);

play('L28: a proposal with a POL waits for the votes of that POL', [
  begun,
  { when: timeout('propose'), says: ['prevote nil'], stands: 'prevote 0' },
  { when: both(precommits('nil', 3), timeout('precommit')), says: ['wait propose'], stands: 'propose 1' },
  { when: proposal('B', 1, 0), says: ['ask B'], stands: 'propose 1' },
  { when: prevotes('B', 2), says: [], stands: 'propose 1' },
  { when: prevotes('B', 3), says: ['prevote B'], stands: 'prevote 1' },
]);

play('L28: prevotes for the hash of the block and other parts are no POL of it', [
  begun,
  { when: timeout('propose'), says: ['prevote nil'], stands: 'prevote 0' },
  { when: both(precommits('nil', 3), timeout('precommit')), says: ['wait propose'], stands: 'propose 1' },
  { when: proposal('B', 1, 0), says: ['ask B'], stands: 'propose 1' },
  { when: prevotesForOtherParts('B'), says: [], stands: 'propose 1' },
]);

play('L29: a POL of the round of our lock, or a later one, opens it', [
  ...lockedOnB,
  { when: proposal('C', 1), says: ['ask C', 'prevote nil'], stands: 'prevote 1' },
  { when: prevotes('C', 3, 1), says: ['lock C', 'valid C', 'precommit C'], stands: 'precommit 1' }, // L36: relocked by the polka itself
  {
    when: both(precommits('nil', 3, 1), timeout('precommit', 1)),
    says: ['wait propose'],
    stands: 'propose 2',
  },
  { when: proposal('B', 2, 0), says: ['prevote nil'], stands: 'prevote 2' }, // the POL of round 0 is older than the lock of round 1
]);

play('L29: a newer POL than the lock, made without us', [
  ...lockedOnB,
  { when: timeout('propose', 1), says: ['prevote nil'], stands: 'prevote 1' },
  { when: prevotes('C', 2, 1), says: ['wait prevote'], stands: 'prevoteWait 1' },
  { when: timeout('prevote', 1), says: ['precommit nil'], stands: 'precommit 1' },
  {
    when: both(precommits('nil', 2, 1), timeout('precommit', 1)),
    says: ['wait propose'],
    stands: 'propose 2',
  },
  { when: proposal('C', 2, 1), says: ['ask C'], stands: 'propose 2' },
  { when: prevotes('C', 3, 1), says: ['prevote C'], stands: 'prevote 2' },
]);

play('L55: a third of the power in a later round takes us there', [
  begun,
  { when: voteFrom(PREVOTE, 'nil', 0, 5), says: [], stands: 'propose 0' },
  { when: voteFrom(PRECOMMIT, 'B', 1, 5), says: ['wait propose'], stands: 'propose 5' },
]);

play('L55 from the wait of a height that has not begun: first it begins', [
  { when: both(prevotes('nil', 2, 3)), says: [], stands: 'newHeight 0' },
  { when: started, says: ['wait propose', 'propose new'], stands: 'propose 3' },
]);

play('L49 in any step, for any round, and the block may come last', [
  { when: precommits('B', 3, 2), says: [], stands: 'commit 0' },
  { when: parts('B'), says: ['execute B of 2'], stands: 'commit 0' },
]);

play('precommits for nil decide nothing; precommits of two rounds do not add up', [
  begun,
  { when: precommits('B', 2, 0), says: [], stands: 'propose 0' },
  { when: voteFrom(PRECOMMIT, 'B', 2, 1), says: [], stands: 'propose 0' },
  { when: voteFrom(PRECOMMIT, 'nil', 2, 0), says: ['wait precommit'], stands: 'propose 0' },
]);

play('two proposals of one round: the acceptable one is prevoted, the polka names the other', [
  begun,
  { when: onlyProposal('A'), says: [], stands: 'propose 0' },
  { when: proposal('B'), says: ['ask B', 'prevote B'], stands: 'prevote 0' },
  { when: prevotes('A', 3), says: ['wait prevote'], stands: 'prevoteWait 0' },
  { when: parts('A'), says: ['ask A', 'lock A', 'valid A', 'precommit A'], stands: 'precommit 0' },
]);

play(
  'an invalid block: refused without asking the application, and never locked',
  [
    begun,
    { when: proposal('B'), says: ['prevote nil'], stands: 'prevote 0' },
    { when: prevotes('B', 3), says: ['wait prevote'], stands: 'prevoteWait 0' },
    { when: timeout('prevote'), says: ['precommit nil'], stands: 'precommit 0' },
  ],
  {},
  (seat) => seat.rules.set('B', 'bad'),
);

play(
  'a block ahead of our clock: not prevoted, but two thirds may lock it (spec 5.4, decided)',
  [
    begun,
    { when: proposal('B'), says: ['ask B', 'prevote nil'], stands: 'prevote 0' },
    { when: prevotes('B', 3), says: ['lock B', 'valid B', 'precommit B'], stands: 'precommit 0' },
  ],
  {},
  (seat) => seat.rules.set('B', 'early'),
);

play(
  'the application rejects: nil',
  [begun, { when: proposal('B'), says: ['ask B', 'prevote nil'], stands: 'prevote 0' }],
  {},
  (seat) => seat.app.set('B', 'rejected'),
);

play(
  'the application answers after the propose timeout: too late to prevote by, still in time for line 36',
  [
    begun,
    { when: proposal('B'), says: ['ask B'], stands: 'propose 0' },
    { when: timeout('propose'), says: ['prevote nil'], stands: 'prevote 0' },
    { when: prevotes('B', 3), says: ['wait prevote'], stands: 'prevoteWait 0' },
    { when: appSays('B', 'accepted'), says: ['lock B', 'valid B', 'precommit B'], stands: 'precommit 0' },
  ],
  {},
  (seat) => seat.app.set('B', 'silent'),
);

play(
  'the application answers after our precommit for nil: a valid value (L42), no lock',
  [
    begun,
    { when: proposal('B'), says: ['ask B'], stands: 'propose 0' },
    { when: timeout('propose'), says: ['prevote nil'], stands: 'prevote 0' },
    { when: prevotes('B', 3), says: ['wait prevote'], stands: 'prevoteWait 0' },
    { when: timeout('prevote'), says: ['precommit nil'], stands: 'precommit 0' },
    { when: appSays('B', 'accepted'), says: ['valid B'], stands: 'precommit 0' },
  ],
  {},
  (seat) => seat.app.set('B', 'silent'),
);

play(
  'a decided block needs no answer of the application: two thirds have it',
  [
    begun,
    { when: proposal('B'), says: ['ask B'], stands: 'propose 0' },
    { when: precommits('B', 3), says: ['execute B of 0'], stands: 'commit 0' },
  ],
  {},
  (seat) => seat.app.set('B', 'silent'),
);

play(
  'a full node follows and says nothing',
  [
    { when: started, says: ['wait propose'], stands: 'propose 0' },
    { when: proposal('B'), says: [], stands: 'prevote 0' },
    { when: prevotes('B', 3), says: ['lock B', 'valid B'], stands: 'precommit 0' },
    { when: precommits('B', 3), says: ['execute B of 0'], stands: 'commit 0' },
  ],
  { me: null },
);

// --- empty blocks (spec 5.2) -------------------------------------------------------------------------------------------

const onDemand: SeatOptions = { config: { createEmptyBlocks: false }, proofBlockDue: false };

play(
  'without empty blocks: the round begins when there are transactions',
  [
    { when: started, says: ['wait for txs'], stands: 'newRound 0' },
    { when: txs, says: ['wait propose'], stands: 'propose 0' },
  ],
  onDemand,
);

play(
  'without empty blocks: a proof block is due at the beginning and after a change of the app hash',
  [begun],
  { ...onDemand, proofBlockDue: true },
);

play(
  'with an interval: an empty block is due after it',
  [
    { when: started, says: ['wait for txs'], stands: 'newRound 0' },
    { when: emptyDue, says: ['wait propose'], stands: 'propose 0' },
  ],
  { config: { createEmptyBlocksIntervalNs: 1n }, proofBlockDue: false },
);

play(
  'without empty blocks: a proposal begins the round for those who saw no transaction',
  [
    { when: started, says: ['wait for txs'], stands: 'newRound 0' },
    { when: proposal('B'), says: ['wait propose', 'ask B', 'prevote B'], stands: 'prevote 0' },
  ],
  onDemand,
);

play(
  'without empty blocks: one vote does not begin a round, two of four do',
  [
    { when: started, says: ['wait for txs'], stands: 'newRound 0' },
    { when: prevotes('nil', 1), says: [], stands: 'newRound 0' },
    { when: prevotes('nil', 2), says: ['wait propose'], stands: 'propose 0' },
  ],
  onDemand,
);

play(
  'without empty blocks: later rounds do not wait for transactions',
  [
    { when: started, says: ['wait for txs'], stands: 'newRound 0' },
    { when: both(prevotes('nil', 2, 1)), says: ['wait propose'], stands: 'propose 1' },
  ],
  onDemand,
);

// --- late precommits ---------------------------------------------------------------------------

it('late precommits are kept while the height waits for its start', () => {
  const seat = new Seat({});
  for (const fact of [started, proposal('B'), prevotes('B', 2), precommits('B', 2), executed])
    seat.tell(fact);
  expect(seat.stands).toBe('newHeight 0');
  const { lastCommit } = seat.consensus;
  expect(lastCommit?.precommits.count).toBe(3);
  const says = seat.tell((s) => {
    const last = s.others(3)[2]!;
    expect(s.consensus.onLateCommit({ ...lateVote, validatorIndex: last })).toBe(true);
    expect(s.consensus.onLateCommit({ ...lateVote, validatorIndex: last })).toBe(false);
    expect(s.consensus.onLateCommit({ ...lateVote, round: 1, validatorIndex: last })).toBe(false);
    expect(s.consensus.onLateCommit({ ...lateVote, type: PREVOTE, validatorIndex: last })).toBe(false);
  });
  expect(lastCommit?.precommits.hasAll).toBe(true);
  expect(seat.stands).toBe('newHeight 0');
  expect(says).toEqual([]);
});

const lateVote = voteOf(PRECOMMIT, 'nil', 0, 0);

// --- parts of two blocks -----------------------------------------------------------------------------------------------

it('two blocks of three parts each may come in any mixture', () => {
  const seat = new Seat();
  seat.tell(started);
  seat.tell(both(onlyProposal('Big A'), onlyProposal('Big B')));
  // One part of the first, and it never completes: the second must all the same.
  const first = blockNamed('Big A').parts[0]!;
  expect(seat.consensus.onPart(first)).toMatchObject({ isNew: true });
  expect(seat.consensus.onPart(first)).toMatchObject({ isNew: false });
  expect(seat.tell(parts('Big B'))).toEqual(['ask Big B', 'prevote Big B']);
  expect(seat.tell(prevotes('Big A', 3))).toEqual(['wait prevote']);
  expect(seat.tell(parts('Big A'))).toEqual(['ask Big A', 'lock Big A', 'valid Big A', 'precommit Big A']);
  expect(seat.consensus.onPart(blockNamed('Big C').parts[0]!)).toBe('unwanted');
});

// --- recovery ----------------------------------------------------------------------------------------------------------

it('an own precommit of the log is a lock, and an own prevote means that the application had accepted', () => {
  const seat = new Seat();
  const own =
    (type: number, name: string, round: number): Fact =>
    ({ consensus, me }) => {
      const vote = voteOf(type, name, round, me);
      consensus.onOwnVote(vote);
      consensus.onVote(vote, '');
    };
  seat.tell(started);
  seat.tell(proposal('B'));
  seat.tell(both(own(PREVOTE, 'B', 0), own(PRECOMMIT, 'B', 0)));
  expect(seat.consensus.lockedRound).toBe(0);
  expect(seat.consensus.validRound).toBe(0);
  seat.tell(own(PRECOMMIT, 'nil', 1));
  expect(seat.consensus.lockedRound).toBe(0);
  seat.tell(own(PRECOMMIT, 'C', 2));
  expect(seat.consensus.lockedRound).toBe(2);
  expect(seat.tell(both(prevotes('nil', 2, 3)))).toContain('wait propose');
  expect(seat.tell(proposal('B', 3, 0))).toEqual([]); // its POL is not here
});
