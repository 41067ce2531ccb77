// Accountability, the part that a running chain shows: only liars are punished, each lie once, by evidence that
// proves it, and a double vote that one honest node could prove does not go unpunished; and who is told of evidence can judge it.

import type { NodeEvent, Payload, PeerId } from '../../../actors/turn.ts';
import { evidenceKey } from '../../../machines/chain/keys.ts';
import { hexOf } from '../../../protocol/bytes.ts';
import { evidenceIdentity } from '../../../protocol/hashes.ts';
import { isRefusal } from '../../../protocol/refusal.ts';
import type { Block, DuplicateVoteEvidence, Evidence } from '../../../protocol/types.ts';
import { decodeEvidenceMessage } from '../../../protocol/wire/index.ts';
import { hexFor, honestPeers } from '../../addresses.ts';
import type { Machine } from '../../machine.ts';
import type { Oracle, OracleMaker, Report, WorldAbout } from '../../oracle.ts';
import { STEP } from '../../steps.ts';
import { CHANNEL_EVIDENCE } from '../canonical/numbers.ts';
import type { GhostChain } from '../ghost/ghost.ts';
import { GivenUp } from '../ghost/given-up.ts';
import { Greeted } from '../ghost/greeted.ts';
import { endsEnvelope, messagesIn } from '../ghost/messages.ts';
import { PassedOn } from './passed-on.ts';
import { accusedBy, heightOfCrime, Proofs } from './proofs.ts';
import { Retold } from './retold.ts';
import { TooEarly } from './too-early.ts';
import { placeOf, Unpunished } from './unpunished.ts';

function* evidenceIn(payloads: readonly Payload[]): Generator<Evidence> {
  for (const { channel, bytes } of payloads) {
    const message = channel === CHANNEL_EVIDENCE ? decodeEvidenceMessage(bytes) : null;
    if (message && !isRefusal(message)) yield* message.evidence;
  }
}

/** The double votes that these messages are evidence of. */
function* doubleVotesIn(payloads: readonly Payload[]): Generator<DuplicateVoteEvidence> {
  for (const each of evidenceIn(payloads)) if (each.kind === 'duplicate-vote') yield each;
}

const placeOfEvidence = ({ voteA }: DuplicateVoteEvidence): string =>
  placeOf(hexOf(voteA.validatorAddress), voteA);

const placesIn = (payloads: readonly Payload[]): Set<string> =>
  new Set([...doubleVotesIn(payloads)].map(placeOfEvidence));

/** Of so many heights a node remembers all that it judges evidence by (docs/decisions/0011), but none before its life. */
const HEIGHTS_REMEMBERED = 100n;

/** What nodes were told of lately, which is far less than that. */
const TOLD_MAX = 1_024;

export const evidenceOracle =
  (ghost: GhostChain): OracleMaker =>
  (report, about): Oracle => {
    const watch = new Watch(ghost, report, about);
    ghost.onBlock.push((at, block) => watch.punishes(at, block));
    return {
      name: 'evidence',
      effects: ['send'],
      events: ['committed', 'step', 'evidence', 'peer'],
      corrupted: (payload) => watch.changes(payload),
      started: (at) => watch.starts(at),
      leaving(at, _actor, effect) {
        if (effect.type === 'send') watch.says(at, effect.to, effect.payloads);
      },
      published: (at, _actor, event) => watch.publishes(at, event),
      heard: (at, from, payloads) => watch.hears(at, from, payloads),
    };
  };

class Watch {
  private readonly report: Report;
  private readonly about: WorldAbout;
  private readonly byId: ReadonlyMap<PeerId, Machine>;
  /** Names of those who do not lie, by address. */
  private readonly honest: ReadonlyMap<string, string>;
  private readonly proofs: Proofs;
  private readonly unpunished: Unpunished;
  private readonly givenUp: GivenUp;
  private readonly passedOn: PassedOn;
  private readonly greeted = new Greeted();
  private readonly retold = new Retold();
  private readonly tooEarly = new TooEarly();
  /** Evidence that was in a block, by its hash, and the double votes that were. */
  private readonly punished = new Set<string>();
  private readonly guilty = new Set<string>();
  /** Of which double vote it is evidence: by its hash, when somebody was told of it. */
  private readonly told = new Map<string, string>();
  /** Where a node stood as its life began. */
  private readonly beganAt = new Map<Machine, bigint>();
  /** What a link has changed is nobody's evidence. */
  private readonly changed = new WeakSet<Payload>();

