import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { SignerMail, ValidatorMail } from '../../actors/mail.ts';
import { type SignerConfig, type SignerState, signerLogic } from '../../actors/signer.ts';
import type { Effect } from '../../actors/turn.ts';
import { lastSignWords } from '../../machines/privval/last-sign.ts';
import { hexOf } from '../../protocol/bytes.ts';
import { ed25519FromSecret } from '../../protocol/keys.ts';
import { unreachable } from '../../protocol/refusal.ts';
import { proposalSignBytes, voteSignBytes } from '../../protocol/sign-bytes.ts';
import {
  type BlockId,
  EMPTY_BYTES,
  NIL_BLOCK_ID,
  PRECOMMIT,
  PREVOTE,
  PROPOSAL,
  type Proposal,
  type Vote,
} from '../../protocol/types.ts';
import { encodeWords } from '../../protocol/words.ts';
import { Driven, only, said } from './drive.ts';

const { publicKey, address } = ed25519FromSecret('signer');
const config: SignerConfig = { chainId: 'c', address, publicKey, extensionsEnableHeight: 0n };

const blockId = (fill: number): BlockId => ({
  hash: new Uint8Array(32).fill(fill),
  parts: { total: 1, hash: new Uint8Array(32).fill(fill) },
});

const vote = (more: Partial<Vote> = {}): Vote => ({
  type: PREVOTE,
  height: 5n,
  round: 0,
  blockId: blockId(1),
  timeNs: 1_000n,
  validatorAddress: address,
  validatorIndex: 0,
  signature: EMPTY_BYTES,
  extension: EMPTY_BYTES,
  extensionSignature: EMPTY_BYTES,
  ...more,
});

const proposal = (more: Partial<Proposal> = {}): Proposal => ({
  type: PROPOSAL,
  height: 5n,
  round: 0,
  polRound: -1,
  blockId: blockId(1),
  timeNs: 1_000n,
  signature: EMPTY_BYTES,
  ...more,
});

type Signer = Driven<SignerState, SignerMail>;
const signer = (records: readonly Uint8Array[] = [], more: Partial<SignerConfig> = {}): Signer =>
  new Driven(signerLogic({ ...config, ...more }), { logs: [records], stores: [] });

/** A signature that is a function of the bytes, as ed25519's are. */
const sign = (bytes: Uint8Array): Uint8Array => {
  const signature = new Uint8Array(64);
  bytes.forEach((byte, i) => {
    signature[i % 64] = (signature[i % 64]! * 31 + byte + i) & 255;
  });
  return signature;
};

/** Answers every `sign` until none is left. */
function settle(driven: Signer, effects: readonly Effect[]): Effect[] {
  const all: Effect[] = [...effects];
  for (let i = 0; i < all.length; i++) {
    const effect = all[i]!;
    if (effect.type !== 'sign') continue;
    all.push(...driven.tell({ type: 'signature', tag: effect.tag, signature: sign(effect.bytes) }));
  }
  return all;
}

const ask = (driven: Signer, more: Partial<Vote> = {}): Effect[] =>
  settle(driven, driven.tell({ type: 'sign-vote', vote: vote(more) }));

const mailOf = (effects: readonly Effect[]): ValidatorMail[] =>
  only(effects, 'tell').map(({ message }) => message as ValidatorMail);

const SIGNED = ['sign', 'append privval', 'sync privval', 'tell validator signed-vote'];

const rows: readonly { readonly asks: readonly Partial<Vote>[]; readonly says: readonly string[] }[] = [
  { asks: [{}], says: SIGNED },
  { asks: [{}, {}], says: ['tell validator signed-vote'] },
  { asks: [{}, { timeNs: 2_000n }], says: ['tell validator signed-vote'] },
  {
    asks: [{}, { blockId: blockId(2) }],
    says: ['tell validator signed-before'],
  },
  {
    asks: [{}, { blockId: NIL_BLOCK_ID }],
    says: ['tell validator signed-before'],
  },
  { asks: [{}, { type: PRECOMMIT }], says: SIGNED },
  { asks: [{ type: PRECOMMIT }, {}], says: ['tell validator sign-refused'] },
  { asks: [{ round: 1 }, {}], says: ['tell validator sign-refused'] },
  { asks: [{}, { height: 4n }], says: ['tell validator sign-refused'] },
  { asks: [{ extension: Uint8Array.of(1) }], says: ['tell validator sign-refused'] },
  {
    asks: [{ type: PRECOMMIT, blockId: NIL_BLOCK_ID, extension: Uint8Array.of(1) }],
    says: ['tell validator sign-refused'],
  },
  { asks: [{ type: PRECOMMIT, extension: Uint8Array.of(1) }], says: ['sign', ...SIGNED] },
  {
    asks: [
      { type: PRECOMMIT, extension: Uint8Array.of(1) },
      { type: PRECOMMIT, extension: Uint8Array.of(2) },
    ],
    says: ['sign', 'tell validator signed-vote'],
  },
];

