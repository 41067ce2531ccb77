// How long a core may take for its next height, from how it stands and from nothing measured: the timeouts,
// the schedule of proposers, the delays of its links, the period of gossip. Derived in docs/determinism.md.

import type { NodeConfig } from '../../actors/node.ts';
import { SECOND } from '../latency.ts';
import { isQuorum } from '../oracles/ghost/ghost.ts';

type Step = 'propose' | 'prevote' | 'precommit';

/** What the bound is made of; times in nanoseconds. */
export interface Standing {
  readonly config: NodeConfig;
  /** The slowest that an oscillator of the core ever ran, as a share of true time, at most 1: what nodes time themselves takes longer by it. */
  readonly slowest: number;
  /** The fastest, at least 1: by such a clock a timeout is over sooner. */
  readonly fastest: number;
  /** Of the core at the height to be decided. Nodes that are behind count as in round 0. */
  readonly roundMin: number;
  readonly roundMax: number;
  /** The longest way of an envelope between two neighbours, with what both ends do about it. */
  readonly hopNs: number;
  /** Hops between the two core nodes that are furthest apart. */
  readonly diameter: number;
  /** Some core link may lose envelopes. */
  readonly isLossy: boolean;
  /** Until everybody is connected, in consensus, and was offered what got lost before. */
  readonly settleNs: number;
  /** Heights between the first and the last of the core. */
  readonly lag: number;
  /** Nobody has begun the height, and there was no trouble since the one before: its round 0 is as good as any. */
  readonly isFresh: boolean;
  /** Liars outside the core go on lying: they may bring about locks that only some know of. */
  readonly hasLiars: boolean;
  /**
   * The nodes whose proposal more than two thirds can accept: nobody among these is locked on something that
   * the proposer does not know of. By address.
   */
  readonly proposers: ReadonlySet<string>;
  /** Powers of the core's validators, by address, and of the whole set. */
  readonly core: ReadonlyMap<string, bigint>;
  readonly powerTotal: bigint;
  /** Who proposes in a round of this height, as the oracles' own ghost of the chain has it. */
  readonly proposerAt: (round: number) => string;
}

/** An envelope on a lossy link has come through after so many offers: at 10 % loss, but for one in 10^8. */
const OFFERS = 8;
/** Timers of nodes are drawn up to a quarter longer. */
const JITTER = 1.25;
/**
 * What a node hears from others, and what its neighbours did not send it at once because it seemed to be
 * elsewhere, goes by gossip: announced on one tick and offered on the next but one at the latest.
 */
const RELAY_TICKS = 3;
/** Messages that a round needs one after the other: proposal with its parts, prevotes, precommits, the next height. */
const PHASES = 4;
/** Rounds looked at for a good one: more than any set has proposers, liars and lost rounds together. */
const ROUNDS_LOOKED_AT = 400;

/** How far a message may be late between any two of the core, relays and repeated offers included. */
export function spreadNs({ hopNs, diameter, isLossy, config, slowest }: Standing): number {
  const tick = (Number(config.consensus.gossipNs) * JITTER) / slowest;
  const reoffer = (Number(config.consensus.reofferNs) * JITTER) / slowest;
  // Who does not hear everybody itself asks, and after asks that bore no fruit waits as long as for an offer again.
  const relay = diameter > 1 ? Math.max(RELAY_TICKS * tick, reoffer) : RELAY_TICKS * tick;
  const relayed = diameter * (hopNs + relay);
  return isLossy ? relayed + OFFERS * reoffer : relayed;
}

/**
 * From now until the last of the core has decided the height. Null: none can be given, because whoever must
 * propose has too little power for its turn to come (a lock that only such a node holds).
 */
