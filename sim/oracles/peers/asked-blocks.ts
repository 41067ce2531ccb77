// Which blocks each node has asked of each peer, whether that peer said to have them, and which of these were answered: with the block, or with
// the word that it is not there.

import type { Payload, PeerId } from '../../../actors/turn.ts';
import type { Machine } from '../../machine.ts';
import { blocksyncMessage } from '../ghost/messages.ts';
import { PerMachine } from '../ghost/per-machine.ts';

/** Of one peer. */
interface Asked {
  readonly open: Set<bigint>;
  /** Since when something is open. */
  owesSinceNs: number;
  answeredNs: number;
  /** When it last said how far it is. */
  reportedNs: number;
  /** What it said to have: the last few times, for the node may not have taken up the last one yet. */
  readonly claims: { readonly base: bigint; readonly height: bigint }[];
}

const CLAIMS_KEPT = 8;

export class AskedBlocks {
  /** In this life. */
  private readonly nodes = new PerMachine(() => new Map<PeerId, Asked>());

  starts(at: Machine): void {
    this.nodes.delete(at);
  }

  /** Gives what it asks of whom, and whether that peer said to have it. */
  *asks(
    at: Machine,
    to: readonly PeerId[],
    payloads: readonly Payload[],
    nowNs: number,
  ): Generator<{ readonly peer: PeerId; readonly height: bigint; readonly isClaimed: boolean }> {
    for (const payload of payloads) {
      const message = blocksyncMessage(payload);
      if (message?.type !== 'block-request') continue;
      const { height } = message;
      for (const peer of to) {
        const asked = this.of(at, peer);
        const { open, claims } = asked;
        if (open.size === 0) asked.owesSinceNs = nowNs;
        open.add(height);
        const isClaimed = claims.some((claim) => claim.base <= height && height <= claim.height);
        yield { peer, height, isClaimed };
      }
    }
  }

  hears(at: Machine, from: PeerId, payloads: readonly Payload[], nowNs: number): void {
    for (const payload of payloads) {
      const message = blocksyncMessage(payload);
      if (!message) continue;
      const asked = this.of(at, from);
      if (message.type === 'status-response') {
        asked.claims.unshift(message);
        asked.reportedNs = nowNs;
        asked.claims.length = Math.min(asked.claims.length, CLAIMS_KEPT);
      }
      if (message.type === 'block-response') asked.open.delete(message.block.header.height);
      else if (message.type === 'no-block-response') asked.open.delete(message.height);
      else continue;
      asked.answeredNs = nowNs;
    }
  }

  /** When it gave the last of all answers; null: it owes some, or was asked for nothing. */
  allAnsweredNs(at: Machine, peer: PeerId): number | null {
    const asked = this.nodes.get(at)?.get(peer);
    return asked && asked.open.size === 0 ? asked.answeredNs : null;
  }

  /** Since when it owes some answer, and when it last said how far it is; null: it owes none. */
  owing(at: Machine, peer: PeerId): { readonly sinceNs: number; readonly reportedNs: number } | null {
    const asked = this.nodes.get(at)?.get(peer);
    return asked && asked.open.size > 0 ? { sinceNs: asked.owesSinceNs, reportedNs: asked.reportedNs } : null;
  }

  private of(at: Machine, peer: PeerId): Asked {
    const peers = this.nodes.of(at);
    let asked = peers.get(peer);
    if (!asked) {
      asked = { open: new Set(), owesSinceNs: 0, answeredNs: 0, reportedNs: 0, claims: [] };
      peers.set(peer, asked);
    }
    return asked;
  }
}
