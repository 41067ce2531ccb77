// What a node asks for in block sync: of one peer no more blocks at once than it is told to, of all together no more than it may hold, of a second
// peer only what the first does not give, of a third only when it is time to ask again; and what a peer owed that went is asked at once of
// another. The next two are asked for in any case, and twice: one of them proves the other, and a dispute about them is settled by one peer. And who is
// there as it begins is asked how far it is (asked-at-first.ts).

import type { Payload, PeerId } from '../../../actors/turn.ts';
import { encodeBlock } from '../../../protocol/wire/index.ts';
import { type Machine, nameOfPeer } from '../../machine.ts';
import type { Oracle, OracleMaker, Report, WorldAbout } from '../../oracle.ts';
import { CHANNEL_BLOCKSYNC } from '../canonical/numbers.ts';
import { blocksyncMessage } from '../ghost/messages.ts';
import { HOP_NS } from '../ghost/pace.ts';
import { PerMachine } from '../ghost/per-machine.ts';
import { AskedAnew } from './asked-anew.ts';
import { AskedAtFirst } from './asked-at-first.ts';
import { SecondSources } from './second-sources.ts';

/** Who has not answered for so long is asked no more, or from the beginning: the node may have let its question go. */
const FORGOTTEN_NS = 15_000_000_000;
const PAIR = 2n;

interface Given {
  readonly from: PeerId;
  readonly bytes: number;
}

/** In its life so far; where nobody knows, less than the node has. */
class Fetching {
  /** Asked of each peer, by height, and when. */
  private readonly open = new Map<PeerId, Map<bigint, number>>();
  private readonly given = new Map<bigint, Given>();
  /** When an answer about a height came last: who asks again right then has not read it yet. */
  private readonly answeredNs = new Map<bigint, number>();
  /** Of whom it was said last that they came, went or lied, and when. */
  private readonly changedNs = new Map<PeerId, number>();
  readonly sources = new SecondSources();
  readonly anew = new AskedAnew();
  readonly atFirst = new AskedAtFirst();
  /** The smallest block of them. */
  private bytesLeast: number | null = null;
  /** Once is enough. */
  isTold = false;

  /** `heldNs`: until when it took nothing up. */
  asks(peer: PeerId, height: bigint, now: number, heldNs: number): void {
    const answeredNs = this.answeredNs.get(height);
    if (answeredNs !== undefined && now - Math.max(answeredNs, heldNs) <= HOP_NS) return;
    const heights = this.open.get(peer);
    if (!heights) this.open.set(peer, new Map([[height, now]]));
    else if (!heights.has(height)) heights.set(height, now);
  }

  /** Whoever gives a block answers for all; who was not asked for it may be refused. */
  gives(from: PeerId, height: bigint, now: number, bytes: () => number): void {
    this.answeredNs.set(height, now);
    this.sources.answered(height);
    const wasAsked = this.open.get(from)?.has(height) === true;
    for (const heights of this.open.values()) heights.delete(height);
    if (!wasAsked) return;
    const given = { from, bytes: bytes() };
    this.given.set(height, given);
    this.bytesLeast = Math.min(this.bytesLeast ?? given.bytes, given.bytes);
  }

  hasNot(peer: PeerId, height: bigint, now: number): void {
    this.answeredNs.set(height, now);
    this.sources.answered(height);
    this.open.get(peer)?.delete(height);
  }

  /** It comes or goes, or lied: what it gave may be let go of. */
  forgets(peer: PeerId, now: number): void {
    this.changedNs.set(peer, now);
    this.sources.forgets(peer);
    this.open.delete(peer);
    for (const [height, { from }] of this.given) if (from === peer) this.given.delete(height);
  }

  /** Whether who asks knows by now that the peer came or went: until then it may ask the one that was there before. */
  isKnown(peer: PeerId, now: number): boolean {
    const changed = this.changedNs.get(peer);
    return changed === undefined || now - changed > HOP_NS;
  }

  begins(at: Machine, now: number): void {
    this.anew.begins(now, at.clock.count());
    this.atFirst.begins(now);
  }

  ends(at: Machine, now: number): ReturnType<AskedAtFirst['ends']> {
    this.anew.ends();
    return this.atFirst.ends(at, now);
  }

  comes(peer: PeerId, now: number): void {
    this.anew.comes(peer, now);
    this.atFirst.comes(peer, now);
  }

  goes(peer: PeerId, at: Machine, now: number): void {
    this.anew.goes(peer, at, now);
    this.atFirst.goes(peer);
  }

  distrusts(peer: PeerId, now: number): void {
    this.anew.distrusts(peer, now);
    this.atFirst.goes(peer);
  }

  asksHowFar(peer: PeerId, at: Machine, now: number): number | null {
    this.anew.asksHowFar(peer, now);
    return this.atFirst.asks(peer, at, now);
  }

  /** It has all up to this height. */
  hasApplied(height: bigint): void {
    this.sources.hasApplied(height);
    this.anew.hasApplied(height);
    for (const each of this.given.keys()) if (each <= height) this.given.delete(each);
    for (const each of this.answeredNs.keys()) if (each <= height) this.answeredNs.delete(each);
    for (const heights of this.open.values())
      for (const each of heights.keys()) if (each <= height) heights.delete(each);
  }

  openTo(peer: PeerId, now: number): number {
    let count = 0;
    for (const askedNs of this.open.get(peer)?.values() ?? []) if (now - askedNs < FORGOTTEN_NS) count++;
    return count;
  }

