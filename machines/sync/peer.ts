// What block sync knows of one peer: what it says to have, what it owes, and what is on its way from it.

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
  /** Heights it was asked for that others have answered: what it sends of them is on its way all the same. */
  late: Map<bigint, bigint>;
  /** What nobody counts on any more, and may come nevertheless: late blocks after a long silence, and second copies. */
  stray: Map<bigint, bigint>;
  /** Since when it owes us something without having sent anything that it was asked for. */
  quietSinceNs: bigint;
  /** It sent a block since it came: the next ones are better asked of it than of a stranger. */
  isProven: boolean;
  /** Of the blocks that it sent, or said that it has not, when the newest was asked for. */
  servedNs: bigint;
}

/** Before any request. */
export const NEVER_NS = -(1n << 62n);

export const newPeer = (base: bigint, height: bigint, nowNs: bigint): SyncPeer => ({
  base,
  height,
  reportedBase: base,
  reportedAtNs: nowNs,
  refused: -1n,
  refusedAtNs: nowNs,
  open: new Map(),
  late: new Map(),
  stray: new Map(),
  quietSinceNs: nowNs,
  isProven: false,
  servedNs: NEVER_NS,
});

export const has = ({ base, height }: SyncPeer, block: bigint): boolean => base <= block && block <= height;

/** What it said last is what it took back before, as if it had not been asked for it. */
export const isContradicting = ({ refused, reportedBase }: SyncPeer): boolean => reportedBase <= refused;

/** How many blocks it is still to send, without this one: asked for it again it owes no more than before. */
export const owedBesides = ({ open, late }: SyncPeer, height: bigint): number =>
  open.size + late.size - (open.has(height) || late.has(height) ? 1 : 0);

/**
 * It sends a block, or says that it has none. When it was asked for that; null: it was not. Peers answer in order, so what it was to send before,
 * and others did, it will not send any more.
 */
export function serves(peer: SyncPeer, height: bigint): bigint | null {
  const { open, late, stray, servedNs } = peer;
  const from = [open, late, stray].find((each) => each.has(height));
  const askedNs = from?.get(height);
  if (askedNs === undefined) return null;
  from?.delete(height);
  if (askedNs > servedNs) peer.servedNs = askedNs;
  for (const each of [late, stray])
    for (const [block, sinceNs] of each) if (sinceNs < askedNs) each.delete(block);
  return askedNs;
}

/** It is asked for a block, or asked again: then two copies may come. */
export function owes({ open, late, stray }: SyncPeer, height: bigint, nowNs: bigint): void {
  if (open.has(height)) stray.set(height, nowNs);
  else open.set(height, late.get(height) ?? nowNs);
  late.delete(height);
}

/** It was silent for long: its line has room again. */
export function forgetLate(peer: SyncPeer): void {
  if (peer.late.size === 0) return;
  peer.stray = peer.late;
  peer.late = new Map();
}

/**
 * What it was asked then does not come: it sends what it was asked later, or nothing since. What it still sends is in order, and to ask again
 * before would have a slow line carry everything twice.
 */
export const hasLost = ({ quietSinceNs, servedNs }: SyncPeer, askedNs: bigint, sinceNs: bigint): boolean =>
  askedNs === NEVER_NS || askedNs < servedNs || quietSinceNs <= sinceNs;

/** Somebody sent this block, and nobody else needs to. */
export function overtaken({ open, late }: SyncPeer, height: bigint): void {
  const askedNs = open.get(height);
  if (askedNs === undefined) return;
  open.delete(height);
  late.set(height, askedNs);
}
