// Nodes that die and come back, with what their disk kept.

import { KvStore } from '../machines/apps/kvstore.ts';
import type { AbciRequest, AbciResponse } from '../protocol/abci.ts';
import { FLAG_ABSENT } from '../protocol/types.ts';
import type { Stream } from '../sim/choices.ts';
import type { CrashHow } from '../sim/disk-door.ts';
import type { Action, CrashPoint, Directive, NodeName } from '../sim/scenario/play.ts';
import {
  after,
  at,
  backUp,
  block,
  crash,
  delay,
  drawn,
  drop,
  everyone,
  finally_,
  heal,
  height,
  isolate,
  liar,
  never,
  nil,
  node,
  pause,
  powers,
  putBack,
  removeLog,
  reset,
  restart,
  scenario,
  sometime,
  these,
  txs,
  unpause,
  v0,
  v1,
  v2,
  v3,
  validators,
  when,
} from '../sim/scenario/words.ts';

const HOWS: readonly CrashHow[] = ['clean', 'lose', 'drawn'];
/**
 * Around a sync: just before it is asked for, before it is durable, and when it is durable and nobody was
 * told.
 */
const SYNC_POINTS: readonly Pick<CrashPoint, 'op' | 'when'>[] = [
  { op: 'sync', when: 'before' },
  { op: 'flush', when: 'inside' },
  { op: 'flush', when: 'after' },
];
const CRASHES = 4;

function crashAroundOne(stream: Stream, node: NodeName): Action {
  const point = stream.pick(SYNC_POINTS);
  const log = stream.pick(['consensus', 'privval'] as const);
  const store = stream.pick(['chain', 'app'] as const);
  const on = point.op === 'sync' || stream.chance(1, 2) ? log : store;
  return crash(node, {
    how: stream.pick(HOWS),
    restart: `${stream.draw(4000)}ms`,
    point: { ...point, on, nth: 1 + stream.draw(6) },
  });
}

/** Each crash waits until its node has come back from the one before. */
export const crashAroundSync = drawn(
  'crash-around-sync',
  'nodes die before, inside and after each sync, and come back',
  (stream) => {
    const nodes = Array.from({ length: CRASHES }, () => stream.pick(['v0', 'v1', 'v2', 'v3'] as const));
    const act = nodes.flatMap((name, i): Directive[] => [
      when({ who: name, does: 'decides', height: 2 + 2 * i }, crashAroundOne(stream, name)),
      when({ who: name, does: 'crashes' }),
      when({ who: name, does: 'joins' }),
    ]);
    return scenario('drawn', {
      cast: validators(4),
      load: txs({ perSecond: 3 }),
      act,
      ends: everyone.decides(height(14), { within: '400s', afterwards: 2 }),
    });
  },
);

/** With four equal validators v0 proposes heights 7 and 11. Each time it dies as its signer is about to sign the proposal, and comes back at once. */
export const backInTime = scenario('who dies before it has proposed, and is back in time, proposes', {
  name: 'back-in-time',
  cast: validators(4),
  load: txs({ perSecond: 3 }),
  act: [7, 11].flatMap((at) => [
    when(
      v0.enters('propose', { height: at, round: 0 }),
      crash('v0', { how: 'clean', restart: '200ms', point: { when: 'before', op: 'sign', nth: 1 } }),
    ),
    when(v0.joins()),
  ]),
  holds: [7, 11].map((at) => sometime(v0.proposes({}, { height: at, round: 0 }))),
  ends: everyone.decides(height(14), { within: '120s' }),
});

/** A line that has been good for a while is dialled again at once, however often that was before. */
export const linesComeBack = scenario('a line that breaks again and again is there again each time', {
  name: 'lines-come-back',
  cast: validators(4),
  act: Array.from({ length: 9 }, () => after('16s', reset('v0', 'v1'))),
  ends: everyone.decides(height(150), { within: '400s', afterwards: 8 }),
});

