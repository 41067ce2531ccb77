// Nobody is told of one evidence again and again: once when it is new, and anew in each period while it waits for a block (spec 5.10).

import type { Payload, PeerId } from '../../../actors/turn.ts';
import { byteKey } from '../../../protocol/bytes.ts';
import type { Machine } from '../../machine.ts';
import { CHANNEL_EVIDENCE } from '../canonical/numbers.ts';
import { saidLateNs } from '../ghost/pace.ts';
import { PerMachine } from '../ghost/per-machine.ts';

/** A period is 10 s, by the node's own clock. */
const PERIOD_NS = 9_000_000_000;
/** At the end of one period, and as the next begins. */
const TIMES_MAX = 2;

export class Retold {
  /** When each peer was told, the last few times: by the evidence's bytes. */
  private readonly told = new PerMachine(() => new Map<PeerId, Map<string, number[]>>());
  /** When each peer came or went. */
  private readonly turned = new PerMachine(() => new Map<PeerId, number>());

  starts(at: Machine): void {
    this.told.delete(at);
    this.turned.delete(at);
  }

  /** A connection begins or ends: what was told in the one before may be lost. */
  greets(at: Machine, peer: PeerId, nowNs: number): void {
    this.told.get(at)?.delete(peer);
    this.turned.of(at).set(peer, nowNs);
  }

  /** The first peer that is told too often; null: none is. */
  tells(at: Machine, peers: readonly PeerId[], payloads: readonly Payload[], nowNs: number): PeerId | null {
    if (payloads[0]?.channel !== CHANNEL_EVIDENCE) return null;
    let tooOften: PeerId | null = null;
    for (const peer of peers)
      for (const { bytes } of payloads)
        if (this.isTooOften(at, peer, byteKey(bytes), nowNs)) tooOften ??= peer;
    return tooOften;
  }

  private isTooOften(at: Machine, peer: PeerId, evidence: string, nowNs: number): boolean {
    // It may have been meant for the connection before.
    if (nowNs - (this.turned.of(at).get(peer) ?? 0) <= saidLateNs(at)) return false;
    const peers = this.told.of(at);
    let known = peers.get(peer);
    if (!known) {
      known = new Map();
      peers.set(peer, known);
    }
    // What a pause or a slow disk held back leaves at once.
    const since = Math.max(nowNs - PERIOD_NS / at.clock.fastest, at.heldUntilNs);
    const times = (known.get(evidence) ?? []).filter((ns) => ns > since);
    known.set(evidence, [...times, nowNs]);
    return times.length >= TIMES_MAX;
  }
}
