// Signatures: the fast way and the ZIP-215 rules give one verdict, and remembered verdicts are the right
// ones.

import { Point } from '@noble/ed25519';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ed25519Engine, ed25519VerifyStrict, sha512 } from '#platform';
import { bytesOfHex, concatBytes, hexOf } from '../../protocol/bytes.ts';
import * as gen from '../../protocol/gen/types.ts';
import { ed25519FromSecret, keyPairOfSeed, secp256k1KeyPairOf } from '../../protocol/keys.ts';
import { openssl } from '../../protocol/platform/ed25519-openssl.ts';
import { sodium } from '../../protocol/platform/ed25519-sodium.ts';
import { proposalSignBytes, voteExtensionSignBytes, voteSignBytes } from '../../protocol/sign-bytes.ts';
import {
  rememberingVerify,
  signMessage,
  type Verify,
  verifySignature,
  verifyZip215,
} from '../../protocol/signatures.ts';
import { PRECOMMIT, PREVOTE, type PublicKey } from '../../protocol/types.ts';
import { toTimestamp } from '../../protocol/wire/generated.ts';
import * as any from './arbitrary.ts';

const P = 2n ** 255n - 19n;
const ORDER = 2n ** 252n + 27742317777372353535851937790883648493n;
const littleEndian = (value: bigint): Uint8Array =>
  Uint8Array.from({ length: 32 }, (_, i) => Number((value >> BigInt(8 * i)) & 255n));
const numberOf = (bytes: Uint8Array): bigint =>
  bytes.reduceRight((sum, byte) => sum * 256n + BigInt(byte), 0n);
const ed25519 = (bytes: Uint8Array): PublicKey => ({ type: 'ed25519', bytes });

/** The eight points of small order, by their canonical encodings. */
const EIGHT_TORSION = [
  '0100000000000000000000000000000000000000000000000000000000000000',
  'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a',
  '0000000000000000000000000000000000000000000000000000000000000080',
  '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05',
  'ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
  '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc85',
  '0000000000000000000000000000000000000000000000000000000000000000',
  'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa',
].map((text) => bytesOfHex(text)!);

/** y >= p encodes y - p; only 19 values fit, and of those only 0 and 1 belong to small order. */
const NON_CANONICAL = [
  littleEndian(1n | (1n << 255n)), // the identity with a sign that x = 0 does not have
  littleEndian((P - 1n) | (1n << 255n)), // y = -1, also with x = 0
  littleEndian(P), // y = 0
  littleEndian(P | (1n << 255n)),
  littleEndian(P + 1n), // y = 1
  littleEndian((P + 1n) | (1n << 255n)),
];
const SMALL_ORDER = [...EIGHT_TORSION, ...NON_CANONICAL];
const message = new TextEncoder().encode('Zcash');

const libsodium = sodium();
/** Those that are here: libsodium is an optional dependency. */
const engines = libsodium ? [openssl, libsodium] : [openssl];

describe('ZIP-215', () => {
  const grid = SMALL_ORDER.flatMap((key) =>
    SMALL_ORDER.map((r) => [key, concatBytes(r, new Uint8Array(32))] as const),
  );

  it('all points of small order verify with S = 0, however they are encoded', () => {
    for (const [key, signature] of grid) {
      expect(verifySignature(ed25519(key), message, signature), hexOf(key)).toBe(true);
    }
  });
  it('the strict rules alone would refuse some of them', () => {
    expect(grid.some(([key, signature]) => !ed25519VerifyStrict(key, message, signature))).toBe(true);
  });
  it.each(engines)('a yes of $name is always a ZIP-215 yes', ({ verify }) => {
    for (const [key, signature] of grid) {
      const large = concatBytes(signature.subarray(0, 32), littleEndian(ORDER));
      for (const each of [signature, large])
        if (verify(key, message, each)) expect(verifyZip215(key, message, each)).toBe(true);
    }
  });
  it('S must be below the order, whatever the points', () => {
    for (const [key, signature] of grid) {
      const large = concatBytes(signature.subarray(0, 32), littleEndian(ORDER));
      expect(verifySignature(ed25519(key), message, large)).toBe(false);
    }
  });
  it('refuses y that is on no point', () => {
    const offCurve = littleEndian(2n);
    const signature = new Uint8Array(64);
    expect(
      verifySignature(ed25519(offCurve), message, concatBytes(EIGHT_TORSION[0]!, signature.subarray(32))),
    ).toBe(false);
    expect(
      verifySignature(ed25519(EIGHT_TORSION[0]!), message, concatBytes(offCurve, signature.subarray(32))),
    ).toBe(false);
  });
  it('a key of mixed order verifies where only the cofactor forgives', () => {
    const [secret, nonce] = [123_456_789n, 987_654_321n];
    const r = Point.BASE.multiply(nonce).toBytes();
    const key = Point.BASE.multiply(secret).add(Point.fromBytes(EIGHT_TORSION[1]!, true)).toBytes();
    let strict = 0;
    for (let i = 0; i < 16; i++) {
      const text = Uint8Array.of(i);
      const challenge = numberOf(sha512(concatBytes(r, key, text))) % ORDER;
      const signature = concatBytes(r, littleEndian((nonce + challenge * secret) % ORDER));
      expect(verifySignature(ed25519(key), text, signature)).toBe(true);
      if (ed25519VerifyStrict(key, text, signature)) strict++;
    }
    expect(strict).toBeLessThan(16);
  });
});

