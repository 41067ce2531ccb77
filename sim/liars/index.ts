// The liars, by the names that plays use.

import { unreachable } from '../../protocol/refusal.ts';
import { amnesiac } from './amnesiac.ts';
import { blockForger } from './block-forger.ts';
import { commitForger } from './commit-forger.ts';
import { falseAccuser } from './false-accuser.ts';
import { falseGreeter } from './false-greeter.ts';
import { futureSpammer } from './future-spammer.ts';
import { invalidProposer } from './invalid-proposer.ts';
import type { Liar } from './liar.ts';
import { nilVoter } from './nil-voter.ts';
import { partMislabeler } from './part-mislabeler.ts';
import { polForger } from './pol-forger.ts';
import { proposalEquivocator } from './proposal-equivocator.ts';
import { proposalForger } from './proposal-forger.ts';
import { syncLiar } from './sync-liar.ts';
import { timeLiar } from './time-liar.ts';
import { doubleVoter, voteEquivocator } from './vote-equivocator.ts';
import { voteExtender } from './vote-extender.ts';
import { voteForger } from './vote-forger.ts';
import { withholder } from './withholder.ts';

export const LIARS: Readonly<Record<string, Liar>> = {
  'vote-equivocator': voteEquivocator,
  'double-voter': doubleVoter,
  'proposal-equivocator': proposalEquivocator,
  'invalid-proposer': invalidProposer,
  amnesiac,
  withholder,
  'nil-voter': nilVoter,
  'time-liar': timeLiar,
  'vote-extender': voteExtender,
  'future-spammer': futureSpammer,
  'sync-liar': syncLiar,
  'pol-forger': polForger,
  'part-mislabeler': partMislabeler,
  'vote-forger': voteForger,
  'proposal-forger': proposalForger,
  'block-forger': blockForger,
  'commit-forger': commitForger,
  'false-accuser': falseAccuser,
  'false-greeter': falseGreeter,
};

export const liarNamed = (name: string): Liar =>
  (Object.hasOwn(LIARS, name) ? LIARS[name] : undefined) ??
  unreachable(`no liar ${name}; there are ${Object.keys(LIARS).join(', ')}`);
