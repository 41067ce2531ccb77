// Where a pool is to keep in its cache what was refused, too (`keep_invalid_txs_in_cache`): it asks its application about nothing a second
// time that its cache still holds.

import { HOP_NS } from '../ghost/pace.ts';

/** All that comes takes one place in the cache at most, and half of them are left for what came before and is seen again. */
export class AskedOnce {
  private readonly safe: number;
  private count = 0;
  /** What may be on its way to the pool still, and the count before it. */
  private readonly recent: { readonly atNs: number; readonly before: number }[] = [];
  /** What has come and was not asked about yet: when, in all that came. */
  private readonly came = new Map<string, number>();
  private readonly asked = new Map<string, number>();

  constructor(cacheSize: number) {
    this.safe = cacheSize / 2;
  }

  /** Of a client or of a peer. */
  comes(id: string, nowNs: number): void {
    const place = this.adds(1, nowNs) + 1;
    if (!this.came.has(id)) this.came.set(id, place);
    this.forgets(this.came);
  }

  /** A block takes these, and some of them may come into the cache only when others have that come later. */
  takes(txs: number, nowNs: number): void {
    this.adds(2 * txs, nowNs);
  }

  /** Gives the count of all that is there for certain: what comes now may overtake what came just before it. */
  private adds(places: number, nowNs: number): number {
    while (this.recent[0] && nowNs - this.recent[0].atNs > HOP_NS) this.recent.shift();
    this.recent.push({ atNs: nowNs, before: this.count });
    this.count += places;
    return this.recent[0]?.before ?? this.count;
  }

  /** Whether it was asked about before, and the cache must hold it. */
  isAskedAgain(id: string): boolean {
    const before = this.asked.get(id);
    const now = this.came.get(id);
    this.came.delete(id);
    this.asked.delete(id);
    if (now !== undefined) this.asked.set(id, now);
    this.forgets(this.asked);
    return before !== undefined && this.count - before < this.safe;
  }

  private forgets(places: Map<string, number>): void {
    for (const [id, place] of places) {
      if (this.count - place < this.safe) return;
      places.delete(id);
    }
  }
}