describe.each(engines)('$name', (engine) => {
  // RFC 8032, 7.1: the third.
  const seed = bytesOfHex('c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7')!;
  const publicKey = 'fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025';
  const signature =
    '6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a';
  const signed = Uint8Array.of(0xaf, 0x82);

  it('signs as RFC 8032 does', () => {
    expect(hexOf(engine.publicKey(seed))).toBe(publicKey);
    expect(hexOf(engine.sign(seed, signed))).toBe(signature);
    expect(engine.verify(bytesOfHex(publicKey)!, signed, bytesOfHex(signature)!)).toBe(true);
  });
  it('finds a bit that was turned', () => {
    const key = bytesOfHex(publicKey)!;
    for (let bit = 0; bit < 512; bit++) {
      const turned = bytesOfHex(signature)!;
      turned[bit >> 3]! ^= 1 << (bit & 7);
      expect(engine.verify(key, signed, turned), `bit ${bit}`).toBe(false);
    }
    expect(engine.verify(key, Uint8Array.of(0xaf, 0x83), bytesOfHex(signature)!)).toBe(false);
  });
  it('gives keys and signatures that are nobody else’s to change', () => {
    engine.publicKey(seed).fill(0);
    engine.sign(seed, signed).fill(0);
    expect(hexOf(engine.publicKey(seed))).toBe(publicKey);
    expect(hexOf(engine.sign(seed, signed))).toBe(signature);
  });
});

describe.skipIf(!libsodium)('libsodium and OpenSSL', () => {
  it('are one: whoever signs, the bytes are the same, and both say yes', () => {
    fc.assert(
      fc.property(any.bytes(32, 32), any.bytes(200), (seed, text) => {
        const [first, second] = engines.map((engine) => engine.sign(seed, text));
        const [key, same] = engines.map((engine) => engine.publicKey(seed));
        expect(second).toEqual(first);
        expect(same).toEqual(key);
        for (const { verify } of engines) expect(verify(key!, text, first!)).toBe(true);
      }),
      { numRuns: 60 },
    );
  });
  it('libsodium is asked where it is', () => {
    expect(ed25519Engine()).toBe('libsodium');
  });
});

