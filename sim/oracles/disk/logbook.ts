// What a node heard is durable in the log of consensus before a vote or a proposal is asked for that it justifies. What it signs is durable in
// the signer's log before anybody has the signature, each behind one of an earlier place, and in the log of consensus before a peer has it
// (spec 5.7, 5.8); and it stays there until its height ends: a log that ends an earlier height behind it would be trimmed to that, and who
// starts from it again has forgotten its lock.

import type { Effect, Payload } from '../../../actors/turn.ts';
import { byteKey, equalBytes } from '../../../protocol/bytes.ts';
import type { ConsensusMessage } from '../../../protocol/messages.ts';
import type { Vote } from '../../../protocol/types.ts';
import { decodeWords, Reader } from '../../../protocol/words.ts';
import { hexFor } from '../../addresses.ts';
import type { Machine } from '../../machine.ts';
import type { Oracle, OracleMaker, Report } from '../../oracle.ts';
import { CHANNEL_DATA, CHANNEL_VOTE } from '../canonical/numbers.ts';
import { isOwn } from '../ghost/about-votes.ts';
import type { GhostChain } from '../ghost/ghost.ts';
import { consensusMessage, decoded } from '../ghost/messages.ts';
import { PerMachine } from '../ghost/per-machine.ts';
import { Heard } from '../ghost/tally.ts';
import { endIn, OWN, ownRecord, unexplained } from './log-reasons.ts';
import { holds, Signed, type Word } from './signed.ts';

/** Of a record of its own, behind its tag, its channel and the length: its bytes. */
const BYTES_AT = 6;

/** Where a record of the signer's stands first: what it is about. */
interface Place {
  readonly height: bigint;
  readonly round: number;
  readonly step: number;
}
const PLACE_BYTES = 8 + 4 + 1;

function placeIn(kept: Uint8Array | undefined): Place | null {
  if (!kept || kept.length < PLACE_BYTES) return null;
  const reader = new Reader(kept);
  return { height: reader.i64(), round: reader.i32(), step: reader.u8() };
}
const isLater = (a: Place, b: Place): boolean =>
  a.height !== b.height ? a.height > b.height : a.round !== b.round ? a.round > b.round : a.step > b.step;
const textOf = ({ height, round, step }: Place): string => `${height}/${round}, step ${step}`;

/** The signer lets its oldest records go when it has 1,024 more than it keeps, and another height begins. */
const SIGNED_MAX = 1_088;

/** A vote or proposal. */
function wordOf(message: ConsensusMessage | null): Word | null {
  if (message?.type === 'vote') return message.vote;
  return message?.type === 'proposal' ? message.proposal : null;
}

export const logbookOracle =
  (ghost: GhostChain): OracleMaker =>
  (report, about): Oracle => {
    const watch = new Watch(ghost, report);
    return {
      name: 'logbook',
      effects: ['append', 'tell', 'send', 'trim'],
      events: ['step'],
      started: (at) => watch.starts(at, about.isHonest(at)),
      published(at, _actor, event) {
        if (event.type === 'step') watch.stands(at, event.height);
      },
      leaving(at, actor, effect) {
        if (!about.isHonest(at)) return;
        if (effect.type === 'tell' && actor === 'signer') watch.gives(at, effect);
        else if (effect.type === 'tell' && actor === 'validator') watch.asks(at, effect);
        else if (effect.type === 'send' && actor === 'validator') watch.says(at, effect.payloads);
        else if (effect.type === 'append' && effect.log === 'privval') watch.signs(at, effect.record);
        else if (effect.type === 'trim' && effect.log === 'privval') watch.letsGo(at, effect.keep);
        else if (effect.type === 'append') watch.logs(at, effect.record);
      },
    };
  };

type Told = Extract<Effect, { type: 'tell' }>;

class Watch {
  private readonly ghost: GhostChain;
  private readonly report: Report;
  private readonly signed = new PerMachine(() => new Signed());
  /** Signatures that the signer remembered and the log may not: a disk that lies loses what they rested on. */
  private readonly remembered = new PerMachine(() => new Set<string>());
  /** The height that it signed for last, and how often, over all its lives. */
  private readonly latest = new PerMachine(() => ({ height: -1n, count: 0 }));
  /** The furthest height that each node was at, over all its lives. */
  private readonly furthest = new PerMachine(() => ({ height: 0n }));

  constructor(ghost: GhostChain, report: Report) {
    this.ghost = ghost;
    this.report = report;
  }

  /** A life begins with what its log explains. */
  starts(at: Machine, isHonest: boolean): void {
    this.signed.delete(at);
    if (!isHonest) return;
    const heard = new Heard((height) => this.ghost.set(height), hexFor(at));
    const log = at.disk.records('consensus');
    const isForgotten = (vote: Vote): boolean => this.remembered.of(at).has(byteKey(vote.signature));
    const found = unexplained(log, (height) => heard.at(height), isForgotten);
    if (!found) return;
    const { what, height, missing } = found;
    this.report(`${at.name}'s log has ${what}, and not ${missing}`, at, height);
  }

