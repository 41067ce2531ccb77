// A steady load of transactions on a cluster: each with a key of its own, spread over the nodes that are up,
// and looked for in the blocks.

import { randomBytes } from 'node:crypto';
import { sha256, utf8Encode } from '#platform';
import { byteKey } from '../../../protocol/bytes.ts';
import { CliError, countOf } from '../usage.ts';
import type { Cluster, ClusterNode } from './cluster.ts';

/** Transactions gather for so long: a burst a turn of the event loop would be many small messages. */
const TICK_MS = 25;
const TX_BYTES = 250;
/** Far more than a network takes, and what one process can still make. */
const PER_SECOND_MAX = 100_000;
/** After a stall, of us or of the nodes, what was due for longer is left out: it would come as one burst. */
const TICKS_DUE_MAX = 8;
/** The oldest is forgotten, and never counted: full pools refuse, and nobody tells us. */
const WAITING_MAX = 1_000_000;

/** What `--load` says. */
export function loadOf(text: string): number {
  const perSecond = countOf(text, '--load', 0);
  if (perSecond > PER_SECOND_MAX)
    throw new CliError(`--load is at most ${PER_SECOND_MAX} transactions a second, not ${text}`);
  return perSecond;
}

export class ClusterLoad {
  sent = 0;
  committed = 0;
  private readonly cluster: Cluster;
  private readonly perSecond: number;
  /** Of the transactions sent and not yet seen in a block. */
  private readonly waiting = new Set<string>();
  private readonly run = randomBytes(4).toString('hex');
  private timer: NodeJS.Timeout | null = null;
  private tickedMs = 0;
  private due = 0;
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
    this.tickedMs = performance.now();
    this.timer = setInterval(() => this.tick(), TICK_MS);
  }

  stop(): void {
    if (this.timer) clearInterval(this.timer);
    this.timer = null;
  }

  private tick(): void {
    const nowMs = performance.now();
    const ofMs = (ms: number): number => (ms / 1_000) * this.perSecond;
    const most = Math.max(1, ofMs(TICKS_DUE_MAX * TICK_MS));
    this.due = Math.min(this.due + ofMs(nowMs - this.tickedMs), most);
    this.tickedMs = nowMs;
    const ready = this.cluster.nodes.filter((node) => node.isUp && node.status !== null && !node.isBehind);
    if (ready.length === 0) return;
    const batches = new Map<ClusterNode, Uint8Array[]>();
    for (; this.due >= 1; this.due--) {
      const node = ready[this.next++ % ready.length] as ClusterNode;
      const batch = batches.get(node) ?? [];
      batch.push(this.tx());
      batches.set(node, batch);
    }
    for (const [node, txs] of batches) this.cluster.send(node, { type: 'submit', txs });
  }

  private tx(): Uint8Array {
    const tx = utf8Encode(`load-${this.run}-${this.sent++}=`.padEnd(TX_BYTES, 'x'));
    this.waiting.add(byteKey(sha256(tx)));
    if (this.waiting.size > WAITING_MAX) this.waiting.delete(this.waiting.keys().next().value as string);
    return tx;
  }
}
