// Who hears what of an envelope: each owner of its channels one mail with all that is its own, however they are mixed. So nobody makes more turns
// of an envelope than there are owners, and who counts what is wrong in a turn counts all of it.

import type { ActorName, Payload, PeerId } from '../../actors/turn.ts';

export type OwnerOf = (channel: number, peer: PeerId) => ActorName;

export interface Share {
  readonly owner: ActorName;
  readonly payloads: readonly Payload[];
}

/** In the order in which each owner comes first; what one hears keeps its order. */
export function sharesOf(peer: PeerId, payloads: readonly Payload[], ownerOf: OwnerOf): readonly Share[] {
  const [first] = payloads;
  if (!first) return [];
  const owner = ownerOf(first.channel, peer);
  if (payloads.every(({ channel }) => ownerOf(channel, peer) === owner)) return [{ owner, payloads }];
  const shares = new Map<ActorName, Payload[]>();
  for (const payload of payloads) {
    const whose = ownerOf(payload.channel, peer);
    const share = shares.get(whose);
    if (share) share.push(payload);
    else shares.set(whose, [payload]);
  }
  return Array.from(shares, ([owner, payloads]) => ({ owner, payloads }));
}
