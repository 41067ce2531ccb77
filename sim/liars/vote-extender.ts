// The vote extender: hangs bytes on its votes where the chain asks for none. They are not signed, so anybody could have, and whoever
// passes them on, or keeps them, carries a stranger's load.

import { type Liar, signedVote } from './liar.ts';
import { aboutOwnVotes } from './own-votes.ts';

const EXTENSION_BYTES = 300;
const SIGNATURE_BYTES = 64;

export const voteExtender: Liar = (kit) =>
  aboutOwnVotes(kit, 'lie: a vote with an extension', (vote) => {
    const extension = new Uint8Array(EXTENSION_BYTES).fill(vote.round + 1);
    return [signedVote(kit, { ...vote, extension, extensionSignature: new Uint8Array(SIGNATURE_BYTES) })];
  });