it.each(rows)('$asks: $says', ({ asks, says }) => {
  const driven = signer();
  let last: Effect[] = [];
  for (const more of asks) last = ask(driven, more);
  expect(said(last)).toEqual(says);
});

it('reuses the old time, and the vote stays as it was asked else', () => {
  const driven = signer();
  const [first] = mailOf(ask(driven));
  const [second] = mailOf(ask(driven, { timeNs: 9_999n }));
  expect(second).toEqual(first);
  const bytes = voteSignBytes('c', vote());
  expect(first).toEqual({ type: 'signed-vote', vote: vote({ signature: sign(bytes) }) });
});

it('signs proposals too', () => {
  const driven = signer();
  const effects = settle(driven, driven.tell({ type: 'sign-proposal', proposal: proposal() }));
  expect(said(effects)).toEqual(['sign', 'append privval', 'sync privval', 'tell validator signed-proposal']);
  const signature = sign(proposalSignBytes('c', proposal()));
  expect(mailOf(effects)).toEqual([{ type: 'signed-proposal', proposal: proposal({ signature }) }]);
  const again = settle(driven, driven.tell({ type: 'sign-proposal', proposal: proposal({ polRound: 0 }) }));
  expect(mailOf(again)).toEqual([
    { type: 'sign-refused', height: 5n, round: 0, step: 1, because: 'conflicting data' },
  ]);
});

it('signs an empty extension where extensions are enabled', () => {
  const driven = signer([], { extensionsEnableHeight: 5n });
  const asks = [{}, { type: PRECOMMIT, height: 4n, blockId: blockId(1) }, { type: PRECOMMIT }];
  const counts = asks.map(
    (more) => only(ask(signer([], { extensionsEnableHeight: 5n }), more), 'sign').length,
  );
  expect(counts).toEqual([1, 1, 2]);
  const [mail] = mailOf(ask(driven, { type: PRECOMMIT }));
  expect(mail?.type === 'signed-vote' && mail.vote.extensionSignature.length).toBe(64);
});

it('serves one after another, in order', () => {
  const driven = signer();
  const first = driven.tell({ type: 'sign-vote', vote: vote() });
  expect(driven.tell({ type: 'sign-vote', vote: vote({ blockId: blockId(2) }) })).toEqual([]);
  expect(driven.tell({ type: 'sign-vote', vote: vote({ type: PRECOMMIT }) })).toEqual([]);
  expect(said(settle(driven, first))).toEqual([
    ...SIGNED,
    'tell validator signed-before',
    'sign',
    ...SIGNED.slice(1),
  ]);
});

