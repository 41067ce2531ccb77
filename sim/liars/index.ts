// The liars, by the names that plays use.

import { unreachable } from '../../protocol/refusal.ts';
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
import { bothPartsVoter, otherPartsVoter } from './other-parts-voter.ts';
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
  'other-parts-voter': otherPartsVoter,
  'both-parts-voter': bothPartsVoter,
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

/** Where a liar's words can say that it lies: `from...` and `to...`. */
const HEIGHTS = ['fromHeight', 'toHeight'] as const;
const HEIGHTS_AND_ROUNDS = [...HEIGHTS, 'fromRound', 'toRound'] as const;

/** Those that lie neither about votes nor beside them. In block sync blocks are decided and have no rounds; greetings are of no height. */
const PLACES_OF_OTHERS: Partial<Record<LiarName, readonly PlaceWord[]>> = {
  'proposal-equivocator': HEIGHTS_AND_ROUNDS,
  'invalid-proposer': HEIGHTS_AND_ROUNDS,
  'absence-filler': HEIGHTS_AND_ROUNDS,
  'pol-forger': HEIGHTS_AND_ROUNDS,
  'part-mislabeler': HEIGHTS_AND_ROUNDS,
  'byte-stretcher': HEIGHTS_AND_ROUNDS,
  'sync-liar': HEIGHTS,
  'status-liar': HEIGHTS,
  'block-forger': HEIGHTS,
  'commit-forger': HEIGHTS,
  'block-pusher': HEIGHTS,
  'false-greeter': [],
};
export const PLACE_WORDS = [...HEIGHTS_AND_ROUNDS, 'votes'] as const;
export type PlaceWord = (typeof PLACE_WORDS)[number];

/** Which words narrow its lies; of a liar of one's own nobody knows, so all of them. */
export const placesOf = (liar: string | Liar): readonly PlaceWord[] =>
  (typeof liar === 'string' && isLiarName(liar) && PLACES_OF_OTHERS[liar]) || PLACE_WORDS;

/** One without rounds that waits for a later one never lies. */
export const knowsRounds = (liar: string | Liar): boolean => placesOf(liar).includes('fromRound');

export const isLiarName = (name: string): name is LiarName => Object.hasOwn(LIARS, name);

export const liarNamed = (name: string): Liar =>
  isLiarName(name) ? LIARS[name] : unreachable(`no liar ${name}; there are ${LIAR_NAMES.join(', ')}`);