  constructor(ghost: GhostChain, report: Report, about: WorldAbout) {
    this.report = report;
    this.about = about;
    this.byId = new Map(about.machines.map((machine) => [machine.member.id, machine]));
    this.honest = new Map(
      about.machines.filter(about.isHonest).map((machine) => [hexFor(machine), machine.name]),
    );
    this.proofs = new Proofs(ghost, about);
    this.unpunished = new Unpunished(ghost, about, report);
    this.givenUp = new GivenUp(ghost, about);
    this.passedOn = new PassedOn(honestPeers(about));
  }

  starts(at: Machine): void {
    this.beganAt.set(at, at.height);
    this.greeted.starts(at);
    this.unpunished.starts(at);
    this.retold.starts(at);
    this.passedOn.starts(at);
  }

  changes(payload: Payload): void {
    this.changed.add(payload);
  }

  // --- blocks ----------------------------------------------------------------------------------------------

  punishes(at: Machine, block: Block): void {
    const { guilty, honest, proofs, punished, report } = this;
    const { header, evidence } = block;
    const { height } = header;
    const isOurs = honest.has(hexOf(header.proposerAddress));
    let last = 0n;
    for (const each of evidence) {
      const of = heightOfCrime(each);
      if (isOurs && of < last)
        report(`block ${height} punishes what was done at ${of} after what was done at ${last}`, at, height);
      last = of;
      const id = hexOf(evidenceIdentity(each));
      if (punished.has(id)) report(`evidence of block ${height} was in a block before`, at, height);
      punished.add(id);
      const wrong = proofs.flawIn(each, isOurs);
      if (wrong) report(`block ${height} punishes by evidence that proves nothing: ${wrong}`, at, height);
      if (proofs.isExpired(each, height))
        report(`block ${height} punishes by evidence that is too old`, at, height);
      for (const address of accusedBy(each)) {
        const name = honest.get(address);
        if (name) report(`framing: block ${height} punishes ${name}, who never lied`, at, height);
        if (each.kind === 'duplicate-vote') guilty.add(placeOf(address, each.voteA));
      }
    }
    this.unpunished.passes(block, guilty);
  }

  // --- what it says ----------------------------------------------------------------------------------------

  says(at: Machine, peers: readonly PeerId[], payloads: readonly Payload[]): void {
    if (this.about.isHonest(at)) this.tells(at, peers, payloads);
    if (!this.unpunished.isEmpty) this.unpunished.offers(at, placesIn(payloads));
  }

  private tells(at: Machine, peers: readonly PeerId[], payloads: readonly Payload[]): void {
    const { debts } = this.passedOn;
    const peer = this.retold.tells(at, peers, payloads, this.about.now());
    if (peer !== null) {
      const what = `tells ${this.byId.get(peer)?.name} of one evidence again and again`;
      this.report(`${at.name} ${what}`, at, at.height + 1n);
    }
    for (const each of evidenceIn(payloads)) this.tellsInTime(at, peers, each);
    for (const each of doubleVotesIn(payloads)) {
      const identity = evidenceIdentity(each);
      const id = hexOf(identity);
      if (at.disk.read('chain', evidenceKey(each.voteA.height, identity)) === undefined)
        this.report(`${at.name} tells of evidence that it has not stored`, at, at.height + 1n);
      debts.tells(at, peers, id);
      this.givesBack(at, this.passedOn.givesBack(at, peers, id));
    }
  }

  private givesBack(at: Machine, peer: PeerId | null): void {
    if (peer === null) return;
    const whom = this.byId.get(peer)?.name;
    this.report(
      `${at.name} tells ${whom} of evidence that it has just heard of from ${whom}`,
      at,
      at.height + 1n,
    );
  }

