// Whom a node takes for a peer: only who has said, in its life, that it is who the connection proves, of this chain, and speaks as we do. Whom
// it speaks to, but to greet: only who is a peer, and still there. And what it says of itself, where it says the rest, and the bytes of all of it
// are as with CometBFT. Who is asked for its greeting by a peer gives it.

import type { ActorName, Payload, PeerId } from '../../../actors/turn.ts';
import { CHANNEL_GREETING, decodeNodeInfo, type NodeInfo } from '../../../machines/peers/node-info.ts';
import { isRefusal } from '../../../protocol/refusal.ts';
import { type Machine, nameOfPeer } from '../../machine.ts';
import type { Oracle, OracleMaker } from '../../oracle.ts';
import { BLOCK_PROTOCOL, CHANNELS, P2P_PROTOCOL } from '../canonical/numbers.ts';
import { saidLateNs } from '../ghost/pace.ts';
import { PerMachine } from '../ghost/per-machine.ts';
import { misplaced } from './channels.ts';
import { Wording } from './wording.ts';

/** Of one that anybody takes (p2p.DefaultNodeInfo Validate, MaxNodeInfoSize). */
const GREETING_BYTES_MAX = 10_240;
const CHANNELS_MAX = 16;
const TX_INDEX = ['', 'on', 'off'];

/** Of printable characters alone, and not of blanks alone. */
function isPrintable(text: string): boolean {
  let hasInk = false;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code < 0x20 || code > 0x7e) return false;
    if (code > 0x20) hasInk = true;
  }
  return hasInk;
}

function isWellFormed({ version, channels, moniker, txIndex, rpcAddress }: NodeInfo): boolean {
  if (channels.length > CHANNELS_MAX || new Set(channels).size < channels.length) return false;
  if (!isPrintable(moniker) || !TX_INDEX.includes(txIndex)) return false;
  return [version, rpcAddress].every((text) => text === '' || isPrintable(text));
}

/** Who is asked answers in that moment. */
const ANSWER_NS = 500_000_000;

const FALSE_GREETING = 'greets as what it is not, or no node of CometBFT is';

export const greetingOracle: OracleMaker = (report, about): Oracle => {
  /** Who has greeted each node as it should. */
  const welcome = new PerMachine<Set<PeerId>>(() => new Set());
  /** Whom each node has for a peer; when it lost one, null while it is there. */
  const lostNs = new PerMachine<Map<PeerId, number | null>>(() => new Map());
  /** Which of its peers asked a node for its greeting, and when, and have not been given it. */
  const askedNs = new PerMachine<Map<PeerId, number>>(() => new Map());
  /** Of all nodes: they write alike. */
  const wording = new Wording();

  const nameOf = (peer: PeerId): string => nameOfPeer(about.machines, peer) ?? 'somebody';

  /** What waits for the disk was said before the peer went; a disk that was slow until now had the node held back. */
  const isThere = (at: Machine, peer: PeerId): boolean => {
    const since = lostNs.of(at).get(peer);
    if (since === undefined || since === null) return since === null;
    return about.now() - Math.max(since, at.heldUntilNs) <= saidLateNs(at);
  };

  /** One that is no peer yet asks, too; and it is up here when its greeting was heard. */
  function isAsked(at: Machine, from: PeerId): void {
    if (lostNs.of(at).get(from) !== null || at.node?.isPaused !== false) return;
    const asked = askedNs.of(at);
    const sinceNs = asked.get(from);
    if (sinceNs === undefined) {
      asked.set(from, about.now());
      return;
    }
    const waitedNs = about.now() - Math.max(sinceNs, at.heldUntilNs);
    if (!about.isHonest(at) || waitedNs < ANSWER_NS + saidLateNs(at)) return;
    asked.delete(from);
    report(
      `${at.name} was asked for its greeting by ${nameOf(from)}, its peer, and is silent`,
      at,
      at.height + 1n,
    );
  }

  /** What is said in a greeting; null: it is none, or of somebody else, or of another chain. */
  const fitting = (from: PeerId, bytes: Uint8Array): NodeInfo | null => {
    const info = bytes.length > GREETING_BYTES_MAX ? null : decodeNodeInfo(bytes);
    if (!info || isRefusal(info) || !isWellFormed(info)) return null;
    const { nodeId, network, blockProtocol, channels } = info;
    if (nodeId !== from || network !== about.chainId || blockProtocol !== BLOCK_PROTOCOL) return null;
    return channels.some((channel) => CHANNELS.includes(channel)) ? info : null;
  };

  /** It is who it is, and speaks of all that we speak of, and of nothing else. A question is no greeting. */
  const isTrue = (at: Machine, { channel, bytes }: Payload): boolean => {
    if (channel !== CHANNEL_GREETING || bytes.length === 0) return true;
    const info = fitting(at.member.id, bytes);
    if (info?.p2pProtocol !== P2P_PROTOCOL || info.channels.length !== CHANNELS.length) return false;
    return CHANNELS.every((channel) => info.channels.includes(channel));
  };

  /** What is wrong with an envelope, as the end of a sentence about its node; null: nothing. */
  const wrongIn = (at: Machine, actor: ActorName, payloads: readonly Payload[], greets: boolean) => {
    if (greets && !payloads.every((each) => isTrue(at, each))) return FALSE_GREETING;
    const misplacedWord = misplaced(actor, payloads);
    if (misplacedWord) return misplacedWord;
    const odd = wording.oddIn(payloads);
    return odd && `says a word (${odd}) in other bytes than CometBFT makes of it`;
  };

  return {
    name: 'greeting',
    effects: ['send'],
    events: ['peer'],
    started(at) {
      welcome.delete(at);
      lostNs.delete(at);
      askedNs.delete(at);
    },
    heard(at, from, payloads) {
      for (let i = 0; i < payloads.length; i++) {
        const payload = payloads[i];
        if (payload?.channel !== CHANNEL_GREETING) continue;
        if (payload.bytes.length === 0) isAsked(at, from);
        if (welcome.of(at).has(from)) continue;
        if (fitting(from, payload.bytes)) welcome.of(at).add(from);
      }
    },
    published(at, _actor, event) {
      if (event.type !== 'peer') return;
      lostNs.of(at).set(event.peer, event.up ? null : about.now());
      askedNs.of(at).delete(event.peer);
      if (!event.up || !about.isHonest(at) || welcome.of(at).has(event.peer)) return;
      report(
        `${at.name} takes ${nameOf(event.peer)} for a peer, which never greeted it as one`,
        at,
        at.height + 1n,
      );
    },
    leaving(at, actor, effect) {
      if (effect.type !== 'send') return;
      const { payloads } = effect;
      const greets = payloads[0]?.channel === CHANNEL_GREETING;
      if (about.isHonest(at)) {
        const what = wrongIn(at, actor, payloads, greets);
        if (what) report(`${at.name} ${what}`, at, at.height + 1n);
      }
      if (greets) {
        for (const peer of effect.to) askedNs.of(at).delete(peer);
        return;
      }
      for (const peer of effect.to) {
        if (isThere(at, peer) || !about.isHonest(at)) continue;
        report(`${at.name} speaks to ${nameOf(peer)}, which is no peer of it`, at, at.height + 1n);
      }
    },
  };
};
