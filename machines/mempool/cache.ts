// Remembers the hashes of transactions seen, the least recently seen leaves first (CometBFT LRUTxCache).

export class TxCache {
  private readonly sizeMax: number;
  /** A Map keeps the order of insertion: the first is the oldest. */
  private readonly seen = new Map<string, true>();

  constructor(sizeMax: number) {
    this.sizeMax = sizeMax;
  }

  /** False when it was here; it is the youngest in either case. A cache of size 0 has never seen anything. */
  push(key: string): boolean {
    if (this.sizeMax === 0) return true;
    const isNew = !this.seen.delete(key);
    this.seen.set(key, true);
    if (this.seen.size > this.sizeMax) {
      for (const oldest of this.seen.keys()) {
        this.seen.delete(oldest);
        break;
      }
    }
    return isNew;
  }

  remove(key: string): void {
    this.seen.delete(key);
  }

  has(key: string): boolean {
    return this.seen.has(key);
  }

  get size(): number {
    return this.seen.size;
  }
}
