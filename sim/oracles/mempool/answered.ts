// What clients give a node is answered: taken, or refused and why. Until then its application is being asked about it, or cannot be yet.

import type { Machine } from '../../machine.ts';
import { PerMachine } from '../ghost/per-machine.ts';
import { idOf } from './pool.ts';

/** Longer than any way inside a node. */
const ANSWERED_NS = 2_000_000_000;

interface Door {
  /** Since when its handshake is over; null: it is not. */
  openNs: number | null;
  /** What has no answer yet, by id, and when it was given last: as often as it was given. */
  readonly waiting: Map<string, { readonly tx: Uint8Array; count: number; readonly sinceNs: number }>;
}

export class Answered {
  private readonly doors = new PerMachine<Door>(() => ({ openNs: null, waiting: new Map() }));

  starts(at: Machine): void {
    this.doors.delete(at);
  }

  opens(at: Machine, nowNs: number): void {
    this.doors.of(at).openNs ??= nowNs;
  }

  given(at: Machine, tx: Uint8Array, nowNs: number): void {
    const { waiting } = this.doors.of(at);
    const id = idOf(tx);
    waiting.set(id, { tx, count: (waiting.get(id)?.count ?? 0) + 1, sinceNs: nowNs });
  }

  answered(at: Machine, id: string): void {
    const { waiting } = this.doors.of(at);
    const given = waiting.get(id);
    if (given && given.count > 1) given.count--;
    else waiting.delete(id);
  }

  /** Names one that should have been answered long ago, once. */
  missed(at: Machine, nowNs: number, isAsked: (id: string) => boolean): Uint8Array | null {
    const { openNs, waiting } = this.doors.of(at);
    if (openNs === null) return null;
    for (const [id, { tx, sinceNs }] of waiting) {
      if (nowNs - Math.max(sinceNs, openNs, at.heldUntilNs) < ANSWERED_NS || isAsked(id)) continue;
      waiting.delete(id);
      return tx;
    }
    return null;
  }
}
