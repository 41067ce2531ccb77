// Whether block sync gains on the chain: by the time that the chain's own headers tell, whatever peers claim.

/**
 * Less is no gain: clocks that drift apart and rounds of unequal length bring the tip closer by so much now and then, and nobody who catches up
 * gains so little in the time that we are willing to wait.
 */
const GAIN_NS = 1_000_000_000n;

export class Progress {
  private readonly stallNs: bigint;
  /** When we gained last. */
  private gainedAtNs: bigint;
  /**
   * The time of the header that came closest, less our clock's when it was applied; null: none yet. The two clocks have nothing in common, and
   * skew does not matter: only that the chain's time goes by faster while we catch up, and as fast as ours at the tip.
   */
  private closestNs: bigint | null = null;
  private appliedAtNs: bigint | null = null;
  private wasSlow = false;

  constructor(stallNs: bigint, nowNs: bigint) {
    this.stallNs = stallNs;
    this.gainedAtNs = nowNs;
  }

  /** Nobody could have served anything until now. */
  begin(nowNs: bigint): void {
    this.gainedAtNs = nowNs;
    this.closestNs = null;
  }

  /** @param timeNs of its header, which is verified. */
  applied(timeNs: bigint, nowNs: bigint): void {
    // A block that took long (a migration, a compaction) says nothing of the pace: once, not twice in a row.
    const isSlow = this.appliedAtNs !== null && nowNs - this.appliedAtNs >= this.stallNs / 4n;
    if (isSlow && !this.wasSlow) this.begin(nowNs);
    this.wasSlow = isSlow;
    this.appliedAtNs = nowNs;
    const closeNs = timeNs - nowNs;
    if (this.closestNs !== null && closeNs < this.closestNs + GAIN_NS) return;
    this.closestNs = closeNs;
    this.gainedAtNs = nowNs;
  }

  isStalled(nowNs: bigint): boolean {
    return nowNs - this.gainedAtNs >= this.stallNs;
  }
}
