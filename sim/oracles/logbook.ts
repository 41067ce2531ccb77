// What a node heard is durable in the log of consensus before a vote or a proposal is asked for that it justifies. What it signs is durable in the signer's log
// before anybody has the signature, each behind one of an earlier place, and in the log of consensus before a peer has it (spec 5.7, 5.8); and
// it stays there until its height ends: a log that ends an earlier height behind it would be trimmed to that, and who starts from it again has
// forgotten its lock.

import type { Effect, Payload } from '../../actors/turn.ts';
import { byteKey, equalBytes } from '../../protocol/bytes.ts';
import { CHANNEL_DATA, CHANNEL_VOTE, type ConsensusMessage } from '../../protocol/messages.ts';
import { EMPTY_BYTES, PRECOMMIT, PREVOTE, type Proposal, type Vote } from '../../protocol/types.ts';
import { decodeWith, Reader } from '../../protocol/words.ts';
import { hexFor } from '../addresses.ts';
import type { Machine } from '../machine.ts';
import type { Oracle, OracleMaker } from '../oracle.ts';
import type { GhostChain } from './ghost.ts';
import { endIn, OWN, ownRecord, unexplained } from './log-reasons.ts';
import { consensusMessage, decoded } from './messages.ts';
import { PerMachine } from './per-machine.ts';
import { Heard } from './tally.ts';
import { isOwn } from './votes.ts';

/** Of a record of its own, behind its tag: the channel, then the length of its bytes, and them. */
const CHANNEL_AT = 1;
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

/** The signer lets its oldest records go when it has 1,024 more than it keeps. */
const SIGNED_MAX = 1_088;

type Word = Vote | Proposal;

/** What nobody was told yet. */
interface Unsaid {
  readonly word: Word;
  /** The record of consensus that holds it, and which of all; 0: none does. */
  logged: Uint8Array;
  record: number;
}

const channelOf = ({ type }: Word): number =>
  type === PREVOTE || type === PRECOMMIT ? CHANNEL_VOTE : CHANNEL_DATA;

const isOfOnePlace = (a: Word, b: Word): boolean =>
  a.type === b.type && a.round === b.round && a.height === b.height;

/** What a node has signed in this life, for the first time: not what it signs again. */
class Signed {
  /** The record in which the signer keeps what it is about to give away; 0: none since the last. */
  kept = 0;
  /** Of the height under way, one for each place; and of those before it what was neither said nor logged for good. */
  private now: Unsaid[] = [];
  private readonly before: Unsaid[] = [];

  get saysAll(): boolean {
    return this.now.length + this.before.length === 0;
  }

  /** @param answered so many records of consensus are durable, as far as the node was told. */
  gives(word: Word, answered: number): void {
    if (this.now[0] && this.now[0].word.height !== word.height) {
      for (const each of this.now) if (each.record === 0 || each.record > answered) this.before.push(each);
      this.now = [];
    }
    this.now = this.now.filter((each) => !isOfOnePlace(each.word, word));
    this.now.push({ word, logged: EMPTY_BYTES, record: 0 });
  }

  find(word: Word): Unsaid | undefined {
    const isIt = (each: Unsaid): boolean => isOfOnePlace(each.word, word);
    return this.now.find(isIt) ?? this.before.find(isIt);
  }

  /** A record of its own on a channel that holds the signature of a word: what is said is to be the same, byte for byte. */
  logs(logged: Uint8Array, record: number): void {
    // The signer may be at the next height already: what is logged waits for the disk.
    for (const each of [...this.before, ...this.now]) {
      if (each.record > 0 || logged[CHANNEL_AT] !== channelOf(each.word)) continue;
      if (!holds(logged, each.word.signature)) continue;
      each.logged = logged;
      each.record = record;
    }
  }

  says(unsaid: Unsaid): void {
    const from = this.now.includes(unsaid) ? this.now : this.before;
    from.splice(from.indexOf(unsaid), 1);
  }
}

function holds(bytes: Uint8Array, part: Uint8Array): boolean {
  const [first] = part;
  for (let at = bytes.length - part.length; at >= 0; at--)
    if (bytes[at] === first && equalBytes(bytes.subarray(at, at + part.length), part)) return true;
  return false;
}

/** A vote or proposal. */
function wordOf(message: ConsensusMessage | null): Word | null {
  if (message?.type === 'vote') return message.vote;
  return message?.type === 'proposal' ? message.proposal : null;
}