  /** Of blocks behind `last` at least so much is here or on its way, without `height`; null: that is on its way, too. */
  bytesBeyond(last: bigint, height: bigint, now: number): number | null {
    const asked = new Set<bigint>();
    for (const heights of this.open.values())
      for (const [each, askedNs] of heights) if (each > last && now - askedNs < FORGOTTEN_NS) asked.add(each);
    if (asked.has(height)) return null;
    let sum = asked.size * (this.bytesLeast ?? 0);
    for (const [each, { bytes }] of this.given) if (each > last && each !== height) sum += bytes;
    return sum;
  }
}

export const fetchingOracle: OracleMaker = (report, about): Oracle => {
  const nodes = new PerMachine(() => new Fetching());
  const asksLate = (at: Machine, peer: PeerId, sinceNs: number): void => {
    const whom = nameOfPeer(about.machines, peer) ?? 'a peer';
    const ms = Math.round((about.now() - sinceNs) / 1e6);
    report(
      `${at.name} began to fetch blocks ${ms} ms ago, and did not ask ${whom}, which was there`,
      at,
      at.height,
    );
  };
  return {
    name: 'fetching',
    effects: ['send', 'score'],
    events: ['peer', 'committed', 'mode'],
    started: (at) => nodes.delete(at),
    published(at, _actor, event) {
      const now = about.now();
      if (event.type === 'committed') nodes.get(at)?.hasApplied(event.height);
      else if (event.type === 'mode' && event.mode === 'sync') nodes.of(at).begins(at, now);
      else if (event.type === 'mode') {
        const unasked = nodes.get(at)?.ends(at, now);
        if (unasked && about.isHonest(at)) asksLate(at, unasked.peer, unasked.sinceNs);
      }
      if (event.type !== 'peer') return;
      const node = nodes.of(at);
      node.forgets(event.peer, now);
      if (event.up) node.comes(event.peer, now);
      else node.goes(event.peer, at, now);
    },
    heard(at, from, payloads) {
      if (payloads[0]?.channel !== CHANNEL_BLOCKSYNC) return;
      const node = nodes.get(at);
      if (node) for (const payload of payloads) hears(node, from, payload, about.now());
    },
    leaving(at, actor, effect) {
      if (effect.type === 'score') {
        nodes.get(at)?.forgets(effect.peer, about.now());
        nodes.get(at)?.distrusts(effect.peer, about.now());
      }
      if (effect.type !== 'send' || actor !== 'blocksync' || !about.isHonest(at)) return;
      for (const payload of effect.payloads) {
        const message = blocksyncMessage(payload);
        if (message?.type === 'status-request')
          for (const peer of effect.to) {
            const sinceNs = nodes.of(at).asksHowFar(peer, at, about.now());
            if (sinceNs !== null) asksLate(at, peer, sinceNs);
          }
        if (message?.type !== 'block-request') continue;
        for (const peer of effect.to) asks(report, about, nodes.of(at), at, peer, message.height);
      }
    },
  };
};

function hears(node: Fetching, from: PeerId, payload: Payload, now: number): void {
  const message = blocksyncMessage(payload);
  if (message) node.anew.hears(from, message, payload.bytes.length, now);
  if (message?.type === 'status-response') node.sources.forgets(from); // it may be one too many, and nobody asks it any more
  if (message?.type === 'no-block-response') node.hasNot(from, message.height, now);
  if (message?.type !== 'block-response') return;
  const { block } = message;
  node.gives(from, block.header.height, now, () => encodeBlock(block).length);
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
  const due = node.anew.asks(peer, height, now, at.heldUntilNs);
  if (due && !node.isTold) {
    node.isTold = true;
    const ms = Math.round((now - due.sinceNs) / 1e6);
    const gone = nameOfPeer(about.machines, due.peer) ?? 'a peer';
    report(`${at.name} asks for block ${height} only ${ms} ms after ${gone} went, which owed it`, at, height);
  }
  if (!node.isKnown(peer, now)) return;
  const { requestsPerPeerMax, bufferBytesMax, retryNs, secondSourceAfterNs } = at.config.sync;
  const last = at.height + PAIR;
  const bytes = node.bytesBeyond(last, height, now);
  node.asks(peer, height, now, at.heldUntilNs);
  const sinceLastNs = node.sources.sinceLast(height, at.clock.count());
  const waitedNs = node.sources.asks(peer, height, at.clock.count());
  if (height <= last || node.isTold) return;
  const tell = (what: string): void => {
    node.isTold = true;
    report(`${at.name} ${what}`, at, at.height);
  };
  const whom = (who: PeerId | undefined): string =>
    (who !== undefined && nameOfPeer(about.machines, who)) || 'a peer';
  const count = node.openTo(peer, now);
  const patienceNs = Number(retryNs < secondSourceAfterNs ? retryNs : secondSourceAfterNs);
  // What came in a pause is read behind it, and may have made room.
  const isFresh = now - at.heldUntilNs <= HOP_NS;
  if (waitedNs !== null && waitedNs + HOP_NS < patienceNs && !isFresh) {
    const first = whom(node.sources.firstOf(height));
    tell(
      `asks ${whom(peer)} for block ${height} ${waitedNs} ns after ${first}, and is to wait ${patienceNs}`,
    );
  } else if (sinceLastNs !== null && sinceLastNs + HOP_NS < Number(retryNs) && !isFresh) {
    const often = `when two were asked, ${sinceLastNs} ns after the last, and is to wait ${retryNs}`;
    tell(`asks ${whom(peer)} for block ${height} ${often}`);
  } else if (count > requestsPerPeerMax) {
    tell(`asks ${whom(peer)} for ${count} blocks at once, and may for ${requestsPerPeerMax}`);
  } else if (bytes !== null && bytes >= bufferBytesMax)
    tell(`may hold ${bufferBytesMax} bytes of blocks, has or expects ${bytes}, and asks for more`);
}
