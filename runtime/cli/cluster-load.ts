// A steady load of transactions on a cluster: each with a key of its own, spread over the nodes that are up,
// and looked for in the blocks.

import { randomBytes } from 'node:crypto';
import { sha256, utf8Encode } from '#platform';
import { byteKey } from '../../protocol/bytes.ts';
import type { Cluster, ClusterNode } from './cluster.ts';

/** Transactions gather for so long: a burst a turn of the event loop would be many small messages. */
const TICK_MS = 25;
const TX_BYTES = 250;

export class ClusterLoad {
  sent = 0;
  committed = 0;
  private readonly cluster: Cluster;
  private readonly perSecond: number;
  /** Of the transactions sent and not yet seen in a block. */
  private readonly waiting = new Set<string>();
  private readonly run = randomBytes(4).toString('hex');
  private timer: NodeJS.Timeout | null = null;
  private startedMs = 0;
  private next = 0;

  constructor(cluster: Cluster, perSecond: number) {
    this.cluster = cluster;
    this.perSecond = perSecond;
    cluster.events.subscribe((event) => {
      if (event.type !== 'committed') return;
      for (const hash of event.txs) if (this.waiting.delete(byteKey(hash))) this.committed++;
    });
  }

  start(): void {
    if (this.perSecond === 0 || this.timer) return;
    this.startedMs = performance.now();
    this.timer = setInterval(() => this.tick(), TICK_MS);
  }

  stop(): void {
    if (this.timer) clearInterval(this.timer);
    this.timer = null;
  }

  private tick(): void {
    const up = this.cluster.nodes.filter((node) => node.isUp && node.status !== null);
    const due = Math.floor(((performance.now() - this.startedMs) / 1_000) * this.perSecond) - this.sent;
    if (up.length === 0 || due <= 0) return;
    const batches = new Map<ClusterNode, Uint8Array[]>();
    // After a stall not all at once: the rest follows in the next ticks.
    for (let i = 0; i < Math.min(due, this.perSecond); i++) {
      const node = up[this.next++ % up.length] as ClusterNode;
      const batch = batches.get(node) ?? [];
      batch.push(this.tx());
      batches.set(node, batch);
    }
    for (const [node, txs] of batches) this.cluster.send(node, { type: 'submit', txs });
  }

  private tx(): Uint8Array {
    const tx = utf8Encode(`load-${this.run}-${this.sent++}=`.padEnd(TX_BYTES, 'x'));
    this.waiting.add(byteKey(sha256(tx)));
    return tx;
  }
}