describe('verification', () => {
  const pair = ed25519FromSecret('one');
  const damage = fc.tuple(
    fc.constantFrom('key', 'message', 'signature', 'nothing'),
    fc.nat(),
    fc.integer({ min: 1, max: 255 }),
  );

  it('both ways agree on sound and damaged signatures', () => {
    fc.assert(
      fc.property(any.bytes(32, 32), any.bytes(100, 1), damage, (seed, text, [where, at, mask]) => {
        const { publicKey } = keyPairOfSeed(seed);
        const signature = signMessage(keyPairOfSeed(seed), text).slice();
        const pieces = { key: publicKey.bytes.slice(), message: text.slice(), signature };
        if (where !== 'nothing') pieces[where as 'key'][at % pieces[where as 'key'].length]! ^= mask;
        const verdict = verifySignature(ed25519(pieces.key), pieces.message, pieces.signature);
        expect(verdict).toBe(verifyZip215(pieces.key, pieces.message, pieces.signature));
        expect(verdict).toBe(where === 'nothing');
      }),
      { numRuns: 60 },
    );
  });
  it('refuses wrong lengths without throwing', () => {
    const signature = signMessage(pair, message);
    expect(verifySignature(pair.publicKey, message, signature.subarray(1))).toBe(false);
    expect(verifySignature(pair.publicKey, message, concatBytes(signature, Uint8Array.of(0)))).toBe(false);
    expect(verifySignature(ed25519(pair.publicKey.bytes.subarray(1)), message, signature)).toBe(false);
    expect(verifySignature({ type: 'secp256k1', bytes: pair.publicKey.bytes }, message, signature)).toBe(
      false,
    );
  });
  it('refuses S plus the order', () => {
    const signature = signMessage(pair, message);
    const s = numberOf(signature.subarray(32));
    const moved = concatBytes(signature.subarray(0, 32), littleEndian(s + ORDER));
    expect(verifySignature(pair.publicKey, message, moved)).toBe(false);
  });
  it('secp256k1 wants the low S', () => {
    const secp = secp256k1KeyPairOf(new Uint8Array(32).fill(9))!;
    const signature = signMessage(secp, message);
    expect(verifySignature(secp.publicKey, message, signature)).toBe(true);
    expect(verifySignature(secp.publicKey, Uint8Array.of(1), signature)).toBe(false);
    const n = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
    const s = BigInt(`0x${hexOf(signature.subarray(32))}`);
    const high = bytesOfHex((n - s).toString(16).padStart(64, '0'))!;
    expect(verifySignature(secp.publicKey, message, concatBytes(signature.subarray(0, 32), high))).toBe(
      false,
    );
    expect(secp256k1KeyPairOf(new Uint8Array(32))).toBeNull();
  });

  // Verdicts of CometBFT v0.38.26 on "m", by keys whose signatures are small: there is room for the order.
  const n = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
  const one = '03209da05033f4406ce783bcbc0ef612ff3544763c7bde53efa3bc85e94c75d031';
  const two = '0216ae7a0e55ed8c27e5d58e4d3dacd3e90fca615edc43e71df8ac45c200fde114'; // its x is the order plus 2
  const lowest = '02db3c7b755b8670f27e626ca9a42e0fa24bc4a4220e22842f6424333a3e5de82c';
  const highest = '03a39c4a161b8af4b7a0a0f1eac4edb01ad6603a6751d80bea1cd1d1fcfb5ebcb6';
  it.each([
    { key: one, r: 1n, s: 1n, ok: true },
    { key: one, r: 1n + n, s: 1n, ok: true },
    { key: one, r: 1n, s: 1n + n, ok: true },
    { key: one, r: 1n + n, s: 1n + n, ok: true },
    { key: one, r: 2n + n, s: 1n, ok: false },
    { key: two, r: 2n, s: 7n, ok: true },
    { key: two, r: 2n + n, s: 7n, ok: true },
    { key: lowest, r: 1n + n, s: n / 2n, ok: true },
    { key: highest, r: 1n, s: n / 2n + 1n, ok: false },
    { key: highest, r: 1n + n, s: n / 2n + 1n, ok: false },
    { key: one, r: 0n, s: 1n, ok: false },
    { key: one, r: n, s: 1n, ok: false },
    { key: one, r: 1n, s: n, ok: false },
    { key: one, r: 2n ** 256n - 1n, s: 2n ** 256n - 1n, ok: false },
  ])('secp256k1 takes R $r and S $s modulo the order: $ok', ({ key, r, s, ok }) => {
    const bytes = (value: bigint) => bytesOfHex(value.toString(16).padStart(64, '0'))!;
    const publicKey = { type: 'secp256k1', bytes: bytesOfHex(key)! } as const;
    expect(verifySignature(publicKey, new TextEncoder().encode('m'), concatBytes(bytes(r), bytes(s)))).toBe(
      ok,
    );
  });
});

