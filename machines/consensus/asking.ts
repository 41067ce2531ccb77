// When to ask a peer for what we lack, and which one: one after another, the seldomer the longer nothing new has come.

/** Asks in one gossip period while they bear fruit: a question and its answer should fit between two of them. */
const ASKS_PER_PERIOD = 5n;
/** Doubled so often, every wait is the longest. */
const FRUITLESS_MAX = 16;

export class Asking {
  /** A timer for the next ask runs. */
  runs = false;
  private asked = 0;
  /** Asks since anything new came. */
  private fruitless = 0;

  /** Something came that was new to us, from whomever. */
  learn(): void {
    this.fruitless = 0;
  }

  /** Whose turn it is, of those who may know more than we do; null: nobody. */
  whom<Peer>(peers: readonly Peer[]): Peer | null {
    this.fruitless = Math.min(this.fruitless + 1, FRUITLESS_MAX);
    return peers[this.asked++ % peers.length] ?? null;
  }

  /** How long until the next ask: doubled for each one that bore no fruit. */
  waitNs(gossipNs: bigint, longestNs: bigint): bigint {
    const wait = (gossipNs / ASKS_PER_PERIOD) << BigInt(Math.max(0, this.fruitless - 1));
    return wait < longestNs ? wait : longestNs;
  }
}
