// Attacks on light clients that nobody made, and true ones that name the wrong; and what is true until it stands in a liar's block.

import { equalBytes } from '../protocol/bytes.ts';
import { evidenceListHash } from '../protocol/hashes.ts';
import type { Evidence } from '../protocol/types.ts';
import { ownDoubles } from '../sim/liars/accusations.ts';
import { accusing } from '../sim/liars/accusing.ts';
import {
  BESIDE_ITSELF,
  byMyself,
  byMyselfLater,
  inItsPlaceSinceBefore,
  inventing,
  OF_NO_STATE,
  OF_SEVERAL,
  underAnothersName,
} from '../sim/liars/attack-inventor.ts';
import type { Liar } from '../sim/liars/liar.ts';
import { aboutOwnBlocks } from '../sim/liars/own-blocks.ts';
import {
  anyone,
  at,
  drop,
  empower,
  everyone,
  heal,
  height,
  liar,
  never,
  powers,
  scenario,
  sometime,
  txs,
  v0,
  v1,
  v2,
  v3,
  validators,
  when,
} from '../sim/scenario/words.ts';
import { ChoosesEvidence, loses } from './shared.ts';

/** Every fourth block is v2's; beside its prevotes peers are told, too. */
export const inventedAttacks = scenario('an attack on light clients that nobody made punishes nobody', {
  name: 'invented-attacks',
  cast: validators(4),
  load: txs({ perSecond: 2 }),
  liars: [liar('v2', 'attack-inventor', ['v0', 'v1', 'v3'])],
  holds: loses(
    'v2',
    'insufficient voting power',
    'derived from the chain',
    'skipping verification of conflicting block failed: wrong signature',
    'invalid commit from conflicting block: wrong signature',
    'our header has the hash',
    'commit.block_id must be of the header',
    'double vote from',
  ),
  ends: everyone.decides(height(56), { within: '700s' }),
});

/** v0 has more than a third: headers that it signs alone would pass for the chain's, so what it invents of itself is true, but for whom it names. */
export const trueAttacks = scenario('who could deceive a light client alone is punished for having tried', {
  name: 'true-attacks',
  cast: powers(40, 20, 20, 20),
  load: txs({ perSecond: 2 }),
  liars: [liar('v0', 'attack-inventor', ['v1', 'v2', 'v3'], { toHeight: 12 })],
  holds: [
    sometime(anyone.punishes('v0')),
    ...loses(
      'v0',
      "that is not its public key's",
      'unexpected byzantine validator address',
      'unexpected byzantine validator power',
      'total power of the evidence',
      'header.validators_hash is not of the validator set',
    ),
  ],
  ends: everyone.decides(height(20), { within: '600s' }),
});

/** Each lie costs v0 its connections, and without it nobody has two thirds. */
export const framedBesideIt = scenario('who attacks can have nobody else punished for it, nor itself twice', {
  name: 'framed-beside-it',
  cast: powers(40, 20, 20, 20),
  liars: [
    liar(
      'v0',
      inventing(() => BESIDE_ITSELF),
      ['v1', 'v2', 'v3'],
      { toHeight: 10 },
    ),
  ],
  holds: [
    never(anyone.punishes('v0')),
    ...loses(
      'v0',
      'expected 1 byzantine validators from evidence but got 2',
      'skipping verification of conflicting block failed: wrong signature (#1)',
      'common_height must not be above the conflicting height',
    ),
  ],
  ends: everyone.decides(height(18), { within: '600s' }),
});

/** Of what its blocks hold against somebody: that it was another, who neither proposes nor is accused. */
const accusesAnother: Liar = (kit) =>
  aboutOwnBlocks(kit, 'lie: evidence against another', (block) => {
    const { header } = block;
    const evidence = block.evidence.map((each) => {
      const named = [header.proposerAddress, ...accusedBy(each)];
      const another = kit
        .validators(header.height)
        .find(({ address }) => named.every((name) => !equalBytes(name, address)));
      return another ? against(another.address, each) : each;
    });
    if (evidence.length === 0) return null;
    return { block: { ...block, evidence, header: { ...header, evidenceHash: evidenceListHash(evidence) } } };
  });

const accusedBy = (evidence: Evidence): readonly Uint8Array[] =>
  evidence.kind === 'duplicate-vote'
    ? [evidence.voteA.validatorAddress]
    : evidence.byzantineValidators.map(({ address }) => address);

/** The votes of two voters: no signature covers whose they are. Or an attack of somebody else: nor does what tells it from others cover that. */
const against = (address: Uint8Array, evidence: Evidence): Evidence =>
  evidence.kind === 'duplicate-vote'
    ? { ...evidence, voteB: { ...evidence.voteB, validatorAddress: address } }
    : {
        ...evidence,
        byzantineValidators: evidence.byzantineValidators.map((each) => ({ ...each, address })),
      };