  stands(at: Machine, height: bigint): void {
    const known = this.furthest.of(at);
    if (height > known.height) known.height = height;
  }

  // --- the signer ------------------------------------------------------------------------------------------

  asks(at: Machine, { message }: Told): void {
    const isVote = message.type === 'sign-vote';
    if (!isVote && message.type !== 'sign-proposal') return;
    const { written, answered } = at.disk.counts('consensus');
    if (answered >= written) return;
    const { height, round } = isVote ? message.vote : message.proposal;
    const what = `has a ${isVote ? 'vote' : 'proposal'} signed at ${height}/${round}`;
    this.report(`${at.name} ${what} before its log has for good what it heard`, at, height);
  }

  /** What it is about to sign stands in its log: a key goes forward, whatever it has forgotten. */
  signs(at: Machine, kept: Uint8Array): void {
    const signed = at.disk.records('privval');
    const [now, before] = [placeIn(kept), placeIn(signed.at(-1))];
    if (now && before && !isLater(now, before)) {
      const what = `signs at ${textOf(now)} after it signed at ${textOf(before)}`;
      this.report(`${at.name} ${what}`, at, now.height);
    }
    this.signed.of(at).kept = at.disk.counts('privval').written + 1;
    const latest = this.latest.of(at);
    const earlier = signed.length - latest.count; // it may have let go of these when the height of the last one began
    if (now && now.height !== latest.height) this.latest.set(at, { height: now.height, count: 1 });
    else latest.count++;
    if (earlier < SIGNED_MAX) return;
    const what = `keeps the last ${signed.length} signatures, and lets none go`;
    this.report(`${at.name}'s signer ${what}`, at, at.height + 1n);
  }

  /** Who has lost its own log knows from these what it is locked on. */
  letsGo(at: Machine, keep: number): void {
    const { height, count } = this.latest.of(at);
    if (keep < count) this.report(`${at.name} lets go of what it signed at ${height}`, at, height);
  }

  gives(at: Machine, { message }: Told): void {
    const isAgain = message.type === 'signed-before';
    const isVote = message.type === 'signed-vote' || isAgain;
    if (!isVote && message.type !== 'signed-proposal') return;
    const word = isVote ? message.vote : message.proposal;
    // Of this place there is no other signature, nor will there be: whatever it gives is what it remembers as the last.
    const last = at.disk.records('privval').at(-1);
    if (!last || !holds(last, word.signature)) {
      const what = "gives a signature away that its signer's log does not end with";
      this.report(`${at.name} ${what}`, at, word.height);
    }
    const mine = this.signed.of(at);
    const { kept } = mine;
    if (isAgain) this.remembered.of(at).add(byteKey(word.signature));
    if (kept === 0 || isAgain) return; // it has signed that before
    mine.kept = 0;
    mine.gives(word, at.disk.counts('consensus').answered);
    if (at.disk.counts('privval').answered >= kept) return;
    const what = "gives a signature away before its signer's log has it for good";
    this.report(`${at.name} ${what}`, at, word.height);
  }

  // --- the log of consensus --------------------------------------------------------------------------------

  logs(at: Machine, logged: Uint8Array): void {
    const mine = this.signed.get(at);
    if (mine && !mine.saysAll && logged[0] === OWN)
      mine.logs(logged, at.disk.counts('consensus').written + 1);
    const ended = endIn(logged);
    if (ended !== null) this.ends(at, ended);
  }

  private ends(at: Machine, height: bigint): void {
    // As it should be; else another life may have been further, and its disk may have lost that.
    if (height >= this.furthest.of(at).height) return;
    for (const logged of at.disk.records('consensus')) {
      const said = saidAt(logged);
      if (said <= height) continue;
      this.report(`${at.name} logs the end of height ${height} behind what it said at ${said}`, at, height);
      return;
    }
  }

  says(at: Machine, payloads: readonly Payload[]): void {
    const mine = this.signed.get(at);
    if (!mine || mine.saysAll) return;
    for (const payload of payloads) {
      if (payload.channel !== CHANNEL_VOTE && payload.channel !== CHANNEL_DATA) continue;
      const message = consensusMessage(payload);
      const word = wordOf(message);
      if (!word || (message?.type === 'vote' && !isOwn(at, message.vote))) continue;
      const unsaid = mine.find(word);
      if (!unsaid) continue;
      mine.says(unsaid);
      const { logged, record } = unsaid;
      const isLogged = record > 0 && equalBytes(logged.subarray(BYTES_AT), payload.bytes);
      if (isLogged && at.disk.counts('consensus').answered >= record) continue;
      const what = `says what it signed at ${word.height}/${word.round} before its log has it for good`;
      this.report(`${at.name} ${what}`, at, word.height);
    }
  }
}

/** The height of a vote or proposal of its own; 0: it is none. */
function saidAt(logged: Uint8Array): bigint {
  return wordOf(ownMessage(logged))?.height ?? 0n;
}

function ownMessage(logged: Uint8Array): ConsensusMessage | null {
  const own = logged[0] === OWN ? decodeWords(ownRecord, logged) : null;
  return own && decoded(own.bytes);
}
