// Of whom a node does not look at all: who says many false things in one envelope is not heard to its end, and what that end holds binds nobody.

import type { Payload, PeerId } from '../../../actors/turn.ts';
import type { ConsensusMessage } from '../../../protocol/messages.ts';
import { isRefusal } from '../../../protocol/refusal.ts';
import { decodeEvidenceMessage } from '../../../protocol/wire/index.ts';
import type { Machine } from '../../machine.ts';
import type { WorldAbout } from '../../oracle.ts';
import { CHANNEL_EVIDENCE } from '../canonical/numbers.ts';
import { type GhostChain, isTrueVote } from './ghost.ts';
import { messagesIn } from './messages.ts';

/** Of one envelope nobody looks at more than so many false votes, claims and accusations. */
export const FALSE_WORDS_MAX = 8;

export class GivenUp {
  private readonly ghost: GhostChain;
  private readonly about: WorldAbout;
  private readonly byId: ReadonlyMap<PeerId, Machine>;

  constructor(ghost: GhostChain, about: WorldAbout) {
    this.ghost = ghost;
    this.about = about;
    this.byId = new Map(about.machines.map((machine) => [machine.member.id, machine]));
  }

  /** Whether a node may give this envelope up: honest senders say nothing false, and a line does not change so much. */
  mayBe(from: PeerId, payloads: readonly Payload[]): boolean {
    const sender = this.byId.get(from);
    if (!sender || this.about.isHonest(sender)) return false;
    const messages = messagesIn(payloads);
    let count = 0;
    for (let i = 0; i < payloads.length; i++) {
      const message = messages[i];
      if (message) count += this.mayBeFalse(message) ? 1 : 0;
      else count += accusationsIn(payloads[i] as Payload);
    }
    return count >= FALSE_WORDS_MAX;
  }

  private mayBeFalse(message: ConsensusMessage): boolean {
    if (message.type !== 'vote') return message.type === 'vote-set-maj23';
    const set = this.ghost.set(message.vote.height);
    return !set || !isTrueVote(this.about, set, message.vote);
  }
}

function accusationsIn({ channel, bytes }: Payload): number {
  if (channel !== CHANNEL_EVIDENCE) return 0;
  const message = decodeEvidenceMessage(bytes);
  return isRefusal(message) ? 1 : message.evidence.length;
}
