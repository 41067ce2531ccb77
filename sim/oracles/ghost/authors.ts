// Whose word a message is, and whether he is honest: who lies may have said several things in one place.

import type { PeerId } from '../../../actors/turn.ts';
import { honestPeers, machinesByAddress } from '../../addresses.ts';
import type { WorldAbout } from '../../oracle.ts';

export class Authors {
  /** Addresses of those who do not lie, hex. */
  private readonly honest: ReadonlySet<string>;
  private readonly honestPeers: ReadonlySet<PeerId>;

  constructor(about: WorldAbout) {
    const byAddress = [...machinesByAddress(about)];
    this.honest = new Set(byAddress.filter(([, at]) => about.isHonest(at)).map(([address]) => address));
    this.honestPeers = honestPeers(about);
  }

  isHonestPeer(id: PeerId): boolean {
    return this.honestPeers.has(id);
  }

  /** Of a validator's address, hex; undefined: nobody knows who has that place. */
  isHonest(address: string | undefined): boolean {
    return address !== undefined && this.honest.has(address);
  }
}
