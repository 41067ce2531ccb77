// Whom a node takes for a peer: only who has said, in its life, that it is who the connection proves, of this chain, and speaks as we do. Whom
// it speaks to, but to greet: only who is a peer, and still there.

import type { PeerId } from '../../actors/turn.ts';
import { CHANNEL_GREETING, CHANNELS, decodeNodeInfo } from '../../machines/peers/node-info.ts';
import { isRefusal } from '../../protocol/refusal.ts';
import { BLOCK_PROTOCOL } from '../../protocol/types.ts';
import { type Machine, nameOfPeer } from '../machine.ts';
import type { Oracle, OracleMaker } from '../oracle.ts';
import { saidLateNs } from './pace.ts';
import { PerMachine } from './per-machine.ts';

export const greetingOracle: OracleMaker = (report, about): Oracle => {
  /** Who has greeted each node as it should. */
  const welcome = new PerMachine<Set<PeerId>>(() => new Set());
  /** Whom each node has for a peer; when it lost one, null while it is there. */
  const lostNs = new PerMachine<Map<PeerId, number | null>>(() => new Map());

  const nameOf = (peer: PeerId): string => nameOfPeer(about.machines, peer) ?? 'somebody';

  /** What waits for the disk was said before the peer went; a disk that was slow until now had the node held back. */
  const isThere = (at: Machine, peer: PeerId): boolean => {
    const since = lostNs.of(at).get(peer);
    if (since === undefined || since === null) return since === null;
    return about.now() - Math.max(since, at.heldUntilNs) <= saidLateNs(at);
  };

  const isFitting = (from: PeerId, bytes: Uint8Array): boolean => {
    const info = decodeNodeInfo(bytes);
    if (isRefusal(info)) return false;
    const { nodeId, network, blockProtocol, channels } = info;
    if (nodeId !== from || network !== about.chainId || blockProtocol !== BLOCK_PROTOCOL) return false;
    return channels.some((channel) => CHANNELS.includes(channel));
  };

  return {
    name: 'greeting',
    effects: ['send'],
    events: ['peer'],
    started(at) {
      welcome.delete(at);
      lostNs.delete(at);
    },
    heard(at, from, payloads) {
      for (let i = 0; i < payloads.length; i++) {
        const payload = payloads[i];
        if (payload?.channel !== CHANNEL_GREETING || welcome.of(at).has(from)) continue;
        if (isFitting(from, payload.bytes)) welcome.of(at).add(from);
      }
    },
    published(at, _actor, event) {
      if (event.type !== 'peer') return;
      lostNs.of(at).set(event.peer, event.up ? null : about.now());
      if (!event.up || !about.isHonest(at) || welcome.of(at).has(event.peer)) return;
      report(
        `${at.name} takes ${nameOf(event.peer)} for a peer, which never greeted it as one`,
        at,
        at.height + 1n,
      );
    },
    leaving(at, _actor, effect) {
      if (effect.type !== 'send' || effect.payloads[0]?.channel === CHANNEL_GREETING) return;
      for (const peer of effect.to) {
        if (isThere(at, peer) || !about.isHonest(at)) continue;
        report(`${at.name} speaks to ${nameOf(peer)}, which is no peer of it`, at, at.height + 1n);
      }
    },
  };
};
