// Whom a node takes for a peer: only who has said, in its life, that it is who the connection proves, of this chain, and speaks as we do.

import type { PeerId } from '../../actors/turn.ts';
import { CHANNEL_GREETING, CHANNELS, decodeNodeInfo } from '../../machines/peers/node-info.ts';
import { isRefusal } from '../../protocol/refusal.ts';
import { BLOCK_PROTOCOL } from '../../protocol/types.ts';
import type { Oracle, OracleMaker } from '../oracle.ts';
import { PerMachine } from './per-machine.ts';

export const greetingOracle: OracleMaker = (report, about): Oracle => {
  /** Who has greeted each node as it should. */
  const welcome = new PerMachine<Set<PeerId>>(() => new Set());

  const isFitting = (from: PeerId, bytes: Uint8Array): boolean => {
    const info = decodeNodeInfo(bytes);
    if (isRefusal(info)) return false;
    const { nodeId, network, blockProtocol, channels } = info;
    if (nodeId !== from || network !== about.chainId || blockProtocol !== BLOCK_PROTOCOL) return false;
    return channels.some((channel) => CHANNELS.includes(channel));
  };

  return {
    name: 'greeting',
    effects: [],
    events: ['peer'],
    started: (at) => void welcome.delete(at),
    heard(at, from, payloads) {
      for (let i = 0; i < payloads.length; i++) {
        const payload = payloads[i];
        if (payload?.channel !== CHANNEL_GREETING || welcome.of(at).has(from)) continue;
        if (isFitting(from, payload.bytes)) welcome.of(at).add(from);
      }
    },
    published(at, _actor, event) {
      if (event.type !== 'peer' || !event.up || !about.isHonest(at) || welcome.of(at).has(event.peer)) return;
      const name = about.machines.find(({ member }) => member.id === event.peer)?.name ?? 'somebody';
      report(`${at.name} takes ${name} for a peer, which never greeted it as one`, at, at.height + 1n);
    },
  };
};