export const laggingNodeCatchesUp = scenario(
  'a node that was away catches up: by gossip, and by block sync',
  {
    name: 'lagging-node-catches-up',
    cast: validators(4),
    load: txs({ perSecond: 3 }),
    act: [
      // Away for a few heights, its process alive: its peers hand it the votes and parts it has missed.
      when(v0.decides(height(2)), isolate('v3')),
      when(v0.decides(height(5)), heal()),
      when(v3.decides(height(5))),
      // Down for many: it asks for whole blocks.
      after('5s', crash('v3')),
      when(v0.decides(height(30)), restart('v3')),
      when(v3.joins()),
    ],
    ends: everyone.decides(height(36), { within: '400s', afterwards: 2 }),
  },
);

/** v3 is two blocks behind, and the first time that it is given them they are lost. */
export const lostCatchUp = scenario('what a peer that is behind was given and lost it is given again', {
  name: 'lost-catch-up',
  cast: validators(4),
  load: txs({ perSecond: 3 }),
  act: [
    when(v0.decides(height(3)), isolate('v3')),
    when(v0.decides(height(5)), heal(), drop('parts', { to: ['v3'] })),
    after('4s', heal()),
    when(v3.decides(height(8))),
  ],
  ends: everyone.decides(height(12), { within: '240s', afterwards: 2 }),
});

/** v1 and v3 come back with a chain and an application that never heard of it: it is given every block again. */
export const forgetfulApplication = scenario(
  'an application that keeps nothing is given the whole chain again',
  {
    name: 'application-keeps-nothing',
    cast: validators(4),
    app: 'noop',
    load: txs({ perSecond: 2 }),
    act: [
      when(v0.decides(height(5)), crash('v1', { restart: '1s' })),
      when(v0.decides(height(8)), crash('v3', { how: 'lose', restart: '3s' })),
      when(v3.precommits()),
    ],
    ends: everyone.decides(height(14), { within: '240s', afterwards: 1 }),
  },
);

/** The chain is put back to an older day, and not what came of it. */
export const applicationAhead = scenario(
  'an application that is further than its chain is not gone on with',
  {
    name: 'application-ahead',
    cast: validators(4),
    load: txs({ perSecond: 3 }),
    act: [
      when(v1.decides(height(3)), backUp('v1')),
      when(
        v0.decides(height(8)),
        crash('v1', { how: 'clean' }),
        putBack('v1', 'chain', 'consensus'),
        restart('v1'),
      ),
    ],
    holds: [sometime(v1.halts('is higher than core')), finally_(v1.isHalted)],
    ends: these('v0', 'v2', 'v3').decides(height(14), { within: '60s' }),
  },
);

/** A chain that goes on from another one: its first height is 1000. Who is away from the beginning catches up, and dies in between. */
export const laterBeginning = scenario('a chain begins at the height that its genesis says', {
  name: 'later-beginning',
  cast: validators(4, { initialHeight: 1_000 }),
  load: txs({ perSecond: 3 }),
  act: [
    at('10ms', crash('v3', { how: 'clean' })),
    when(v0.decides(height(1_000)), crash('v0', { how: 'lose', restart: '1s' })),
    when(v0.decides(height(1_012)), restart('v3')),
    when(v3.decides(height(1_004)), crash('v3', { how: 'lose', restart: '1s' })),
    when(v3.joins()),
    when(v3.proposes()),
  ],
  holds: [never(v3.joins(height(999)))],
  ends: everyone.decides(height(1_022), { within: '240s', afterwards: 2 }),
});

/**
 * v2 proposes at height 5 and dies when its signer knows that and nobody else does. Its log is lost; another block it may not propose in
 * that round, and with v3 away the others wait for its prevote.
 */
