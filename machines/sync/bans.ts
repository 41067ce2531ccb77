// Liars that are not listened to for a while, however often they come again.

export class Bans {
  private readonly untilNs = new Map<string, bigint>();

  add(peer: string, untilNs: bigint): void {
    this.untilNs.set(peer, untilNs);
  }

  has(peer: string, nowNs: bigint): boolean {
    const untilNs = this.untilNs.get(peer);
    if (untilNs === undefined) return false;
    if (nowNs < untilNs) return true;
    this.untilNs.delete(peer);
    return false;
  }
}
