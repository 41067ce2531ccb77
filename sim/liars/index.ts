// The liars, by the names that plays use.

import { unreachable } from '../../protocol/refusal.ts';
import type { Liar } from './liar.ts';
import { proposalEquivocator } from './proposal-equivocator.ts';
import { doubleVoter, voteEquivocator } from './vote-equivocator.ts';

export const LIARS: Readonly<Record<string, Liar>> = {
  'vote-equivocator': voteEquivocator,
  'double-voter': doubleVoter,
  'proposal-equivocator': proposalEquivocator,
};

export const liarNamed = (name: string): Liar =>
  (Object.hasOwn(LIARS, name) ? LIARS[name] : undefined) ??
  unreachable(`no liar ${name}; there are ${Object.keys(LIARS).join(', ')}`);