describe('while the key is busy', () => {
  const busy = (): readonly [Signer, readonly Effect[]] => {
    const driven = signer();
    return [driven, driven.tell({ type: 'sign-vote', vote: vote() })];
  };
  const tell = (driven: Signer, more: Partial<Vote>): Effect[] => [
    ...driven.tell({ type: 'sign-vote', vote: vote(more) }),
  ];

  it('what was asked of an earlier round or height is let go, and the validator hears of it', () => {
    const [driven, first] = busy();
    expect(tell(driven, { type: PRECOMMIT })).toEqual([]);
    expect(mailOf(driven.tell({ type: 'sign-proposal', proposal: proposal({ round: 1 }) }))).toEqual([
      {
        type: 'sign-refused',
        height: 5n,
        round: 0,
        step: 3,
        because: 'the key is still busy, and 5/1 has begun',
      },
    ]);
    expect(tell(driven, { round: 1, blockId: NIL_BLOCK_ID })).toEqual([]);
    expect(mailOf(tell(driven, { height: 6n }))).toMatchObject([
      {
        type: 'sign-refused',
        height: 5n,
        round: 1,
        step: 1,
        because: 'the key is still busy, and 6/0 has begun',
      },
      { type: 'sign-refused', height: 5n, round: 1, step: 2 },
    ]);
    const places = mailOf(settle(driven, first)).map(
      (mail) => mail.type === 'signed-vote' && mail.vote.height,
    );
    expect(places).toEqual([5n, 6n]);
  });

  it('all of the latest round waits, in order, and however long it takes no more than that', () => {
    const [driven, first] = busy();
    for (let height = 6n; height < 200n; height++) {
      driven.tell({ type: 'sign-proposal', proposal: proposal({ height }) });
      tell(driven, { height });
      tell(driven, { height, type: PRECOMMIT });
      expect(driven.state.queue).toHaveLength(3);
    }
    expect(mailOf(settle(driven, first)).map(({ type }) => type)).toEqual([
      'signed-vote',
      'signed-proposal',
      'signed-vote',
      'signed-vote',
    ]);
  });

  it('what is asked of an earlier round keeps its place, and is judged as ever', () => {
    const [driven, first] = busy();
    tell(driven, { round: 2 });
    expect(tell(driven, { round: 1 })).toEqual([]);
    expect(mailOf(settle(driven, first)).map(({ type }) => type)).toEqual([
      'signed-vote',
      'signed-vote',
      'sign-refused',
    ]);
  });
});

describe('another vote stands where one is asked for', () => {
  const NIL = { blockId: NIL_BLOCK_ID };
  const stands: readonly (readonly [string, Partial<Vote>, Partial<Vote>])[] = [
    ['a block, and now nil', {}, NIL],
    ['nil, and now a block', NIL, {}],
    ['another block', {}, { blockId: blockId(2) }],
    ['a precommit', { type: PRECOMMIT }, { type: PRECOMMIT, ...NIL }],
  ];
  it.each(stands)('%s: what was signed is said, as it was said', (_, then, now) => {
    const first = signer();
    const [before] = mailOf(ask(first, then));
    const [again] = mailOf(
      ask(signer([encodeWords(lastSignWords, first.state.last!)]), { ...now, timeNs: 7n }),
    );
    expect(again).toEqual({ ...before, type: 'signed-before' });
  });

  it('an extension is signed again, and goes with the block that it is for', () => {
    const extended = { type: PRECOMMIT, extension: Uint8Array.of(1) };
    const driven = signer();
    ask(driven, extended);
    const [again] = mailOf(ask(driven, { ...extended, blockId: blockId(2) }));
    expect(again?.type === 'signed-before' && again.vote.extensionSignature.length).toBe(64);
    const nil = signer();
    ask(nil, { type: PRECOMMIT, ...NIL });
    const [said] = mailOf(ask(nil, extended));
    expect(said).toMatchObject({ vote: { blockId: NIL_BLOCK_ID, extension: EMPTY_BYTES } });
  });

  it('nothing is said where what was signed is a vote of another chain, no vote, or no sign bytes', () => {
    const last = (signBytes: Uint8Array): Uint8Array =>
      encodeWords(lastSignWords, { height: 5n, round: 0, step: 2, signBytes, signature: new Uint8Array(64) });
    for (const bytes of [voteSignBytes('other', vote()), Uint8Array.of(1, 2, 3)])
      expect(said(ask(signer([last(bytes)]), NIL))).toEqual(['tell validator sign-refused']);
    const proposing = signer();
    settle(proposing, proposing.tell({ type: 'sign-proposal', proposal: proposal() }));
    const other = proposing.tell({ type: 'sign-proposal', proposal: proposal({ blockId: blockId(2) }) });
    expect(said(other)).toEqual(['tell validator sign-refused']);
  });
});

it('trims its log now and then', () => {
  const driven = signer();
  let trims = 0;
  for (let height = 1n; height <= 5_000n; height++) trims += only(ask(driven, { height }), 'trim').length;
  expect(trims).toBe(4);
});

