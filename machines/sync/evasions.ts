// Who says again and again how far it is, and owes a block that it was asked for before. Peers answer in order, so each report is held against
// the question that it answers: on a slow line the newest one may have been asked long after.

/**
 * A report that overtakes a block is an evasion, if nothing was lost. After so many in a row it was no loss: the peer claims what it does
 * not have. Blocks of the past that it does send prove nothing: at the tip of a growing chain it can send every block a little later.
 */
export const EVASIONS_MAX = 3;

/** Two minutes of them: on a line that is slower nobody can be believed. */
const QUESTIONS_MAX = 12;

export class Evasions {
  /** When each peer was asked what it has not answered yet, the oldest first. */
  private readonly questions = new Map<string, bigint[]>();
  /** In a row. They outlive a connection, as bans do. */
  private readonly counts = new Map<string, number>();

  /** These are asked how far they are. */
  asks(peers: readonly string[], nowNs: bigint): void {
    for (const peer of peers) {
      const questions = this.questions.get(peer);
      if (!questions) this.questions.set(peer, [nowNs]);
      else if (questions.push(nowNs) > QUESTIONS_MAX) questions.shift();
    }
  }

  /** What it says first is of no weight, and comes without being asked (CometBFT AddPeer): then its first answer is one too many, and counts as none. */
  greets(peer: string): void {
    this.questions.get(peer)?.shift();
  }

  /**
   * A report, and since when the peer owes which blocks. True: it is one evasion too many. One answer to each question counts: who says more
   * than it is asked clears itself of nothing.
   */
  reports(peer: string, open: ReadonlyMap<bigint, bigint>): boolean {
    const askedNs = this.questions.get(peer)?.shift();
    if (askedNs === undefined) return false;
    let isEvasion = false;
    for (const sinceNs of open.values()) isEvasion ||= sinceNs < askedNs;
    const count = isEvasion ? (this.counts.get(peer) ?? 0) + 1 : 0;
    if (isEvasion) this.counts.set(peer, count);
    else this.counts.delete(peer);
    return count >= EVASIONS_MAX;
  }

  /** It answers what it was asked then: what it was asked before it has answered, or nobody will. */
  hasAnswered(peer: string, askedNs: bigint): void {
    const questions = this.questions.get(peer);
    while (questions?.[0] !== undefined && questions[0] < askedNs) questions.shift();
  }

  /** Its connection is gone, and with it what it was asked. */
  leaves(peer: string): void {
    this.questions.delete(peer);
  }

  /** What it did is paid for. */
  forgives(peer: string): void {
    this.counts.delete(peer);
  }
}
