// What a node signed in its life for the first time and has not said yet, and which record of its log of consensus holds it.

import { equalBytes } from '../../../protocol/bytes.ts';
import { EMPTY_BYTES, type Proposal, type Vote } from '../../../protocol/types.ts';
import { CHANNEL_DATA, CHANNEL_VOTE, PRECOMMIT, PREVOTE } from '../canonical/numbers.ts';

/** Of a record of its own, behind its tag. */
const CHANNEL_AT = 1;

export type Word = Vote | Proposal;

/** What nobody was told yet. */
export interface Unsaid {
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
export class Signed {
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

/** Whether these bytes contain that part. */
export function holds(bytes: Uint8Array, part: Uint8Array): boolean {
  const [first] = part;
  for (let at = bytes.length - part.length; at >= 0; at--)
    if (bytes[at] === first && equalBytes(bytes.subarray(at, at + part.length), part)) return true;
  return false;
}