export const proposalForgotten = scenario('who may not propose again lets its own time run out', {
  name: 'proposal-forgotten',
  cast: validators(4),
  load: txs({ perSecond: 20 }),
  act: [
    when(v0.decides(height(4)), isolate('v3')),
    when(
      v2.decides(height(4)),
      crash('v2', { how: 'clean', point: { when: 'after', op: 'flush', on: 'privval', nth: 1 } }),
    ),
    when(v2.crashes(), removeLog('v2')),
    after('300ms', restart('v2')),
    when(v2.decides(height(5)), heal()),
  ],
  ends: everyone.decides(height(8), { within: '240s', afterwards: 2 }),
});

const ROUNDS_LOST = 8;
const NO_BLOCK = ['proposals', 'parts'] as const;

/**
 * v0 hears two rounds of each of the others, other ones of each, and nothing else of height 5; the rounds that it hears of decide nothing. The
 * precommits of the one that does are of a third round that each has spoken in. (With four equal validators v0 would propose rounds 2 and 6.)
 */
export const thirdRoundAhead = scenario('who heard of many rounds is given the one that decided', {
  name: 'third-round-ahead',
  cast: validators(4),
  act: [
    at(
      '0s',
      drop('precommits', { height: 5, to: ['v0'] }),
      ...Array.from({ length: ROUNDS_LOST }, (_, round) => {
        const speaks = round >> 1;
        const others = (['v1', 'v2', 'v3'] as const).filter((_, i) => i + 1 !== speaks);
        return [
          ...(round % 4 === 2 ? [] : NO_BLOCK.map((what) => drop(what, { height: 5, round }))),
          drop('prevotes', { height: 5, round, by: others, to: ['v0'] }),
        ];
      }).flat(),
      drop('prevotes', { height: 5, round: ROUNDS_LOST, to: ['v0'] }),
    ),
    when(v1.decides(height(5)), heal()),
    when(v0.decides(height(5))),
  ],
  ends: everyone.decides(height(8), { within: '240s' }),
});

/**
 * Seven validators, and v6 is behind. In round 0 of height 5 three of the others see the polka for a block and lock it, and three precommit nil;
 * then two of these die, so that v6 is needed. It comes when round 0 is long over, and votes for the block once it has the polka of that round.
 */
export const missedPolka = scenario('who comes in a later round is given the polka that it rests on', {
  name: 'missed-polka',
  cast: validators(7),
  act: [
    at(
      '0s',
      drop('proposals', { height: 5, round: 0, to: ['v5'] }),
      drop('parts', { height: 5, round: 0, to: ['v5'] }),
      drop('prevotes', { height: 5, round: 0, by: ['v0'], to: ['v3', 'v4', 'v5'] }),
    ),
    when(v0.decides(height(3)), isolate('v6')),
    when(v0.enters('propose', { height: 5, round: 1 }), crash('v4'), crash('v5'), heal()),
    when(v0.decides(height(6)), restart('v4'), restart('v5')),
  ],
  holds: [
    sometime(v0.locks(block(1), { height: 5, round: 0 })),
    never(v3.locks(block(1), { height: 5, round: 0 })),
  ],
  ends: everyone.decides(height(9), { within: '240s' }),
});

/**
 * v3 hears of no block at height 5 and precommits nil, and the others hear that before each other's precommits: what decides carries a
 * signature for nil. f0 is away then, and is given that height from a store.
 */
export const nilStaysNil = scenario('a precommit for nil is given to who is behind as what it is', {
  name: 'nil-stays-nil',
  cast: validators(4, { fullNodes: 1 }),
  act: [
    at(
      '0s',
      drop('proposals', { height: 5, to: ['v3'] }),
      drop('parts', { height: 5, to: ['v3'] }),
      delay('precommits', '6s', { height: 5, by: ['v0', 'v1', 'v2'] }),
    ),
    when(v0.decides(height(4)), isolate('f0')),
    when(v3.precommits(nil, { height: 5, round: 0 })),
    when(v0.decides(height(5)), heal(), isolate('f0')),
    when(v3.decides(height(9)), heal()),
    when(node('f0').decides(height(9))),
  ],
  ends: everyone.decides(height(12), { within: '240s', afterwards: 2 }),
});

