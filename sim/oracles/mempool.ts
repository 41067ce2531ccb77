// No loss (SIMULATION invariant 12): what a node has accepted and not lost with its memory is in the next block
// that it proposes, if nobody was faster.

import type { NodeEvent } from '../../actors/turn.ts';
import { byteKey, hexOf } from '../../protocol/bytes.ts';
import { txHash } from '../../protocol/hashes.ts';
import type { Block } from '../../protocol/types.ts';
import type { Machine } from '../machine.ts';
import type { Oracle, OracleMaker } from '../oracle.ts';
import type { GhostChain } from './ghost.ts';
import { addressFor } from './votes.ts';

/** Begins what a pool says when it takes no transaction, known or not: whatever it holds stays (CometBFT's words). */
const OF_POOL = /^(tx already exists|mempool is |Tx too large|tx pre check)/;

/** What a node says of a transaction: its application took it, refused it (it is not in the pool, or no more), or nothing of the kind. */
function wordOf({ code, because }: Extract<NodeEvent, { type: 'checked' }>): 'taken' | 'refused' | 'other' {
  if (code === 0 && because === '') return 'taken';
  return OF_POOL.test(because) ? 'other' : 'refused';
}

/** Fuller blocks than this may rightly leave something out. */
const BLOCK_BYTES_JUDGED = 500_000;
/** What a proposer leaves free for header and commit, and for each signature of it (CometBFT `MaxDataBytes`). */
const OVERHEAD_BYTES = 731;
const SIGNATURE_BYTES = 3358;

/** As many as a restarted node reminds its pool of. */
const BLOCKS_REMEMBERED = 64;

/** In a pool since this height of its node was being decided, in this life. */
interface Pooled {
  readonly height: bigint;
  readonly life: number;
}

export const mempoolOracle =
  (ghost: GhostChain): OracleMaker =>
  (report, about): Oracle => {
    const pools = new Map<Machine, Map<string, Pooled>>();
    /** By height: a node that is behind may accept what is in a block already. */
    const included = new Map<number, Set<string>>();
    const isIncluded = (id: string): boolean => {
      for (const ids of included.values()) if (ids.has(id)) return true;
      return false;
    };
    /** Half of what there is room for, or what is left of it beside evidence: another transaction would have fitted. */
    const judgedMax = ({ header, evidence }: Block): number => {
      if (ghost.blockBytesMax < 0n) return BLOCK_BYTES_JUDGED;
      const voters = ghost.set(header.height)?.members.length ?? 0;
      const room = Number(ghost.blockBytesMax) - OVERHEAD_BYTES - SIGNATURE_BYTES * voters;
      if (room >= 2 * BLOCK_BYTES_JUDGED) return BLOCK_BYTES_JUDGED;
      return evidence.length > 0 ? -1 : room / 2;
    };
    const byAddress = new Map(about.machines.map((machine) => [hexOf(addressFor(machine)), machine]));

    ghost.onBlock.push((_at: Machine, block: Block) => {
      const { header, txs } = block;
      let bytes = 0;
      const ids = new Set<string>();
      included.set(Number(header.height), ids);
      included.delete(Number(header.height) - BLOCKS_REMEMBERED);
      for (const tx of txs) {
        bytes += tx.length;
        const id = byteKey(txHash(tx));
        ids.add(id);
        for (const pool of pools.values()) pool.delete(id);
      }
      const proposer = byAddress.get(hexOf(header.proposerAddress));
      if (!proposer || !about.isHonest(proposer) || bytes > judgedMax(block)) return;
      for (const { height, life } of pools.get(proposer)?.values() ?? []) {
        // Made before it was accepted, or after the memory was gone: nothing was lost.
        if (height >= header.height || proposer.lives !== life || !proposer.isUp) continue;
        const what = `a transaction that it accepted at ${height}`;
        report(`${proposer.name} proposed block ${header.height} without ${what}`, proposer, header.height);
        return;
      }
    });
    return {
      name: 'mempool',
      effects: [],
      published(at, _actor, event) {
        if (event.type !== 'checked') return;
        const word = wordOf(event);
        const id = byteKey(event.hash);
        if (word === 'refused') pools.get(at)?.delete(id); // when it was checked again: it has left the pool
        if (word !== 'taken' || isIncluded(id)) return;
        let pool = pools.get(at);
        if (!pool) {
          pool = new Map();
          pools.set(at, pool);
        }
        pool.set(id, { height: at.height + 1n, life: at.lives });
      },
    };
  };