describe('a memory of verdicts', () => {
  const pair = ed25519FromSecret('remembered');
  const counting = () => {
    let asked = 0;
    const verify: Verify = (key, text, signature) => {
      asked++;
      return verifySignature(key, text, signature);
    };
    return { verify, asked: () => asked };
  };
  it('asks once for the same content, also when refused', () => {
    const { verify, asked } = counting();
    const remembering = rememberingVerify(verify, 10);
    const signature = signMessage(pair, message);
    const bad = signature.slice();
    bad[50]! ^= 1;
    for (let i = 0; i < 3; i++) {
      expect(remembering({ ...pair.publicKey }, message.slice(), signature.slice())).toBe(true);
      expect(remembering(pair.publicKey, message, bad)).toBe(false);
    }
    expect(asked()).toBe(2);
  });
  it('never answers for another key, message or signature', () => {
    const remembering = rememberingVerify(verifySignature, 10);
    const signature = signMessage(pair, message);
    expect(remembering(pair.publicKey, message, signature)).toBe(true);
    expect(remembering(ed25519FromSecret('other').publicKey, message, signature)).toBe(false);
    expect(remembering(pair.publicKey, Uint8Array.of(1), signature)).toBe(false);
    const tail = signature.slice();
    tail[63]! ^= 1;
    expect(remembering(pair.publicKey, message, tail)).toBe(false);
    expect(remembering(pair.publicKey, message, signature)).toBe(true);
  });
  it('forgets the oldest', () => {
    const { verify, asked } = counting();
    const remembering = rememberingVerify(verify, 2);
    const signatures = [0, 1, 2, 3, 4, 5].map((byte) => signMessage(pair, Uint8Array.of(byte)));
    signatures.forEach((signature, byte) => {
      expect(remembering(pair.publicKey, Uint8Array.of(byte), signature)).toBe(true);
    });
    expect(remembering(pair.publicKey, Uint8Array.of(5), signatures[5]!)).toBe(true);
    expect(asked()).toBe(6);
    expect(remembering(pair.publicKey, Uint8Array.of(0), signatures[0]!)).toBe(true);
    expect(asked()).toBe(7);
  });
});

describe('sign bytes', () => {
  const delimited = (bytes: Uint8Array): string => {
    const length: number[] = [];
    let rest = bytes.length;
    for (; rest > 127; rest >>= 7) length.push((rest & 127) | 128);
    return hexOf(concatBytes(Uint8Array.of(...length, rest), bytes));
  };
  const canonicalId = (id: { hash: Uint8Array; parts: { total: number; hash: Uint8Array } }) =>
    id.hash.length === 0 && id.parts.total === 0 && id.parts.hash.length === 0
      ? undefined
      : { hash: id.hash, partSetHeader: id.parts };
  const chainId = fc.string({ unit: 'grapheme', maxLength: 50 });

  it('of votes are what the generated canonical vote says', () => {
    fc.assert(
      fc.property(chainId, any.vote, fc.array(any.timeNs, { maxLength: 3 }), (chain, vote, times) => {
        for (const timeNs of [vote.timeNs, ...times]) {
          const bytes = gen.CanonicalVote.encode({
            type: vote.type as gen.SignedMsgType,
            height: vote.height,
            round: BigInt(vote.round),
            blockId: canonicalId(vote.blockId),
            timestamp: toTimestamp(timeNs),
            chainId: chain,
          }).finish();
          expect(hexOf(voteSignBytes(chain, { ...vote, timeNs }))).toBe(delimited(bytes));
        }
      }),
    );
  });
  it('of proposals and extensions too', () => {
    fc.assert(
      fc.property(chainId, any.proposal, any.vote, (chain, proposal, vote) => {
        const canonical = gen.CanonicalProposal.encode({
          type: proposal.type as gen.SignedMsgType,
          height: proposal.height,
          round: BigInt(proposal.round),
          polRound: BigInt(proposal.polRound),
          blockId: canonicalId(proposal.blockId),
          timestamp: toTimestamp(proposal.timeNs),
          chainId: chain,
        }).finish();
        expect(hexOf(proposalSignBytes(chain, proposal))).toBe(delimited(canonical));
        const { extension, height, round } = vote;
        const bytes = gen.CanonicalVoteExtension.encode({
          extension,
          height,
          round: BigInt(round),
          chainId: chain,
        });
        expect(hexOf(voteExtensionSignBytes(chain, vote))).toBe(delimited(bytes.finish()));
      }),
    );
  });
  it('differ in type, height, round, block and chain', () => {
    const id = { hash: new Uint8Array(32).fill(1), parts: { total: 1, hash: new Uint8Array(32).fill(2) } };
    const vote = { type: PREVOTE, height: 1n, round: 0, blockId: id, timeNs: 5n };
    const other = { ...id, parts: { ...id.parts, total: 2 } };
    const all = [
      voteSignBytes('a', vote),
      voteSignBytes('b', vote),
      voteSignBytes('a', { ...vote, type: PRECOMMIT }),
      voteSignBytes('a', { ...vote, height: 2n }),
      voteSignBytes('a', { ...vote, round: 1 }),
      voteSignBytes('a', { ...vote, blockId: other }),
      voteSignBytes('a', { ...vote, timeNs: 6n }),
    ].map(hexOf);
    expect(new Set(all).size).toBe(all.length);
  });
});
