// The swarm: a seed draws which faults exist in a run at all, and only then how often each happens. Chaos
// first; then a core of more than two thirds heals, the rest stays as it is for ever, and the core must go on.
// Faults left out matter as much as those put in: a rare one is seen best where the common ones are not.

import { type ConsensusConfig, DEFAULT_CONSENSUS } from '../../machines/consensus/config.ts';
import type { Stream } from '../choices.ts';
import type { Directive, LiarWords, Scenario } from '../scenario/play.ts';
import { anyone, core, height, scenario, these, txs, whenOrAt } from '../scenario/words.ts';
import { type Chaos, clocksOf, drawChaos } from './chaos.ts';
import { drawPeople, type People } from './people.ts';
import { drawSplits } from './splits.ts';

const MS = 1_000_000n;

/** Chaos lasts until this height is decided, and so many more as are drawn ... */
const HEIGHTS_OF_CHAOS = 5;
const HEIGHTS_MORE = 3;
/** ... or for so long. */
const CHAOS_LONGEST = '120s';
/** What the core must decide afterwards. */
const HEIGHTS_HEALED = 3;
/** Ends a run whose liveness nobody watches; the analytic bound speaks long before. */
const RUN_LONGEST = '2000s';

/** A transaction costs as much as a vote: each node checks it. */
const TXS_MAX = 40;

/** Short timeouts: delays and faults of a second cost rounds instead of waiting. */
export const QUICK: ConsensusConfig = {
  ...DEFAULT_CONSENSUS,
  timeoutProposeNs: 500n * MS,
  timeoutProposeDeltaNs: 100n * MS,
  timeoutPrevoteNs: 200n * MS,
  timeoutPrevoteDeltaNs: 100n * MS,
  timeoutPrecommitNs: 200n * MS,
  timeoutPrecommitDeltaNs: 100n * MS,
  timeoutCommitNs: 200n * MS,
};

const WITHOUT_HEALS = { partitions: false, cuts: false, rules: false };

const LIAR_KINDS = [
  'vote-equivocator',
  'double-voter',
  'proposal-equivocator',
  'invalid-proposer',
  'amnesiac',
  'withholder',
  'nil-voter',
  'time-liar',
  'future-spammer',
  'sync-liar',
];

export function swarmPlay(stream: Stream): Scenario {
  const chosen = (): boolean => stream.chance(1, 2);
  const hasSplits = stream.chance(1, 4);
  const drawnChaos: Chaos = {
    links: stream.chance(1, 3),
    partitions: chosen(),
    cuts: stream.chance(1, 3),
    clogs: stream.chance(1, 4),
    resets: stream.chance(1, 4),
    rules: stream.chance(1, 3),
    deafness: chosen(),
    crashes: stream.chance(1, 3),
    points: stream.chance(1, 3),
    pauses: stream.chance(1, 4),
    clocks: stream.chance(1, 3),
    disks: stream.chance(1, 4),
  };
  // A heal would lift the rules that split locks.
  const chaos = hasSplits ? { ...drawnChaos, ...WITHOUT_HEALS } : drawnChaos;
  const people = drawPeople(stream, {
    hasLiars: stream.chance(2, 5),
    hasChanges: stream.chance(1, 3),
    isMeshThin: stream.chance(1, 3),
  });
  const { names, cast } = people;
  const honestCore = people.core.filter((name) => !people.liars.includes(name));
  return scenario('drawn', {
    cast: { ...cast, ...(chaos.clocks && { clocks: clocksOf(stream, names) }) },
    act: [
      healing(stream, people),
      ...(hasSplits ? drawSplits(stream, people) : []),
      ...drawChaos(stream, people, chaos),
    ],
    liars: drawLies(stream, people),
    load: txs({
      perSecond: stream.pick([0.5, 1, 2, 4]),
      count: stream.between(5, TXS_MAX),
      size: stream.between(24, 400),
    }),
    settings: stream.chance(1, 2) ? { consensus: QUICK } : {},
    ends: these(...honestCore).decides(height(1), { within: RUN_LONGEST, afterwards: HEIGHTS_HEALED }),
  });
}

const healing = (stream: Stream, people: People): Directive =>
  whenOrAt(
    anyone.decides(height(HEIGHTS_OF_CHAOS + stream.draw(HEIGHTS_MORE))),
    CHAOS_LONGEST,
    core(...people.core),
  );

function drawLies(stream: Stream, { liars, names }: People): LiarWords[] {
  return liars.flatMap((node) => {
    const others = names.filter((name) => name !== node);
    if (others.length === 0) return [];
    const to = stream.shuffle([...others]).slice(0, stream.between(1, others.length));
    const ppm = stream.pick([1_000_000, 300_000, 50_000]);
    const liar = stream.pick(LIAR_KINDS);
    const onlyLater = stream.chance(1, 4) ? { fromRound: 1 } : {};
    return [{ node, liar, to, ppm, ...onlyLater }];
  });
}