it('keeps all that it signed in the height under way, however many rounds that has', () => {
  const driven = signer();
  let trims = 0;
  for (let round = 0; round <= 1_500; round++) trims += only(ask(driven, { round }), 'trim').length;
  expect(trims).toBe(0);
  expect(only(ask(driven, { height: 6n, round: 0 }), 'trim')).toHaveLength(1);
});

it('throws at what it never asked for', () => {
  expect(() => signer().tell({ type: 'signature', tag: 1, signature: EMPTY_BYTES })).toThrow();
  expect(() => signer().tell({ type: 'timer', timer: 'x' })).toThrow();
  expect(() => ask(signer(), { validatorAddress: new Uint8Array(20) })).toThrow();
  expect(() => signer([Uint8Array.of(1)])).toThrow();
});

type Step =
  | {
      readonly do: 'vote' | 'proposal';
      readonly height: bigint;
      readonly round: number;
      readonly type: number;
      readonly block: number;
      readonly timeNs: bigint;
    }
  | { readonly do: 'crash'; readonly kept: number; readonly answered: number };

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constantFrom('vote' as const, 'proposal' as const),
      height: fc.bigInt(1n, 3n),
      round: fc.integer({ min: 0, max: 2 }),
      type: fc.constantFrom(PREVOTE, PRECOMMIT),
      block: fc.integer({ min: 0, max: 2 }),
      timeNs: fc.bigInt(0n, 5n),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('crash' as const),
      kept: fc.integer({ min: 0, max: 3 }),
      answered: fc.integer({ min: 0, max: 3 }),
    }),
  },
);

it('no requests, crashes and lost tails make a key say two things at one height, round and step', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      let driven = signer();
      /** The log: what is synced, and what may still vanish. */
      let durable: Uint8Array[] = [];
      let loose: Uint8Array[] = [];
      let signs: Extract<Effect, { type: 'sign' }>[] = [];
      const heard = new Map<string, string>();
      /** Nothing passes a sync that is not yet durable: so a tell after a sync is heard only when it is. */
      const run = (effects: readonly Effect[], isLastTurn: boolean): void => {
        for (const effect of effects) {
          if (effect.type === 'append') loose.push(effect.record);
          else if (effect.type === 'sync') {
            if (isLastTurn) return; // the node dies while this is pending
            durable = [...durable, ...loose];
            loose = [];
          } else if (effect.type === 'sign') signs.push(effect);
          else if (effect.type === 'tell') hear(effect.message as ValidatorMail);
        }
      };
      const hear = (mail: ValidatorMail): void => {
        if (mail.type === 'sign-refused') return;
        const [where, bytes, signature] =
          mail.type === 'signed-vote' || mail.type === 'signed-before'
            ? [
                `${mail.vote.height}/${mail.vote.round}/${mail.vote.type}`,
                voteSignBytes('c', mail.vote),
                mail.vote.signature,
              ]
            : mail.type === 'signed-proposal'
              ? [
                  `${mail.proposal.height}/${mail.proposal.round}/p`,
                  proposalSignBytes('c', mail.proposal),
                  mail.proposal.signature,
                ]
              : unreachable(mail.type);
        expect(signature).toEqual(sign(bytes));
        const before = heard.get(where);
        if (before !== undefined) expect(hexOf(bytes)).toBe(before);
        heard.set(where, hexOf(bytes));
      };
      const answer = (isLastTurn: boolean): void => {
        const next = signs.shift();
        if (!next) return;
        run(driven.tell({ type: 'signature', tag: next.tag, signature: sign(next.bytes) }), isLastTurn);
      };
      for (const each of steps) {
        if (each.do === 'crash') {
          for (let i = 0; i < each.answered; i++) answer(i === each.answered - 1);
          durable = [...durable, ...loose.slice(0, each.kept)];
          loose = [];
          signs = [];
          driven = signer(durable);
        } else {
          const { height, round, type, timeNs } = each;
          const block = each.block === 0 ? NIL_BLOCK_ID : blockId(each.block);
          const mail: SignerMail =
            each.do === 'vote'
              ? { type: 'sign-vote', vote: vote({ height, round, type, timeNs, blockId: block }) }
              : { type: 'sign-proposal', proposal: proposal({ height, round, timeNs, blockId: block }) };
          run(driven.tell(mail), false);
          if (each.timeNs % 2n === 0n) answer(false);
        }
      }
    }),
    { numRuns: 500 },
  );
});
