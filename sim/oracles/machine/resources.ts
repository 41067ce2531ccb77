// Resource bounds: what a node logs for one height is bounded by the number of validators and the rounds it took, whatever liars send it, and of
// what it hears it logs nothing twice (heard-words.ts). How often it says the same is the business of offers. And what it says at once is bounded,
// too: a frame holds up what comes behind it.

import type { Payload } from '../../../actors/turn.ts';
import type { Machine } from '../../machine.ts';
import type { Oracle, OracleMaker } from '../../oracle.ts';
import { HeardWords, SMALL_BYTES } from './heard-words.ts';

/** Records of a height that do not depend on its rounds: its end, timeouts, a restart's own. */
const RECORDS_BASE = 64;
/** Of each round: two votes of everyone, as many again by those who equivocate, proposals, timeouts. */
const RECORDS_PER_VALIDATOR = 4;
const RECORDS_PER_ROUND = 16;
/** Votes for rounds ahead of its own that a peer may make a node take, in one height. */
const AHEAD_PER_VALIDATOR = 160;

/** A log is trimmed with every block: so many heights it never holds. */
const HEIGHTS_LOGGED_MAX = 16n;

/** Payloads in an envelope: who gets more ends the connection. */
const PAYLOADS_MAX = 4_096;
/** Bytes in one that has more than one payload. */
const ENVELOPE_BYTES_MAX = 1_048_576;

function largeness(payloads: readonly Payload[]): string | null {
  if (payloads.length < 2) return null;
  if (payloads.length > PAYLOADS_MAX) return `${payloads.length} payloads at once`;
  let size = 0;
  for (let i = 0; i < payloads.length; i++) size += (payloads[i] as Payload).bytes.length;
  return size > ENVELOPE_BYTES_MAX ? `${size} bytes in ${payloads.length} payloads at once` : null;
}

interface Use {
  height: bigint;
  records: number;
  rounds: number;
  /** The height of the last trim. */
  trimmed: bigint;
  readonly heard: HeardWords;
}

export const resourceBounds: OracleMaker = (report, about): Oracle => {
  const uses = new Map<Machine, Use>();
  const of = (at: Machine): Use => {
    let use = uses.get(at);
    if (!use) {
      use = { height: at.height, records: 0, rounds: 1, trimmed: at.height, heard: new HeardWords() };
      uses.set(at, use);
    }
    if (use.height !== at.height) {
      use.height = at.height;
      use.records = 0;
      use.rounds = 1;
    }
    return use;
  };
  return {
    name: 'resources',
    effects: ['append', 'trim', 'send'],
    events: ['step'],
    started(at) {
      uses.delete(at);
    },
    heard(at, _from, payloads) {
      of(at).heard.hears(payloads);
    },
    published(at, _actor, event) {
      if (event.type !== 'step') return;
      const use = of(at);
      use.rounds = Math.max(use.rounds, event.round + 1);
    },
    leaving(at, _actor, effect) {
      if (effect.type === 'send') {
        const what = about.isHonest(at) ? largeness(effect.payloads) : null;
        if (what) report(`${at.name} sends ${what}`, at, at.height + 1n);
      }
      if (effect.type === 'trim' && effect.log === 'consensus') of(at).trimmed = at.height;
      if (effect.type !== 'append' || effect.log !== 'consensus' || !about.isHonest(at)) return;
      const use = of(at);
      const what = use.heard.logs(effect.record, at.height);
      if (what) report(`${at.name} logs ${what}`, at, at.height + 1n);
      if (effect.record.length > SMALL_BYTES) return; // parts of blocks: bounded by the size of a block
      if (at.height - use.trimmed > HEIGHTS_LOGGED_MAX) {
        report(`${at.name} has not trimmed its log since height ${use.trimmed}`, at, at.height + 1n);
        use.trimmed = at.height;
      }
      use.records++;
      const people = about.machines.length;
      const ofRounds = use.rounds * (RECORDS_PER_VALIDATOR * people + RECORDS_PER_ROUND);
      const most = RECORDS_BASE + ofRounds + AHEAD_PER_VALIDATOR * people;
      if (use.records !== most + 1) return;
      report(`${at.name} logs more than ${most} records for height ${at.height + 1n}`, at, at.height + 1n);
    },
  };
};