/** v0 makes an attack of each height, and all hold it. v3 has a turn in five. */
export const knownAndChanged = scenario('an attack that all know of is judged again in a block', {
  name: 'known-and-changed',
  cast: powers(40, 20, 20, 20),
  liars: [
    liar(
      'v0',
      inventing(() => [byMyself]),
      ['v1', 'v2', 'v3'],
      { toHeight: 14 },
    ),
    liar('v3', accusesAnother, ['v0', 'v1', 'v2']),
  ],
  act: [when(everyone.punishes('v0'))],
  ends: everyone.decides(height(18), { within: '300s' }),
});

/**
 * With four equal validators v0 proposes round 0 of height 7, v3 that of height 8. There it has the evidence of what it said to v1 and v2 in
 * height 6. They have told it since, and v0 knows nothing.
 */
export const ofTwoVoters = scenario('two votes of which one names another voter are no double vote', {
  name: 'of-two-voters',
  cast: validators(4),
  liars: [
    liar('v3', 'double-voter', ['v1', 'v2'], { votes: 'prevotes', fromHeight: 6, toHeight: 6 }),
    liar('v3', accusesAnother, ['v0', 'v1', 'v2'], { fromHeight: 8, toHeight: 8 }),
  ],
  act: [
    at('0s', drop('evidence', { to: ['v0'] }), drop('prevotes', { height: 6, by: ['v3'], to: ['v0'] })),
    when(v3.proposes({}, { height: 8 }), heal()),
    when(everyone.punishes('v3')),
  ],
  ends: everyone.decides(height(14), { within: '120s' }),
});

/** All that wait for a block leave it no room for a proof against anybody else. */
const tellsMany: Liar = (kit) =>
  accusing(
    kit,
    () => [],
    (height) => ownDoubles(kit, height, 100),
  );

export const ownShareOfEvidence = scenario('nobody fills the stores of others with its own double votes', {
  name: 'own-share-of-evidence',
  cast: validators(4, { blockBytes: 16_000 }),
  app: 'noop',
  liars: [liar('v2', tellsMany, ['v0', 'v1', 'v3'], { votes: 'prevotes', fromHeight: 5, toHeight: 7 })],
  act: [when(everyone.punishes('v2'))],
  ends: everyone.decides(height(20), { within: '120s' }),
});

/** v2 has its share of what waits for a block, and then as many double votes of four rounds as do not fit beside it. */
export const newInPlaceOfOld = scenario(
  'a new double vote takes the place of an old one, in memory and on disk',
  {
    name: 'new-in-place-of-old',
    cast: validators(4, { blockBytes: 16_000 }),
    app: 'noop',
    liars: [
      liar('v2', tellsMany, ['v0', 'v1', 'v3'], { votes: 'prevotes', fromHeight: 5, toHeight: 9 }),
      liar('v2', 'double-voter', ['v0', 'v1', 'v3'], { fromHeight: 9, toHeight: 9 }),
    ],
    act: [
      when(v0.decides(height(8)), ...[0, 1, 2].map((round) => drop('proposals', { height: 9, round }))),
      when(everyone.punishes('v2')),
    ],
    ends: everyone.decides(height(14), { within: '120s' }),
  },
);

/** v0 has more than a third. */
export const aLaterHeader = scenario('a header that nobody else knows is an attack, whenever it was made', {
  name: 'a-later-header',
  cast: powers(40, 20, 20, 20),
  liars: [
    liar(
      'v0',
      inventing(() => [byMyselfLater]),
      ['v1', 'v2', 'v3'],
      { fromHeight: 5, toHeight: 6 },
    ),
  ],
  act: [when(everyone.punishes('v0'))],
  ends: everyone.decides(height(12), { within: '600s', afterwards: 2 }),
});

/** v0 alone makes commits, and has another power with each height: each time other than at the height at which the light client still agreed with all. */
export const strongerSinceThen = scenario('who signs both blocks is named as it was when it did', {
  name: 'stronger-since-then',
  cast: powers(70, 10, 10, 10),
  liars: [
    liar(
      'v0',
      inventing(() => [inItsPlaceSinceBefore]),
      ['v1', 'v2', 'v3'],
      { fromHeight: 9, toHeight: 10 },
    ),
  ],
  act: [
    ...[4, 5, 6, 7].map((at) => when(v1.decides(height(at)), empower('v0', 70 + at))),
    when(everyone.punishes('v0')),
  ],
  ends: everyone.decides(height(16), { within: '600s', afterwards: 2 }),
});

