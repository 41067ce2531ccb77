// The liars, by the names that plays use.

import { unreachable } from '../../protocol/refusal.ts';
import type { LiarWords } from '../scenario/play.ts';
import { absenceFiller } from './absence-filler.ts';
import { amnesiac } from './amnesiac.ts';
import { attackInventor } from './attack-inventor.ts';
import { babbler } from './babbler.ts';
import { blockForger } from './block-forger.ts';
import { blockPusher } from './block-pusher.ts';
import { byteStretcher } from './byte-stretcher.ts';
import { commitForger } from './commit-forger.ts';
import { falseAccuser } from './false-accuser.ts';
import { falseGreeter } from './false-greeter.ts';
import { flooder } from './flooder.ts';
import { futureSpammer } from './future-spammer.ts';
import { invalidProposer } from './invalid-proposer.ts';
import type { Liar } from './liar.ts';
import { nilVoter } from './nil-voter.ts';
import { partMislabeler } from './part-mislabeler.ts';
import { polForger } from './pol-forger.ts';
import { proposalEquivocator } from './proposal-equivocator.ts';
import { proposalForger } from './proposal-forger.ts';
import { statusLiar, syncLiar } from './sync-liar.ts';
import { timeLiar } from './time-liar.ts';
import { doubleVoter, voteEquivocator } from './vote-equivocator.ts';
import { voteExtender } from './vote-extender.ts';
import { voteForger } from './vote-forger.ts';
import { withholder } from './withholder.ts';

export const LIARS = {
  'vote-equivocator': voteEquivocator,
  'double-voter': doubleVoter,
  'proposal-equivocator': proposalEquivocator,
  'invalid-proposer': invalidProposer,
  amnesiac,
  withholder,
  'nil-voter': nilVoter,
  'absence-filler': absenceFiller,
  'time-liar': timeLiar,
  'vote-extender': voteExtender,
  'future-spammer': futureSpammer,
  'sync-liar': syncLiar,
  'status-liar': statusLiar,
  'pol-forger': polForger,
  'part-mislabeler': partMislabeler,
  'vote-forger': voteForger,
  'proposal-forger': proposalForger,
  'block-forger': blockForger,
  'byte-stretcher': byteStretcher,
  'commit-forger': commitForger,
  'false-accuser': falseAccuser,
  'attack-inventor': attackInventor,
  'false-greeter': falseGreeter,
  flooder,
  babbler,
  'block-pusher': blockPusher,
} as const satisfies Readonly<Record<string, Liar>>;
export type LiarName = keyof typeof LIARS;
export const LIAR_NAMES = Object.keys(LIARS) as readonly LiarName[];

/** They lie about blocks that are decided, in block sync, where there are no rounds: one that waits for a later round never lies. */
const WITHOUT_ROUNDS: readonly unknown[] = [
  'sync-liar',
  'status-liar',
  'block-forger',
  'commit-forger',
  'block-pusher',
] satisfies LiarName[];
/** Of a liar of one's own nobody knows. */
export const knowsRounds = (liar: LiarWords['liar']): boolean => !WITHOUT_ROUNDS.includes(liar);

export const isLiarName = (name: string): name is LiarName => Object.hasOwn(LIARS, name);

export const liarNamed = (name: string): Liar =>
  isLiarName(name) ? LIARS[name] : unreachable(`no liar ${name}; there are ${LIAR_NAMES.join(', ')}`);
