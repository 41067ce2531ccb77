// Owns the promise of a node that comes back: within a bound that follows from the configuration it takes part
// again, and decides a height that nobody had decided when it came.

import { DEFAULT_DIALER } from '../../actors/dialer.ts';
import type { NodeConfig } from '../../actors/node.ts';
import type { Machine } from '../machine.ts';
import { USUAL_NETWORK } from '../network.ts';
import type { OracleMaker } from '../oracle.ts';

/** Rounds that may fail for want of a node that proposes in them, or that is asked again for its vote. */
const ROUNDS_FAILED_MAX = 2;

/**
 * Peers may not notice a death before `notice` is over, and nothing is dialed over a connection that they
 * hold for alive; then one of the two dials, the later one with its jitter of half its wait. Block sync waits
 * for peers, and looks once more whether it has caught up. After that the height under way is decided as any
 * other: its timeouts, and those of the rounds that fail.
 */
export function rejoinBoundNs({ consensus, sync }: Pick<NodeConfig, 'consensus' | 'sync'>): number {
  const redial = Number(DEFAULT_DIALER.waitForOtherNs) * 1.5;
  const connected = USUAL_NETWORK.notice.maxNs + redial;
  const synced = Number(sync.waitNs) + Number(sync.checkNs);
  let decided = Number(consensus.timeoutCommitNs);
  for (let round = 0; round < ROUNDS_FAILED_MAX; round++) {
    const { timeoutProposeNs, timeoutPrevoteNs, timeoutPrecommitNs } = consensus;
    const { timeoutProposeDeltaNs, timeoutPrevoteDeltaNs, timeoutPrecommitDeltaNs } = consensus;
    decided += Number(timeoutProposeNs + timeoutPrevoteNs + timeoutPrecommitNs);
    decided += round * Number(timeoutProposeDeltaNs + timeoutPrevoteDeltaNs + timeoutPrecommitDeltaNs);
  }
  return connected + synced + decided;
}

/** How long the slowest of the nodes that came back took; null: nobody did. */
export interface Rejoined {
  slowestNs: number | null;
}

/** Watches every life but the first of each node. */
export const rejoin =
  (result: Rejoined): OracleMaker =>
  (report, about) => {
    const coming = new Map<Machine, { readonly since: number; readonly height: bigint }>();
    return {
      name: 'rejoin',
      started(at) {
        if (at.lives < 2) return;
        const height = about.machines.reduce(
          (max, machine) => (machine.height > max ? machine.height : max),
          0n,
        );
        coming.set(at, { since: about.now(), height });
      },
      crashed(at) {
        coming.delete(at);
      },
      published(at, _actor, event) {
        if (event.type !== 'committed') return;
        for (const [machine, { since, height }] of coming) {
          const took = about.now() - since;
          const bound = rejoinBoundNs(machine.config);
          if (took > bound)
            report(
              `${machine.name} came back ${took} ns ago and has not decided ${height + 1n} with the others; the bound is ${bound} ns`,
              machine,
              machine.height,
            );
          if (took > bound || (machine === at && at.mode === 'consensus' && event.height > height)) {
            coming.delete(machine);
            result.slowestNs = Math.max(result.slowestNs ?? 0, took);
          }
        }
      },
      ended() {
        for (const [machine] of coming)
          report(`${machine.name} came back and did not rejoin`, machine, machine.height);
      },
    };
  };
