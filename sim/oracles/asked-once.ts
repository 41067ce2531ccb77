// Where a pool is to keep in its cache what was refused, too (`keep_invalid_txs_in_cache`): it asks its application about nothing a second
// time that its cache still holds.

/** All that comes takes one place in the cache at most, and half of them are left for what came before and is seen again. */
export class AskedOnce {
  private readonly safe: number;
  private count = 0;
  /** What has come and was not asked about yet: when, in all that came. */
  private readonly came = new Map<string, number>();
  private readonly asked = new Map<string, number>();

  constructor(cacheSize: number) {
    this.safe = cacheSize / 2;
  }

  /** Of a client or of a peer. */
  comes(id: string): void {
    this.count++;
    if (!this.came.has(id)) this.came.set(id, this.count);
    this.forgets(this.came);
  }

  /** A block takes these, and some of them may come into the cache only when others have that come later. */
  takes(txs: number): void {
    this.count += 2 * txs;
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
