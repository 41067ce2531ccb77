// What leaves a liar: its lie in place of what it lies about, and everything else as it was.

import { expect, it } from 'vitest';
import { ed25519Sign } from '#platform';
import { payloadOf } from '../../actors/validator/words.ts';
import { hexOf } from '../../protocol/bytes.ts';
import type { ConsensusMessage } from '../../protocol/messages.ts';
import { unreachable } from '../../protocol/refusal.ts';
import { PREVOTE } from '../../protocol/types.ts';
import type { Liar, LiarKit } from '../../sim/liars/liar.ts';
import { proposalEquivocator } from '../../sim/liars/proposal-equivocator.ts';
import { doubleVoter, voteEquivocator } from '../../sim/liars/vote-equivocator.ts';
import type { Machine } from '../../sim/machine.ts';
import { consensusMessage } from '../../sim/oracles/ghost/messages.ts';
import { RuleBook } from '../../sim/scenario/rules.ts';
import { Home, nextBlock, proposalOf, signedVote } from '../actors/home.ts';
import { CHAIN_ID, genesisOf, person } from '../protocol/rules/people.ts';

const home = new Home({ genesis: genesisOf([10n, 10n, 10n, 10n]), me: 0 });
const proposer = home.state.consensus.validators.validators[0] ?? unreachable('four of them');
const who =
  [0, 1, 2, 3].find((i) => hexOf(person(i).address) === hexOf(proposer.address)) ??
  unreachable('one of four');
const { seed, publicKey } = person(who);
const made = nextBlock(home, ['a', 'b']);

const kit = {
  machine: {
    member: { publicKey },
    key: { sign: (bytes: Uint8Array) => ed25519Sign(seed, bytes) },
  } as unknown as Machine,
  words: {},
  chainId: CHAIN_ID,
  victims: new Set(['victim']),
  lies: () => true,
  proposed: () => [],
  submitted: () => {},
  count: () => {},
} as unknown as LiarKit;

const step: ConsensusMessage = {
  type: 'new-round-step',
  height: 1n,
  round: 0,
  step: 3,
  secondsSinceStart: 0n,
  lastCommitRound: -1,
};
const prevote: ConsensusMessage = { type: 'vote', vote: signedVote(home, who, PREVOTE, 0, made.id) };
const truth = [step, ...proposalOf(home, made, 0), prevote].map(payloadOf);

/** What the victim and another hear of an envelope, and what the oracles are told of it. */
function send(...liars: readonly Liar[]) {
  const book = new RuleBook({} as ConstructorParameters<typeof RuleBook>[0], (rule) => {
    judge = rule;
  });
  let judge: Parameters<ConstructorParameters<typeof RuleBook>[1]>[0] = null;
  const told: (readonly string[])[] = [];
  book.lied = (_from, _to, payloads) => told.push(payloads.map(nameOf));
  for (const liar of liars) book.addLie('liar', liar(kit));
  const heard = (to: string): readonly string[] => {
    const verdict = judge?.('liar', to, truth);
    if (verdict === 'drop') return [];
    return (typeof verdict === 'object' && 'payloads' in verdict ? (verdict.payloads ?? []) : truth).map(
      nameOf,
    );
  };
  return { victim: heard('victim'), other: heard('other'), told };
}

function nameOf(payload: (typeof truth)[number]): string {
  const message = consensusMessage(payload);
  const isTrue = truth.some(({ bytes }) => hexOf(bytes) === hexOf(payload.bytes));
  return `${isTrue ? '' : 'false '}${message?.type}`;
}

const TRUTH = ['new-round-step', 'proposal', 'block-part', 'vote'];

it.each([
  [[], TRUTH],
  [[proposalEquivocator], ['new-round-step', 'false proposal', 'false block-part', 'vote']],
  [[voteEquivocator], ['new-round-step', 'proposal', 'block-part', 'false vote']],
  [[doubleVoter], [...TRUTH, 'false vote']],
  [
    [proposalEquivocator, doubleVoter],
    ['new-round-step', 'false proposal', 'false block-part', 'vote', 'false vote'],
  ],
  [
    [voteEquivocator, proposalEquivocator],
    ['new-round-step', 'false proposal', 'false block-part', 'false vote'],
  ],
])('%o', (liars, victim) => {
  const heard = send(...liars);
  expect(heard.victim).toEqual(victim);
  expect(heard.other).toEqual(TRUTH);
  // Once, and nothing that was not said: oracles count votes by it.
  expect(heard.told).toEqual(liars.length > 0 ? [victim] : []);
});