  private tellsInTime(at: Machine, peers: readonly PeerId[], evidence: Evidence): void {
    const height = heightOfCrime(evidence);
    const peer = this.tooEarly.tells(at, peers, height);
    if (peer === null) return;
    const what = `tells ${this.byId.get(peer)?.name} of evidence of height ${height}, which has shown nothing beyond that`;
    this.report(`${at.name} ${what}`, at, at.height + 1n);
  }

  private hasTold(at: Machine, height: bigint): void {
    const missed = this.passedOn.debts.missed(at, this.about.now());
    if (!missed) return;
    const what = `keeps evidence that it was told of, and does not tell ${this.byId.get(missed.peer)?.name}`;
    this.report(`${at.name} ${what}`, at, height);
  }

  publishes(at: Machine, event: NodeEvent): void {
    const { about, passedOn, unpunished } = this;
    if (event.type === 'committed') {
      unpunished.decides(at, event.round);
      passedOn.commits(at, about.now());
      if (about.isHonest(at)) this.hasTold(at, event.height);
    } else if (event.type === 'step' && event.step === STEP.newRound) unpunished.begins(at);
    else if (event.type === 'evidence') {
      const hash = hexOf(event.hash);
      unpunished.stores(at, hexOf(event.validator), event.height, this.told.get(hash) ?? null);
      passedOn.keeps(at, hash, event.height, about.now());
    } else if (event.type === 'peer') {
      this.greeted.greets(at, event.peer, event.up, about.now());
      this.retold.greets(at, event.peer, about.now());
      passedOn.greets(at, event.peer);
    }
  }

  // --- what it hears ---------------------------------------------------------------------------------------

  hears(at: Machine, from: PeerId, payloads: readonly Payload[]): void {
    const { about, honest, passedOn, unpunished } = this;
    if (honest.size === about.machines.length || !about.isHonest(at)) return;
    const messages = messagesIn(payloads);
    this.tooEarly.hears(at, from, messages);
    for (const each of doubleVotesIn(payloads))
      this.passedOn.mayBeToldBy(from, at, hexOf(evidenceIdentity(each)), about.now());
    if (!this.greeted.hears(at, from, about.now())) return;
    for (const each of doubleVotesIn(payloads)) this.learns(at, from, each);
    const sender = this.byId.get(from);
    if (this.givenUp.mayBe(from, payloads)) return;
    const isTaken = !unpunished.isEmpty && at.mode === 'consensus' && at.node?.isPaused === false;
    if (sender && isTaken) unpunished.isHeardFrom(sender, this.takenFrom(at, payloads));
    for (let i = 0; i < messages.length; i++) {
      const message = messages[i];
      if (message?.type === 'new-round-step') passedOn.stands(at, from, message.height, about.now());
      else if (message?.type === 'vote') {
        const address = hexOf(message.vote.validatorAddress);
        if (!honest.has(address)) unpunished.hears(at, address, message.vote);
      } else if (!message && endsEnvelope(payloads[i]?.channel ?? 0)) return;
    }
  }

  /** What it must look up it takes one at a time, and lets the others fall: they are told again. */
  private takenFrom(at: Machine, payloads: readonly Payload[]): Set<string> {
    const places = new Set<string>();
    const began = this.beganAt.get(at) ?? 0n;
    let looksUp = false;
    for (const each of doubleVotesIn(payloads.filter((payload) => !this.changed.has(payload)))) {
      const { height } = each.voteA;
      const isPast = height <= began || height + HEIGHTS_REMEMBERED <= at.height;
      if (!isPast || !looksUp) places.add(placeOfEvidence(each));
      looksUp ||= isPast;
    }
    return places;
  }

  private learns(at: Machine, from: PeerId, evidence: DuplicateVoteEvidence): void {
    const { told } = this;
    const hash = hexOf(evidenceIdentity(evidence));
    this.passedOn.isToldBy(from, at, hash);
    told.set(hash, placeOfEvidence(evidence));
    if (told.size > TOLD_MAX)
      for (const oldest of [...told.keys()].slice(0, TOLD_MAX / 2)) told.delete(oldest);
  }
}
