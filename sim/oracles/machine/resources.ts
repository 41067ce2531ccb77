// Resource bounds: what a node logs for one height is bounded by the number of validators and the rounds it took, whatever liars send it, and of
// what it hears it logs nothing twice (heard-words.ts). How often it says the same is the business of offers. And what it says at once is bounded,
// too: a frame holds up what comes behind it. And who has found enough wrong in an envelope looks at no more of it: each look may be a signature.

import type { ActorName, Payload, PeerId } from '../../../actors/turn.ts';
import { type Machine, nameOfPeer } from '../../machine.ts';
import type { Oracle, OracleMaker } from '../../oracle.ts';
import { FALSE_WORDS_MAX } from '../ghost/given-up.ts';
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

/** What a peer said in this moment, and how often each actor has found it wrong. */
interface Moment {
  ns: number;
  envelopes: number;
  wrong: Map<ActorName, number> | null;
}

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
  readonly moments: Map<PeerId, Moment>;
}

export const resourceBounds: OracleMaker = (report, about): Oracle => {
  const uses = new Map<Machine, Use>();
  const of = (at: Machine): Use => {
    let use = uses.get(at);
    if (!use) {
      use = {
        height: at.height,
        records: 0,
        rounds: 1,
        trimmed: at.height,
        heard: new HeardWords(),
        moments: new Map(),
      };
      uses.set(at, use);
    }
    if (use.height !== at.height) {
      use.height = at.height;
      use.records = 0;
      use.rounds = 1;
    }
    return use;
  };
  const hearsFrom = ({ moments }: Use, from: PeerId): void => {
    const ns = about.now();
    const moment = moments.get(from);
    if (!moment) return void moments.set(from, { ns, envelopes: 1, wrong: null });
    moment.envelopes = moment.ns === ns ? moment.envelopes + 1 : 1;
    if (moment.ns !== ns) moment.wrong = null;
    moment.ns = ns;
  };
  /** What was kept back for a while was said in another moment. */
  const findsWrong = (at: Machine, actor: ActorName, peer: PeerId): void => {
    const moment = of(at).moments.get(peer);
    if (moment?.ns !== about.now()) return;
    moment.wrong ??= new Map();
    const times = (moment.wrong.get(actor) ?? 0) + 1;
    moment.wrong.set(actor, times);
    if (times !== FALSE_WORDS_MAX * moment.envelopes + 1) return;
    const whom = nameOfPeer(about.machines, peer) ?? 'a peer';
    const what = `goes on with what ${whom} says at once, and has found it wrong ${times} times`;
    report(`${at.name}: its ${actor} ${what}`, at, at.height + 1n);
  };
  return {
    name: 'resources',
    effects: ['append', 'trim', 'send', 'score'],
    events: ['step'],
    started(at) {
      uses.delete(at);
    },
    heard(at, from, payloads) {
      const use = of(at);
      use.heard.hears(payloads);
      hearsFrom(use, from);
    },
    published(at, _actor, event) {
      if (event.type !== 'step') return;
      const use = of(at);
      use.rounds = Math.max(use.rounds, event.round + 1);
    },
    leaving(at, actor, effect) {
      if (effect.type === 'score' && about.isHonest(at)) findsWrong(at, actor, effect.peer);
      if (effect.type === 'send') {
        const what = about.isHonest(at) ? largeness(effect.payloads) : null;
        if (what) report(`${at.name} sends ${what}`, at, at.height + 1n);
      }
      if (effect.type === 'trim' && effect.log === 'consensus') of(at).trimmed = at.height;
      if (effect.type !== 'append' || effect.log !== 'consensus' || !about.isHonest(at)) return;
      const use = of(at);
      const what = use.heard.logs(effect.record, at.height, at.round);
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