export const logbookOracle =
  (ghost: GhostChain): OracleMaker =>
  (report, about): Oracle => {
    const signed = new PerMachine(() => new Signed());
    /** Signatures that the signer remembered and the log may not: a disk that lies loses what they rested on. */
    const remembered = new PerMachine(() => new Set<string>());

    const gives = (at: Machine, { message }: Extract<Effect, { type: 'tell' }>): void => {
      const isAgain = message.type === 'signed-before';
      const isVote = message.type === 'signed-vote' || isAgain;
      if (!isVote && message.type !== 'signed-proposal') return;
      const word = isVote ? message.vote : message.proposal;
      // Of this place there is no other signature, nor will there be: whatever it gives is what it remembers as the last.
      const last = at.disk.records('privval').at(-1);
      if (!last || !holds(last, word.signature))
        report(`${at.name} gives a signature away that its signer's log does not end with`, at, word.height);
      const mine = signed.of(at);
      const { kept } = mine;
      if (isAgain) remembered.of(at).add(byteKey(word.signature));
      if (kept === 0 || isAgain) return; // it has signed that before
      mine.kept = 0;
      mine.gives(word, at.disk.counts('consensus').answered);
      if (at.disk.counts('privval').answered < kept)
        report(`${at.name} gives a signature away before its signer's log has it for good`, at, word.height);
    };

    /** A key goes forward, whatever it has forgotten. */
    const signs = (at: Machine, kept: Uint8Array): void => {
      const [now, before] = [placeIn(kept), placeIn(at.disk.records('privval').at(-1))];
      if (!now || !before || isLater(now, before)) return;
      report(`${at.name} signs at ${textOf(now)} after it signed at ${textOf(before)}`, at, now.height);
    };

    const asks = (at: Machine, { message }: Extract<Effect, { type: 'tell' }>): void => {
      const isVote = message.type === 'sign-vote';
      if (!isVote && message.type !== 'sign-proposal') return;
      const { written, answered } = at.disk.counts('consensus');
      if (answered >= written) return;
      const { height, round } = isVote ? message.vote : message.proposal;
      report(
        `${at.name} has a ${isVote ? 'vote' : 'proposal'} signed at ${height}/${round} before its log has for good what it heard`,
        at,
        height,
      );
    };

    const logs = (at: Machine, logged: Uint8Array): void => {
      const mine = signed.get(at);
      if (!mine || mine.saysAll) return;
      if (logged[0] === OWN) mine.logs(logged, at.disk.counts('consensus').written + 1);
    };

    const says = (at: Machine, payloads: readonly Payload[]): void => {
      const mine = signed.get(at);
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
        report(
          `${at.name} says what it signed at ${word.height}/${word.round} before its log has it for good`,
          at,
          word.height,
        );
      }
    };

    /** The furthest height that each node was at, over all its lives. */
    const furthest = new PerMachine(() => ({ height: 0n }));

    const ends = (at: Machine, height: bigint): void => {
      // As it should be; else another life may have been further, and its disk may have lost that.
      if (height >= furthest.of(at).height) return;
      for (const logged of at.disk.records('consensus')) {
        const said = saidAt(logged);
        if (said <= height) continue;
        report(`${at.name} logs the end of height ${height} behind what it said at ${said}`, at, height);
        return;
      }
    };

    /** A life begins with what its log explains. */
    const begins = (at: Machine): void => {
      signed.delete(at);
      if (!about.isHonest(at)) return;
      const heard = new Heard((height) => ghost.set(height), hexFor(at));
      const log = at.disk.records('consensus');
      const isForgotten = (vote: Vote): boolean => remembered.of(at).has(byteKey(vote.signature));
      const found = unexplained(log, (height) => heard.at(height), isForgotten);
      if (!found) return;
      const { what, height, missing } = found;
      report(`${at.name}'s log has ${what}, and not ${missing}`, at, height);
    };

    return {
      name: 'logbook',
      effects: ['append', 'tell', 'send'],
      events: ['step'],
      started: begins,
      published(at, _actor, event) {
        if (event.type !== 'step') return;
        const known = furthest.of(at);
        if (event.height > known.height) known.height = event.height;
      },
      leaving(at, actor, effect) {
        if (!about.isHonest(at)) return;
        if (effect.type === 'tell' && actor === 'signer') return gives(at, effect);
        if (effect.type === 'tell' && actor === 'validator') return asks(at, effect);
        if (effect.type === 'send' && actor === 'validator') return says(at, effect.payloads);
        if (effect.type !== 'append') return;
        if (effect.log === 'privval') {
          signs(at, effect.record);
          signed.of(at).kept = at.disk.counts('privval').written + 1;
          const records = at.disk.records('privval').length;
          if (records === SIGNED_MAX)
            report(
              `${at.name}'s signer keeps the last ${records} signatures, and lets none go`,
              at,
              at.height + 1n,
            );
          return;
        }
        logs(at, effect.record);
        const ended = endIn(effect.record);
        if (ended !== null) ends(at, ended);
      },
    };
  };

/** The height of a vote or proposal of its own; 0: it is none. */
function saidAt(logged: Uint8Array): bigint {
  return wordOf(ownMessage(logged))?.height ?? 0n;
}

function ownMessage(logged: Uint8Array): ConsensusMessage | null {
  const own = logged[0] === OWN ? decodeWith(ownRecord, logged) : null;
  return own && decoded(own.bytes);
}
