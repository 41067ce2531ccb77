// What block sync knows of one peer: what it says to have, what it owes, and how often it did not keep its word.

export interface SyncPeer {
  /** What it says to have, less what it said since that it has not. */
  base: bigint;
  height: bigint;
  /** By its newest report. */
  reportedBase: bigint;
  reportedAtNs: bigint;
  /** The highest block that it said to have and, asked for it, has not; -1: none. */
  refused: bigint;
  /** Since when it has said so without a report that agrees with it. */
  refusedAtNs: bigint;
  /** Heights it was asked for that nobody has answered yet, and since when. */
  readonly open: Map<bigint, bigint>;
  /** Since when it owes us something without having sent anything. */
  quietSinceNs: bigint;
  /** It sent a block since it came: the next ones are better asked of it than of a stranger. */
  isProven: boolean;
  /** Reports in a row that came while it owed blocks that it had been asked for earlier. */
  evasions: number;
}

export const newPeer = (base: bigint, height: bigint, evasions: number, nowNs: bigint): SyncPeer => ({
  base,
  height,
  reportedBase: base,
  reportedAtNs: nowNs,
  refused: -1n,
  refusedAtNs: nowNs,
  open: new Map(),
  quietSinceNs: nowNs,
  isProven: false,
  evasions,
});

export const has = ({ base, height }: SyncPeer, block: bigint): boolean => base <= block && block <= height;

/** What it said last is what it took back before, as if it had not been asked for it. */
export const isContradicting = ({ refused, reportedBase }: SyncPeer): boolean => reportedBase <= refused;
