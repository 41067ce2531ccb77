// The address that each machine votes under: bytes, and hex as the oracles' sets spell it; and under which ids the honest are connected.

import type { PeerId } from '../actors/turn.ts';
import { hexOf } from '../protocol/bytes.ts';
import { addressOf } from '../protocol/keys.ts';
import type { Machine } from './machine.ts';
import type { WorldAbout } from './oracle.ts';

const addresses = new WeakMap<Machine, { readonly bytes: Uint8Array; readonly hex: string }>();

function ofMachine(at: Machine): { readonly bytes: Uint8Array; readonly hex: string } {
  let address = addresses.get(at);
  if (!address) {
    const bytes = at.member.publicKey ? addressOf(at.member.publicKey) : new Uint8Array(0);
    address = { bytes, hex: hexOf(bytes) };
    addresses.set(at, address);
  }
  return address;
}

/** Empty: it has no key. */
export const addressFor = (at: Machine): Uint8Array => ofMachine(at).bytes;
export const hexFor = (at: Machine): string => ofMachine(at).hex;

/** By address, hex; who has no key is not among them. */
export const machinesByAddress = ({ machines }: WorldAbout): ReadonlyMap<string, Machine> =>
  new Map(machines.flatMap((each) => (each.member.publicKey ? [[hexFor(each), each]] : [])));

/** The ids of those whose word counts, liars left out. */
export const honestPeers = ({ machines, isHonest }: WorldAbout): ReadonlySet<PeerId> =>
  new Set(machines.filter(isHonest).map(({ member }) => member.id));
