// The vote extender: hangs bytes on its votes where the chain asks for none: an extension, or, at every other height, a field behind the vote that
// nobody knows. They are not signed, so anybody could have, and whoever passes them on, or keeps them, carries a stranger's load.

import type { Payload } from '../../actors/turn.ts';
import { concatBytes } from '../../protocol/bytes.ts';
import { encodeWith } from '../../protocol/wire/writer.ts';
import { type Liar, signedVote } from './liar.ts';
import { aboutOwnVotes } from './own-votes.ts';

const EXTENSION_BYTES = 300;
const SIGNATURE_BYTES = 64;
const PADDING_BYTES = 16 * 1_024;
/** Field 15, bytes. */
const UNKNOWN_FIELD = 0x7a;

export const voteExtender: Liar = (kit) =>
  aboutOwnVotes(kit, 'lie: a vote with an extension', (vote, payload) => {
    if (vote.height % 2n === 0n) return [padded(payload)];
    const extension = new Uint8Array(EXTENSION_BYTES).fill(vote.round + 1);
    return [signedVote(kit, { ...vote, extension, extensionSignature: new Uint8Array(SIGNATURE_BYTES) })];
  });

/** The vote is true: whoever looks no further keeps all of it. */
function padded({ channel, bytes }: Payload): Payload {
  const field = encodeWith(
    (writer, size) => writer.bytes(UNKNOWN_FIELD, new Uint8Array(size)),
    PADDING_BYTES,
  );
  return { channel, bytes: concatBytes(bytes, field) };
}
