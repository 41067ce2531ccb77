// What came to a node for its next height while it was at the one before: it keeps so much of each peer, and hears it, in order, as that
// height begins (spec 5.2).

import type { PeerId } from '../../../actors/turn.ts';
import type { ConsensusMessage } from '../../../protocol/messages.ts';

/** Of one peer a node keeps four times as many words, and twice as many bytes. */
const WORDS_PER_PEER_SAFE = 256;
const BYTES_PER_PEER_SAFE = 4 * 1024 * 1024;

export interface EarlyWord {
  readonly from: PeerId;
  readonly message: Kept;
  readonly atNs: number;
}

/** Beyond the next round a word may fall. */
const ROUND_MAX = 1;

type Kept = Extract<ConsensusMessage, { readonly type: 'vote' | 'proposal' | 'block-part' }>;

/** What a node keeps for its next height: other words say where somebody is now. */
export const isKept = (message: ConsensusMessage): message is Kept =>
  message.type === 'vote' || message.type === 'proposal' || message.type === 'block-part';

const roundOf = (message: Kept): number =>
  message.type === 'vote'
    ? message.vote.round
    : message.type === 'proposal'
      ? message.proposal.round
      : message.round;

export class EarlyWords {
  readonly height: bigint;
  readonly words: EarlyWord[] = [];
  private readonly ofPeer = new Map<PeerId, { words: number; bytes: number }>();

  constructor(height: bigint) {
    this.height = height;
  }

  comes(word: EarlyWord, bytes: number): void {
    let of = this.ofPeer.get(word.from);
    if (!of) {
      of = { words: 0, bytes: 0 };
      this.ofPeer.set(word.from, of);
    }
    of.words++;
    of.bytes += bytes;
    const isWithin = of.words <= WORDS_PER_PEER_SAFE && of.bytes <= BYTES_PER_PEER_SAFE;
    if (isWithin && roundOf(word.message) <= ROUND_MAX) this.words.push(word);
  }

  /** Nobody knows how much of this peer the node keeps already: what comes from it now may fall. */
  isUnsureOf(peer: PeerId): void {
    this.ofPeer.set(peer, { words: WORDS_PER_PEER_SAFE, bytes: BYTES_PER_PEER_SAFE });
  }
}