/** v0 has more than a quarter of the power, and less than a third. */
export const nearlyAThird = scenario('who has less than a third deceives no light client', {
  name: 'nearly-a-third',
  cast: powers(30, 30, 20, 20),
  liars: [liar('v0', 'attack-inventor', ['v1', 'v2', 'v3'], { toHeight: 12 })],
  holds: loses('v0', 'insufficient voting power'),
  ends: everyone.decides(height(18), { within: '600s' }),
});

/** v0 alone makes commits. It signs another block in the place of height 3, in the same round, and one in that of height 4, a round later: for that it may have had a reason. */
export const amnesiaProvesNothing = scenario('who signs another block a round later is not punished for it', {
  name: 'amnesia-proves-nothing',
  cast: powers(70, 10, 10, 10),
  liars: [liar('v0', 'attack-inventor', ['v1', 'v2', 'v3'], { fromHeight: 5, toHeight: 6 })],
  act: [when(everyone.punishes('v0'))],
  holds: loses('v0', 'from an amnesia light client attack'),
  ends: everyone.decides(height(16), { within: '600s', afterwards: 2 }),
});

/** v0 alone makes commits. In the place of blocks it signs others, each wrong in one hash that the state before says. */
export const ofNoState = scenario('a block that no state leads to is none in the place of another', {
  name: 'of-no-state',
  cast: powers(70, 10, 10, 10),
  liars: [
    liar(
      'v0',
      inventing(() => OF_NO_STATE),
      ['v1', 'v2', 'v3'],
      { fromHeight: 5, toHeight: 8 },
    ),
  ],
  holds: [never(v1.punishes('v0')), ...loses('v0', 'should be, but is not, derived from the chain')],
  ends: everyone.decides(height(16), { within: '600s', afterwards: 2 }),
});

/** A block has room for the proof of a double vote, and not for that of an attack. */
const EVIDENCE_BYTES = 700n;

const sparing = (): ChoosesEvidence =>
  new ChoosesEvidence({ maxAgeBlocks: 1_000n, maxAgeNs: 3_600_000_000_000n, maxBytes: EVIDENCE_BYTES });

/** All hold the attack of v0, which is older than what v3 does, and which no block can carry. */
export const tooMuchEvidence = scenario('evidence that no block has room for does not keep back other', {
  name: 'too-much-evidence',
  cast: powers(40, 25, 25, 10),
  app: sparing,
  liars: [
    liar('v0', 'attack-inventor', ['v1', 'v2', 'v3'], { fromHeight: 5, toHeight: 5 }),
    liar('v3', 'double-voter', ['v0', 'v1', 'v2'], { fromHeight: 7, toHeight: 9 }),
  ],
  act: [when(everyone.punishes('v3'))],
  holds: [never(anyone.punishes('v0'))],
  ends: everyone.decides(height(14), { within: '120s', afterwards: 2 }),
});

const conspirator = inventing(() => OF_SEVERAL);

/**
 * v0 alone makes commits, and v1 is in none that they speak of. It signs with v0 what v0 signs in the place of a block: that is one block of its own,
 * and no crime. What no state leads to it may not sign.
 */
export const attackedTogether = scenario('of several that attack each is punished for what it did', {
  name: 'attacked-together',
  cast: powers(70, 10, 10, 10),
  liars: [
    liar('v0', conspirator, ['v2', 'v3'], { fromHeight: 6, toHeight: 17 }),
    liar('v1', conspirator, ['v2', 'v3'], { fromHeight: 6, toHeight: 17 }),
  ],
  act: [
    at('0s', drop('precommits', { by: ['v1'] })),
    when(v2.punishes('v0')),
    when(v2.punishes('v1')),
    when(v2.decides(height(18)), heal()),
  ],
  holds: loses(
    'v0',
    'expected 1 byzantine validators from evidence but got 2',
    'unexpected byzantine validator address',
  ),
  ends: everyone.decides(height(24), { within: '600s', afterwards: 2 }),
});

const forger = inventing(() => [underAnothersName]);

/** v0 and v1 sign two blocks, and v1 goes by the address of v2 or v3. */
export const underAnothersAddress = scenario('who is named for an attack has the key that signed for it', {
  name: 'under-anothers-address',
  cast: powers(70, 10, 10, 10),
  liars: [
    liar('v0', forger, ['v2', 'v3'], { fromHeight: 6, toHeight: 9 }),
    liar('v1', forger, ['v2', 'v3'], { fromHeight: 6, toHeight: 9 }),
  ],
  holds: [
    never(anyone.punishes('v2')),
    never(anyone.punishes('v3')),
    ...loses('v0', 'address does not follow from its public key'),
  ],
  ends: everyone.decides(height(16), { within: '600s', afterwards: 2 }),
});
