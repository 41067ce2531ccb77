// Which evidence each peer was told of (spec 5.10): once when it is new, and anew in each period while it waits for a block.

import type { Pending } from './pool.ts';

export interface Listener {
  readonly peer: string;
  /** Where it stands; 0: it has not said so. */
  readonly height: bigint;
}

export interface Telling {
  readonly peers: readonly string[];
  readonly evidence: readonly Pending[];
}

const PERIOD_NS = 10_000_000_000n;
const SOON_NS = PERIOD_NS / 20n;

export class EvidenceTold {
  private readonly told = new Map<string, Set<Pending>>();
  private endsNs = 0n;

  /** It has it, for it told us: it is not told in this period. */
  heardFrom(peer: string, evidence: Pending, nowNs: bigint): void {
    this.begins(nowNs);
    this.marks(peer, evidence);
  }

  /** When a period is over the next one begins with whatever is said of evidence first. */
  private begins(nowNs: bigint): void {
    if (nowNs < this.endsNs) return;
    this.told.clear();
    this.endsNs = nowNs + PERIOD_NS;
  }

  private marks(peer: string, evidence: Pending): void {
    let known = this.told.get(peer);
    if (!known) {
      known = new Set();
      this.told.set(peer, known);
    }
    known.add(evidence);
  }

  /** What is in a block, or too old, is told to nobody any more: in one period a fast chain may punish hundreds. */
  private forgetGone(pending: readonly Pending[]): void {
    for (const known of this.told.values())
      if (known.size > pending.length)
        for (const each of known) if (!pending.includes(each)) known.delete(each);
  }

  peerDown(peer: string): void {
    this.told.delete(peer);
  }

  /**
   * What is to be told to whom now, and when to look again: at the end of the period, or soon, while somebody stands at the height of the
   * evidence, cannot look it up yet, and will in a moment. Who is slow, or says nothing, does not make others hear it again.
   */
  next(
    pending: readonly Pending[],
    peers: readonly Listener[],
    nowNs: bigint,
  ): { readonly tellings: readonly Telling[]; readonly afterNs: bigint } {
    this.begins(nowNs);
    this.forgetGone(pending);
    // Peers that lack the same are told in one breath.
    const tellings = new Map<string, { peers: string[]; evidence: Pending[] }>();
    let isEarly = false;
    for (const { peer, height } of peers) {
      const lacks: number[] = [];
      for (const [i, each] of pending.entries()) {
        if (this.told.get(peer)?.has(each)) continue;
        if (height > each.height) lacks.push(i);
        else isEarly = true;
      }
      if (lacks.length === 0) continue;
      const evidence = lacks.map((i) => pending[i] as Pending);
      for (const each of evidence) this.marks(peer, each);
      const key = lacks.join();
      const same = tellings.get(key);
      if (same) same.peers.push(peer);
      else tellings.set(key, { peers: [peer], evidence });
    }
    const left = this.endsNs - nowNs;
    return { tellings: [...tellings.values()], afterNs: isEarly && SOON_NS < left ? SOON_NS : left };
  }
}
