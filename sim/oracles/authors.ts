// Whose word a message is, and whether he is honest: who lies may have said several things in one place.

import type { PeerId } from '../../actors/turn.ts';
import { honestPeers, machinesByAddress } from '../addresses.ts';
import type { Machine } from '../machine.ts';
import type { WorldAbout } from '../oracle.ts';

export class Authors {
  private readonly about: WorldAbout;
  private readonly byAddress: ReadonlyMap<string, Machine>;
  private readonly honestPeers: ReadonlySet<PeerId>;

  constructor(about: WorldAbout) {
    this.about = about;
    this.byAddress = machinesByAddress(about);
    this.honestPeers = honestPeers(about);
  }

  isHonestPeer(id: PeerId): boolean {
    return this.honestPeers.has(id);
  }

  /** Of a validator's address, hex; undefined: nobody knows who has that place. */
  isHonest(address: string | undefined): boolean {
    const author = address === undefined ? undefined : this.byAddress.get(address);
    return author !== undefined && this.about.isHonest(author);
  }
}
