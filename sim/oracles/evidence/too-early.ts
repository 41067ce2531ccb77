// Nobody is told of evidence before it can look it up: who has shown nothing beyond the height of a crime has no block of that, and lets the evidence
// fall (CometBFT prepareEvidenceMessage).

import type { PeerId } from '../../../actors/turn.ts';
import type { ConsensusMessage } from '../../../protocol/messages.ts';
import type { Machine } from '../../machine.ts';
import { heightOf } from '../ghost/messages.ts';
import { PerMachine } from '../ghost/per-machine.ts';

export class TooEarly {
  /** The highest that each peer has spoken of, ever: where a node believes it to be is no higher, whatever its lives, logs and connections. */
  private readonly heights = new PerMachine(() => new Map<PeerId, bigint>());

  hears(at: Machine, from: PeerId, messages: readonly (ConsensusMessage | null)[]): void {
    let highest = 0n;
    for (const message of messages) {
      const height = message ? heightOf(message) : 0n;
      if (height > highest) highest = height;
    }
    if (highest === 0n) return;
    const heights = this.heights.of(at);
    if (highest > (heights.get(from) ?? 0n)) heights.set(from, highest);
  }

  /** The first of these peers that cannot have the block of this height; null: all may, or have said nothing. */
  tells(at: Machine, peers: readonly PeerId[], height: bigint): PeerId | null {
    const heights = this.heights.of(at);
    for (const peer of peers) {
      const highest = heights.get(peer);
      if (highest !== undefined && highest <= height) return peer;
    }
    return null;
  }
}
