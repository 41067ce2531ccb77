// What a node asks for in block sync: of one peer no more blocks at once than it is told to, and of all together no more than it may hold.

import type { Payload, PeerId } from '../../actors/turn.ts';
import { type BlocksyncMessage, CHANNEL_BLOCKSYNC } from '../../protocol/messages.ts';
import { isRefusal } from '../../protocol/refusal.ts';
import { decodeBlocksyncMessage } from '../../protocol/wire/index.ts';
import { type Machine, nameOfPeer } from '../machine.ts';
import type { Oracle, OracleMaker, Report, WorldAbout } from '../oracle.ts';
import { PerMachine } from './per-machine.ts';

/** Who has not answered for so long is asked no more, or from the beginning: the node may have let its question go. */
const FORGOTTEN_NS = 15_000_000_000;
/** Around a block: two tags and two lengths. With an extended commit nobody knows how much of it is the block. */
const FRAME_BYTES_MAX = 12;
/** The next two are asked for however much is held: one of them proves the other. */
const PAIR = 2n;

/** In its life so far. */
class Fetching {
  /** Asked of each peer, by height, and when. */
  readonly open = new Map<PeerId, Map<bigint, number>>();
  /** Bytes of what was given, by height. */
  readonly given = new Map<bigint, number>();
  /** The smallest of them. */
  private bytesLeast: number | null = null;

  asks(peer: PeerId, height: bigint, now: number): void {
    const heights = this.open.get(peer);
    if (!heights) this.open.set(peer, new Map([[height, now]]));
    else if (!heights.has(height)) heights.set(height, now);
  }

  /** Who was asked answers for all. */
  gives(peer: PeerId, height: bigint, bytes: number): void {
    if (!this.open.get(peer)?.has(height)) return;
    for (const heights of this.open.values()) heights.delete(height);
    this.given.set(height, bytes);
    this.bytesLeast = Math.min(this.bytesLeast ?? bytes, bytes);
  }

  /** It has all up to this height. */
  hasApplied(height: bigint): void {
    for (const each of this.given.keys()) if (each <= height) this.given.delete(each);
    for (const heights of this.open.values())
      for (const each of heights.keys()) if (each <= height) heights.delete(each);
  }

  openTo(peer: PeerId, now: number): number {
    let count = 0;
    for (const askedNs of this.open.get(peer)?.values() ?? []) if (now - askedNs < FORGOTTEN_NS) count++;
    return count;
  }

  /** At least so much is here or on its way; null: `height` is on its way, too. */
  bytesBeyond(last: bigint, height: bigint, now: number): number | null {
    const asked = new Set<bigint>();
    for (const heights of this.open.values())
      for (const [each, askedNs] of heights) if (each > last && now - askedNs < FORGOTTEN_NS) asked.add(each);
    if (asked.has(height)) return null;
    let sum = asked.size * (this.bytesLeast ?? 0);
    for (const [each, bytes] of this.given) if (each > last) sum += bytes;
    return sum;
  }
}

function messageOf({ channel, bytes }: Payload): BlocksyncMessage | null {
  const message = channel === CHANNEL_BLOCKSYNC ? decodeBlocksyncMessage(bytes) : null;
  return message && !isRefusal(message) ? message : null;
}

export const fetchingOracle: OracleMaker = (report, about): Oracle => {
  const nodes = new PerMachine(() => new Fetching());
  return {
    name: 'fetching',
    effects: ['send', 'score'],
    events: ['peer', 'committed'],
    started: (at) => nodes.delete(at),
    published(at, _actor, event) {
      if (event.type === 'committed') nodes.get(at)?.hasApplied(event.height);
      else if (event.type === 'peer') nodes.get(at)?.open.delete(event.peer);
    },
    heard(at, from, payloads) {
      if (payloads[0]?.channel !== CHANNEL_BLOCKSYNC) return;
      const node = nodes.get(at);
      if (node) for (const payload of payloads) hears(node, from, payload);
    },
    leaving(at, actor, effect) {
      // Blocks of a liar are let go of, whoever else gave one.
      if (effect.type === 'score') nodes.get(at)?.given.clear();
      if (effect.type !== 'send' || actor !== 'blocksync' || !about.isHonest(at)) return;
      for (const payload of effect.payloads) {
        const message = messageOf(payload);
        if (message?.type !== 'block-request') continue;
        for (const peer of effect.to) asks(report, about, nodes.of(at), at, peer, message.height);
      }
    },
  };
};

function hears(node: Fetching, from: PeerId, payload: Payload): void {
  const message = messageOf(payload);
  if (message?.type === 'no-block-response') node.open.get(from)?.delete(message.height);
  if (message?.type !== 'block-response') return;
  const { block, extendedCommit } = message;
  node.gives(from, block.header.height, extendedCommit ? 0 : payload.bytes.length - FRAME_BYTES_MAX);
}

function asks(
  report: Report,
  about: WorldAbout,
  node: Fetching,
  at: Machine,
  peer: PeerId,
  height: bigint,
): void {
  const now = about.now();
  const { requestsPerPeerMax, bufferBytesMax } = at.config.sync;
  node.given.delete(height); // else it would not ask
  const bytes = node.bytesBeyond(at.height + PAIR, height, now);
  node.asks(peer, height, now);
  const count = node.openTo(peer, now);
  if (count === requestsPerPeerMax + 1) {
    const whom = nameOfPeer(about.machines, peer) ?? 'a peer';
    const what = `asks ${whom} for ${count} blocks at once, and may for ${requestsPerPeerMax}`;
    report(`${at.name} ${what}`, at, at.height);
  }
  if (height <= at.height + PAIR || bytes === null || bytes < bufferBytesMax) return;
  const what = `may hold ${bufferBytesMax} bytes of blocks, has or expects ${bytes}, and asks for more`;
  report(`${at.name} ${what}`, at, at.height);
}
