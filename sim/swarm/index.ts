// The swarm: a seed draws which faults exist in a run at all, and only then how often each happens. Chaos
// first; then a core of more than two thirds heals, the rest stays as it is for ever, and the core must go on.
// Faults left out matter as much as those put in: a rare one is seen best where the common ones are not.

import { type ConsensusConfig, DEFAULT_CONSENSUS } from '../../machines/consensus/config.ts';
import { NS_PER_MS } from '../../protocol/time.ts';
import type { Stream } from '../choices.ts';
import { knowsRounds, type LiarName } from '../liars/index.ts';
import { mustBeStream } from '../scenario/must-be.ts';
import type { Directive, LiarWords, Load, Scenario } from '../scenario/play.ts';
import { anyone, core, height, scenario, these, txs, whenOrAt } from '../scenario/words.ts';
import { type Chaos, clocksOf, drawChaos, NO_CHAOS } from './chaos.ts';
import { drawPeople, type People } from './people.ts';
import { drawSplits } from './splits.ts';
import { drawStraggler, type Straggler } from './stragglers.ts';

/** Chaos lasts until this height is decided ... */
const HEIGHTS_OF_CHAOS = 5;
/** ... or for so long. */
const CHAOS_LONGEST = '120s';
const MOMENT_MS = 600;
/** What the core must decide afterwards. */
const HEIGHTS_HEALED = 3;
/** Ends a run whose liveness nobody watches; the analytic bound speaks long before. */
const RUN_LONGEST = '2000s';

/** A transaction costs as much as a vote: each node checks it. */
const TXS_MAX = 12;

/** Short timeouts: delays and faults of a second cost rounds instead of waiting. */
export const QUICK: ConsensusConfig = {
  ...DEFAULT_CONSENSUS,
  timeoutProposeNs: 500n * NS_PER_MS,
  timeoutProposeDeltaNs: 100n * NS_PER_MS,
  timeoutPrevoteNs: 200n * NS_PER_MS,
  timeoutPrevoteDeltaNs: 100n * NS_PER_MS,
  timeoutPrecommitNs: 200n * NS_PER_MS,
  timeoutPrecommitDeltaNs: 100n * NS_PER_MS,
  timeoutCommitNs: 200n * NS_PER_MS,
};

/** A heal would lift the rules that split locks, and the deaf lock nothing. */
const BESIDE_SPLITS = { partitions: false, cuts: false, rules: false, deafness: false };

/** As often as they stand here: some lies need a lock, or a turn in a later round, to be told at all. */
const LIAR_KINDS: readonly LiarName[] = [
  'vote-equivocator',
  'double-voter',
  'proposal-equivocator',
  'invalid-proposer',
  'amnesiac',
  'amnesiac',
  'withholder',
  'nil-voter',
  'time-liar',
  'future-spammer',
  'status-liar',
  'pol-forger',
  'pol-forger',
  'part-mislabeler',
  'block-forger',
];
/** Its lies need blocks of several parts, each as large as many votes: a few do. */
const PART_LIAR = 'part-mislabeler';
const LARGE_TXS = { perBlock: 2, count: 4, size: 40_000 };

/**
 * What `swarm` draws: any few nodes, any faults, up to a third of the power lying, kvstore's transactions and power changes. It is given to `drawn`.
 * @throws ScenarioError when it is given no stream.
 */
export function swarmPlay(stream: Stream): Scenario {
  mustBeStream('swarmPlay', stream);
  const chosen = (): boolean => stream.chance(1, 2);
  const hasSplits = stream.chance(1, 3);
  const drawnChaos: Chaos = {
    links: stream.chance(1, 3),
    partitions: chosen(),
    cuts: stream.chance(1, 3),
    clogs: stream.chance(1, 4),
    resets: stream.chance(1, 4),
    rules: stream.chance(1, 3),
    deafness: stream.chance(5, 6),
    crashes: stream.chance(1, 3),
    points: stream.chance(1, 3),
    pauses: stream.chance(1, 4),
    clocks: stream.chance(1, 3),
    disks: stream.chance(1, 4),
  };
  const chaos = hasSplits ? besideSplits(stream, drawnChaos) : drawnChaos;
  const people = drawPeople(stream, {
    hasLiars: stream.chance(3, 5),
    hasChanges: stream.chance(1, 3),
    isMeshThin: stream.chance(1, 3),
  });
  const { names, cast } = people;
  const consensus = stream.chance(1, 2) ? QUICK : DEFAULT_CONSENSUS;
  const straggler = stream.chance(1, 6) ? drawStraggler(stream, people) : null;
  const liars = [...drawLies(stream, people), ...(straggler?.liars ?? [])];
  const honestCore = (straggler?.core ?? people.core).filter((name) => !people.liars.includes(name));
  return scenario('drawn', {
    cast: {
      ...cast,
      ...(chaos.clocks && { clocks: clocksOf(stream, names) }),
      ...(straggler && { fullNodes: straggler.fullNodes }),
    },
    act: [
      ...(straggler?.act ?? []),
      ...healing(stream, people, straggler),
      ...(hasSplits ? drawSplits(stream, people, roundMs(consensus)) : []),
      ...drawChaos(stream, people, chaos),
    ],
    liars,
    load: liars.some(({ liar }) => liar === PART_LIAR) ? txs(LARGE_TXS) : drawLoad(stream),
    settings: consensus === QUICK ? { consensus } : {},
    ends: these(...honestCore).decides(height(1), { within: RUN_LONGEST, afterwards: HEIGHTS_HEALED }),
  });
}

/** Half of the time nothing else: it takes some rounds in a row that go as they were drawn. */
function besideSplits(stream: Stream, drawn: Chaos): Chaos {
  const isQuiet = stream.chance(1, 2);
  const { clocks, ...others } = { ...drawn, ...BESIDE_SPLITS };
  return isQuiet ? { ...NO_CHAOS, clocks } : { ...others, clocks };
}

/** How long a first round lasts when all its timeouts pass. */
const roundMs = (consensus: ConsensusConfig): number =>
  Number(
    (consensus.timeoutProposeNs + consensus.timeoutPrevoteNs + consensus.timeoutPrecommitNs) / NS_PER_MS,
  );

const drawLoad = (stream: Stream): Load =>
  txs({
    perSecond: stream.pick([0.5, 1, 2, 4]),
    count: stream.between(5, TXS_MAX),
    size: stream.between(24, 400),
  });

/** With a straggler the others have a moment to store what one of them decided. */
function healing(stream: Stream, people: People, straggler: Straggler | null): Directive[] {
  const enough = anyone.decides(height(HEIGHTS_OF_CHAOS));
  if (!straggler) return [whenOrAt(enough, CHAOS_LONGEST, core(...people.core))];
  const actions = [...straggler.last, core(...straggler.core)];
  return [whenOrAt(enough, CHAOS_LONGEST), { afterMs: stream.between(0, MOMENT_MS), actions }];
}

function drawLies(stream: Stream, { liars, names }: People): LiarWords[] {
  return liars.flatMap((node) => {
    const others = names.filter((name) => name !== node);
    if (others.length === 0) return [];
    const to = stream.shuffle([...others]).slice(0, stream.between(1, others.length));
    const ppm = stream.pick([1_000_000, 300_000, 50_000]);
    const liar = stream.pick(LIAR_KINDS);
    const onlyLater = stream.chance(1, 4) && knowsRounds(liar) ? { fromRound: 1 } : {};
    return [{ node, liar, to, ppm, ...onlyLater }];
  });
}