export function boundNs(standing: Standing): number | null {
  const { config, roundMin, settleNs, lag, slowest } = standing;
  const { consensus } = config;
  const spread = spreadNs(standing);
  let sum = settleNs + PHASES * spread;
  sum += Number(consensus.timeoutCommitNs + consensus.createEmptyBlocksIntervalNs) / slowest;
  // Who is behind is handed height after height; each may need to be offered once more.
  sum += lag * ((Number(consensus.reofferNs) * JITTER) / slowest + PHASES * spread);
  const last = decidingRound(standing, spread);
  if (last === null) return null;
  for (let round = roundMin; round < last; round++) sum += roundNs(standing, round) + PHASES * spread;
  return sum;
}

/** Timeouts as they are configured, counted here: the product's own arithmetic is what is being watched. */
function stepNs({ config: { consensus } }: Standing, step: Step, round: number): number {
  const [first, more] =
    step === 'propose'
      ? [consensus.timeoutProposeNs, consensus.timeoutProposeDeltaNs]
      : step === 'prevote'
        ? [consensus.timeoutPrevoteNs, consensus.timeoutPrevoteDeltaNs]
        : [consensus.timeoutPrecommitNs, consensus.timeoutPrecommitDeltaNs];
  return Number(first) + Number(more) * round;
}

/** A round that fails takes its three timeouts at most, by the slowest clock, and the messages in between. */
const roundNs = (standing: Standing, round: number): number =>
  (stepNs(standing, 'propose', round) +
    stepNs(standing, 'prevote', round) +
    stepNs(standing, 'precommit', round)) /
  standing.slowest;

/**
 * The first round that cannot fail: begun when all is settled (or patient enough to wait for it), with
 * timeouts longer than messages take, proposed by one whose block enough of the core can accept. While liars
 * may still make locks that few know of, it is the round by which more than two thirds have had their turn:
 * whoever could block a decision by a lock has then proposed what it is locked on.
 */
function decidingRound(standing: Standing, spread: number): number | null {
  const { settleNs, roundMax, isFresh, proposers, hasLiars, proposerAt } = standing;
  const shortestNs = (step: Step, round: number): number => stepNs(standing, step, round) / standing.fastest;
  const proposed = new Set<string>();
  const first = isFresh ? roundMax : roundMax + 1;
  /** The earliest that a round can begin: rounds before it end by a precommit timeout at the soonest. */
  let beginsNs = 0;
  for (let round = first; round <= first + ROUNDS_LOOKED_AT; round++) {
    const proposeNs = shortestNs('propose', round);
    const isSettled = beginsNs >= settleNs || proposeNs >= settleNs + 2 * spread;
    const isPatient = proposeNs >= 2 * spread && (!hasLiars || shortestNs('prevote', round) >= spread);
    beginsNs += shortestNs('precommit', round);
    if (!isSettled || !isPatient) continue;
    const proposer = proposerAt(round);
    if (!hasLiars && proposers.has(proposer)) return round;
    proposed.add(proposer);
    if (hasLiars && isMost(standing, proposed)) return round;
  }
  return null;
}

/** Whether these of the core hold more than two thirds. */
function isMost({ core, powerTotal }: Standing, addresses: ReadonlySet<string>): boolean {
  let sum = 0n;
  for (const [address, power] of core) if (addresses.has(address)) sum += power;
  return isQuorum(sum, powerTotal);
}

/** Until all dials of a core have come through that were torn apart for so long: the last wait of a doubling. */
export function reconnectNs(outageNs: number): number {
  const backoff = Math.min(45 * SECOND, 3 * (outageNs + SECOND / 2));
  return 5 * SECOND + 3 * SECOND + backoff;
}

/**
 * Until a node that just starts takes part: it waits for what peers have, asks, and asks once again. Where
 * somebody outside the core claims blocks that the core does not have it may wait for those, too.
 */
export function joiningNs({ sync }: NodeConfig, areMoreClaimed: boolean): number {
  const usual = Number(sync.waitNs + sync.checkNs + 2n * sync.retryNs) + SECOND;
  return areMoreClaimed ? usual + Number(sync.stallNs + sync.peerTimeoutNs) : usual;
}
