// Who hears all other validators says on its next tick which votes it has, and sends a vote to nobody before: by then whoever has it has said
// so, and is not sent it by each of the others once more (docs/decisions/0004).

import type { PeerId } from '../../../actors/turn.ts';
import { hexOf } from '../../../protocol/bytes.ts';
import type { ConsensusMessage } from '../../../protocol/messages.ts';
import type { Vote } from '../../../protocol/types.ts';
import { hexFor } from '../../addresses.ts';
import type { Machine } from '../../machine.ts';
import type { WorldAbout } from '../../oracle.ts';
import { STEP } from '../../steps.ts';
import { isOwn } from '../ghost/about-votes.ts';
import type { Authors } from '../ghost/authors.ts';
import type { GhostChain } from '../ghost/ghost.ts';
import { type Holder, type Peer, type Thing, thingOf, voteIn } from '../ghost/holdings.ts';
import { saidLateNs } from '../ghost/pace.ts';
import { PerMachine } from '../ghost/per-machine.ts';

/** A tick comes within a period and a quarter, which is jitter. */
const PERIODS_TO_TICK = 1.5;
/** What a peer asked for by name it is sent at once. */
const ASKED_LATELY_NS = 2_000_000_000;

interface Said {
  height: bigint;
  /** What each peer was told of, or sent. */
  readonly to: Map<PeerId, Set<Thing>>;
  /** When each spoke of what it has, or wants, last. */
  readonly askedNs: Map<PeerId, number>;
}

const isQuestion = ({ type }: ConsensusMessage): boolean =>
  type === 'vote-set-bits' || type === 'new-valid-block' || type === 'vote-set-maj23';

export class Announced {
  private readonly ghost: GhostChain;
  private readonly about: WorldAbout;
  private readonly authors: Authors;
  private readonly said = new PerMachine<Said>(() => ({ height: 0n, to: new Map(), askedNs: new Map() }));

  constructor(ghost: GhostChain, about: WorldAbout, authors: Authors) {
    this.ghost = ghost;
    this.about = about;
    this.authors = authors;
  }

  starts(at: Machine): void {
    this.said.delete(at);
  }

  hears(at: Machine, peer: PeerId, message: ConsensusMessage): void {
    if (isQuestion(message)) this.said.of(at).askedNs.set(peer, this.about.now());
  }

  tells(at: Machine, peers: readonly PeerId[], message: ConsensusMessage): void {
    if (message.type !== 'has-vote') return;
    const thing = voteIn(message.round, message.voteType, message.index);
    for (const peer of peers) this.toldTo(at, peer, message.height).add(thing);
  }

  private toldTo(at: Machine, peer: PeerId, height: bigint): Set<Thing> {
    const said = this.said.of(at);
    if (said.height !== height) {
      said.height = height;
      said.to.clear();
    }
    let told = said.to.get(peer);
    if (!told) {
      told = new Set();
      said.to.set(peer, told);
    }
    return told;
  }

  /** It sends a vote of its height. True: others gave it that in this round, and a tick has come since, on which it said nothing of it. */
  isSilent(at: Machine, id: PeerId, peer: Peer, holder: Holder, vote: Vote): boolean {
    const set = this.ghost.set(vote.height);
    // On a mesh most words are relays: those who are far from some are let go first.
    if (vote.round !== at.round || !set || holder.peers.size < set.members.length - 1) return false;
    if (isOwn(at, vote) || !this.about.isHonest(at)) return false;
    if (!this.authors.isHonest(hexOf(vote.validatorAddress))) return false;
    const thing = thingOf(vote);
    const told = this.toldTo(at, id, holder.height);
    if (told.has(thing)) return false;
    told.add(thing);
    const nowNs = this.about.now();
    if (at.step === STEP.commit || peer.height !== holder.height || peer.metNs === null) return false;
    if (nowNs - (this.said.of(at).askedNs.get(id) ?? -ASKED_LATELY_NS) < ASKED_LATELY_NS) return false;
    const heldNs = holder.things.get(thing);
    const others = set.members.filter(({ address }) => address !== hexFor(at)).length;
    const metNs = lastMetNs(holder, others);
    if (heldNs === undefined || holder.tellsNs === null || metNs === null) return false;
    const sinceNs = Math.max(heldNs, holder.tellsNs, holder.roundNs, peer.sinceNs, metNs, at.heldUntilNs);
    const tickNs = (PERIODS_TO_TICK * Number(at.config.consensus.gossipNs)) / at.clock.slowest;
    return nowNs - sinceNs > tickNs + saidLateNs(at);
  }
}

/** When the last of its peers was greeted; null: they are fewer than there are others, and who is far from some asks instead. */
function lastMetNs({ peers }: Holder, others: number): number | null {
  let count = 0;
  let lastNs = 0;
  for (const { metNs } of peers.values()) {
    if (metNs === null) continue;
    count++;
    if (metNs > lastNs) lastNs = metNs;
  }
  return count < others ? null : lastNs;
}