/**
 * v2 has the prevote of v1, not synced, and stands still; the line breaks, and v1 dials again. What v2 then says behind its back it says of a life that
 * ends at once, before it greets, and v1 is told so when v2 is there again: its new life lacks that prevote.
 */
export const saidInALifeBefore = scenario(
  'what was said before a greeting that never came is of a life before',
  {
    name: 'said-in-a-life-before',
    cast: powers(2, 4, 3),
    act: [
      at('0s', drop('parts', { height: 3, round: 0, to: ['v2'] })),
      when(v1.prevotes({}, { height: 3, round: 0 }), crash('v0')),
      after('100ms', pause('v2')),
      after('50ms', reset('v1', 'v2')),
      after(
        '1500ms',
        crash('v2', { how: 'lose', point: { when: 'after', op: 'send', nth: 1 }, restart: '2s' }),
        unpause('v2'),
      ),
      when(v2.starts()),
    ],
    ends: these('v1', 'v2').decides(height(6), { within: '300s' }),
  },
);

const there = { height: 5, round: 0 };

/**
 * v3 tells v0 that it prevotes nil, and what it told the others makes the polka that v0 is to have: v2's prevote does not reach it. It dies as
 * it has precommitted.
 */
export const secondVoteIsLogged = scenario(
  'who locks by the second vote of a liar knows why when it is back',
  {
    name: 'second-vote-is-logged',
    cast: validators(4),
    settings: { consensus: { timeoutPrevoteNs: 20_000_000_000n } },
    liars: [
      liar('v3', 'vote-equivocator', ['v0'], { votes: 'prevotes', fromHeight: 5, toHeight: 5, toRound: 0 }),
    ],
    act: [
      at(
        '0s',
        drop('prevotes', { ...there, by: ['v2'], to: ['v0'] }),
        drop('precommits', { ...there, by: ['v3'] }),
      ),
      when(v0.precommits(block(1), there), crash('v0', { how: 'clean', restart: '500ms' })),
      when(v0.starts(), heal()),
      when(v1.punishes('v3')),
    ],
    ends: everyone.decides(height(8), { within: '120s' }),
  },
);

/** Three signatures a height. */
export const signerCountsOn = scenario('a signer that starts again lets its oldest signatures go as soon', {
  name: 'signer-counts-on',
  cast: validators(1),
  act: [when(v0.decides(height(150)), crash('v0', { how: 'clean', restart: '1s' }))],
  ends: everyone.decides(height(375), { within: '900s', afterwards: 2 }),
});

/** Halts where somebody is absent from the commit of height 5. */
class Attentive extends KvStore {
  override answer(request: AbciRequest): AbciResponse {
    const isNext = request.type === 'finalize-block' && request.value.height === 6n;
    if (isNext && request.value.decidedLastCommit.votes.some(({ flag }) => flag === FLAG_ABSENT))
      return { type: 'exception', value: { error: 'somebody is absent who precommitted nil' } };
    return super.answer(request);
  }
}

/** v3 precommits nil at height 5, long before the others precommit, and v0 has both in its store when it proposes height 6. */
export const nilOutlivesRestart = scenario(
  'who starts again proposes with the votes for nil of its stored commit',
  {
    name: 'nil-outlives-restart',
    cast: powers(40, 20, 20, 20),
    app: () => new Attentive(),
    act: [
      at(
        '0s',
        drop('proposals', { height: 5, to: ['v3'] }),
        drop('parts', { height: 5, to: ['v3'] }),
        delay('precommits', '6s', { height: 5, by: ['v0', 'v1', 'v2'] }),
      ),
      when(v3.precommits(nil, { height: 5, round: 0 })),
      when(v0.decides(height(5)), heal(), crash('v0', { how: 'clean', restart: '100ms' })),
      when(v0.proposes({}, { height: 6, round: 0 })),
    ],
    ends: everyone.decides(height(9), { within: '240s' }),
  },
);
