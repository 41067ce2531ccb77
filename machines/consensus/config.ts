// What an operator can set about consensus (config.toml section [consensus], spec 2.7), in nanoseconds, with CometBFT's defaults.

import { NS_PER_MS } from '../../protocol/time.ts';

export interface ConsensusConfig {
  readonly timeoutProposeNs: bigint;
  readonly timeoutProposeDeltaNs: bigint;
  readonly timeoutPrevoteNs: bigint;
  readonly timeoutPrevoteDeltaNs: bigint;
  readonly timeoutPrecommitNs: bigint;
  readonly timeoutPrecommitDeltaNs: bigint;
  readonly timeoutCommitNs: bigint;
  readonly skipTimeoutCommit: boolean;
  readonly createEmptyBlocks: boolean;
  /** Wait this long for transactions before an empty block, even without `createEmptyBlocks` (as CometBFT); 0: do as that says. */
  readonly createEmptyBlocksIntervalNs: bigint;
  /** A block further ahead of our clock is not prevoted (spec 5.4). */
  readonly blockTimeToleranceNs: bigint;
  /** How often gossip looks at what peers lack (peer_gossip_sleep_duration). */
  readonly gossipNs: bigint;
  /** How often what was sent and not confirmed is offered again: links may lose. */
  readonly reofferNs: bigint;
}

export const DEFAULT_CONSENSUS: ConsensusConfig = {
  timeoutProposeNs: 3_000n * NS_PER_MS,
  timeoutProposeDeltaNs: 500n * NS_PER_MS,
  timeoutPrevoteNs: 1_000n * NS_PER_MS,
  timeoutPrevoteDeltaNs: 500n * NS_PER_MS,
  timeoutPrecommitNs: 1_000n * NS_PER_MS,
  timeoutPrecommitDeltaNs: 500n * NS_PER_MS,
  timeoutCommitNs: 1_000n * NS_PER_MS,
  skipTimeoutCommit: false,
  createEmptyBlocks: true,
  createEmptyBlocksIntervalNs: 0n,
  blockTimeToleranceNs: 60_000n * NS_PER_MS,
  gossipNs: 100n * NS_PER_MS,
  reofferNs: 1_000n * NS_PER_MS,
};

export type TimeoutStep = 'propose' | 'prevote' | 'precommit';

/** Timeouts grow with the round, so that rounds outlast any finite delay (paper, section "Termination"). */
export function timeoutNs(config: ConsensusConfig, step: TimeoutStep, round: number): bigint {
  const rounds = BigInt(round);
  if (step === 'propose') return config.timeoutProposeNs + rounds * config.timeoutProposeDeltaNs;
  if (step === 'prevote') return config.timeoutPrevoteNs + rounds * config.timeoutPrevoteDeltaNs;
  return config.timeoutPrecommitNs + rounds * config.timeoutPrecommitDeltaNs;
}
