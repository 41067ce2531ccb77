// The words against vectors from CometBFT's own tests, and values derived from them.

import { createBase58check } from '@scure/base';
import { describe, expect } from 'vitest';
import { sha256, utf8Encode } from '#platform';
import type { AbciRequest, AbciResponse } from '../../protocol/abci.ts';
import { bytesOfHex, concatBytes, hexOf, hexUpperOf } from '../../protocol/bytes.ts';
import * as gen from '../../protocol/gen/abci.ts';
import { dataHash, headerHash, paramsHash, resultsHash, validatorsHash } from '../../protocol/hashes.ts';
import { headerOfJson } from '../../protocol/json/index.ts';
import { addressOf, ed25519FromSecret, secp256k1KeyPairOf } from '../../protocol/keys.ts';
import { innerHash, leafHash, merkleRoot, splitPoint } from '../../protocol/merkle.ts';
import { splitIntoParts } from '../../protocol/part-set.ts';
import { proposalSignBytes, voteExtensionSignBytes, voteSignBytes } from '../../protocol/sign-bytes.ts';
import { verifySignature } from '../../protocol/signatures.ts';
import { parseTime } from '../../protocol/time.ts';
import {
  type BlockId,
  EMPTY_BYTES,
  NIL_BLOCK_ID,
  PROPOSAL,
  type PublicKey,
  ZERO_TIME_NS,
} from '../../protocol/types.ts';
import {
  decodeAbciRequest,
  decodeAbciResponse,
  encodeAbciRequest,
  encodeAbciResponse,
  encodeCommitSig,
  encodeSimpleValidator,
} from '../../protocol/wire/index.ts';
import { big, goldenFolder, okay } from './folder.ts';

const { file } = goldenFolder('cometbft');
const hex = (text: string): Uint8Array => bytesOfHex(text) ?? expect.unreachable(`not hex: ${text}`);

interface IdCase {
  readonly hash: string;
  readonly parts: { readonly total: number; readonly hash: string };
}
const idOf = (id: IdCase | null | undefined): BlockId =>
  id ? { hash: hex(id.hash), parts: { total: id.parts.total, hash: hex(id.parts.hash) } } : NIL_BLOCK_ID;
const ed25519 = (key: string): PublicKey => ({ type: 'ed25519', bytes: hex(key) });

describe('merkle.json', () => {
  interface Merkle {
    roots: { items_hex: string[]; root: string }[];
    leaf: { data_utf8: string; leaf_hash: string }[];
    inner: { left_utf8: string; right_utf8: string; hash: string }[];
    split_point: { n: number; k: number }[];
  }
  file<Merkle>('merkle.json', 'roots, leaves, inner nodes, split points', (merkle) => {
    for (const { items_hex, root } of merkle.roots) expect(hexOf(merkleRoot(items_hex.map(hex)))).toBe(root);
    for (const { data_utf8, leaf_hash } of merkle.leaf) {
      expect(hexOf(leafHash(utf8Encode(data_utf8)))).toBe(leaf_hash);
    }
    for (const { left_utf8, right_utf8, hash } of merkle.inner) {
      expect(hexOf(innerHash(utf8Encode(left_utf8), utf8Encode(right_utf8)))).toBe(hash);
    }
    for (const { n, k } of merkle.split_point) expect(splitPoint(n)).toBe(k);
  });
});

describe('header_hash.json', () => {
  interface HeaderHash {
    cases: { header?: Record<string, unknown>; hash?: string; note: string }[];
  }
  /** `sha256:x` and `sha256-20:x` stand for hashes of texts. */
  const filled = (value: unknown): unknown => {
    if (typeof value !== 'string') return value;
    if (value.startsWith('sha256-20:'))
      return hexUpperOf(sha256(utf8Encode(value.slice(10))).subarray(0, 20));
    return value.startsWith('sha256:') ? hexUpperOf(sha256(utf8Encode(value.slice(7)))) : value;
  };
  file<HeaderHash>('header_hash.json', 'headers hash', ({ cases }) => {
    for (const { header, hash } of cases) {
      if (!header || !hash) continue;
      const json = Object.fromEntries(Object.entries(header).map(([key, value]) => [key, filled(value)]));
      const domain = okay(headerOfJson(json));
      expect(hexUpperOf(headerHash(domain))).toBe(hash);
      expect(headerHash({ ...domain, validatorsHash: EMPTY_BYTES })).toHaveLength(0);
    }
  });
});

describe('keys.json', () => {
  interface Keys {
    ed25519: { secret_utf8: string; pub: string }[];
    secp256k1: { priv: string; pub: string; address_base58check_v0: string }[];
  }
  file<Keys>('keys.json', 'key pairs and addresses', (keys) => {
    for (const { secret_utf8, pub } of keys.ed25519) {
      expect(hexOf(ed25519FromSecret(secret_utf8).publicKey.bytes)).toBe(pub);
    }
    for (const { priv, pub, address_base58check_v0 } of keys.secp256k1) {
      const pair = secp256k1KeyPairOf(hex(priv))!;
      expect(hexOf(pair.publicKey.bytes)).toBe(pub);
      const base58 = createBase58check(sha256).encode(concatBytes(Uint8Array.of(0), pair.address));
      expect(base58).toBe(address_base58check_v0);
    }
  });
});

describe('vote_sign_bytes.json', () => {
  interface SignBytes {
    cases: {
      chain_id: string;
      vote: { type?: number; height?: number; round?: number; extension_utf8?: string };
      sign_bytes: string;
    }[];
  }
  file<SignBytes>('vote_sign_bytes.json', 'votes sign', ({ cases }) => {
    for (const { chain_id, vote, sign_bytes } of cases) {
      const { type = 0, height, round = 0 } = vote;
      const bytes = voteSignBytes(chain_id, {
        type,
        height: big(height),
        round,
        blockId: NIL_BLOCK_ID,
        timeNs: ZERO_TIME_NS,
      });
      expect(hexOf(bytes)).toBe(sign_bytes);
    }
  });
});

interface SignedCase {
  readonly chain_id: string;
  readonly type: number;
  readonly height: number | string;
  readonly round: number;
  readonly block_id: IdCase | null;
  readonly timestamp: string;
  readonly sign_bytes: string;
}
interface Derived {
  vote_sign_bytes: SignedCase[];
  proposal_sign_bytes: (SignedCase & { pol_round: number })[];
  vote_extension_sign_bytes: {
    chain_id: string;
    height: number;
    round: number;
    extension_utf8: string;
    sign_bytes: string;
  }[];
  consensus_params_hash: { max_bytes: number; max_gas: number; hash: string }[];
  results_hash: {
    results: { code: number; data_utf8?: string; gas_wanted?: number; gas_used?: number }[];
    hash: string;
  }[];
  data_hash: { txs_utf8: string[]; hash: string }[];
  absent_commit_sig_proto: { hex: string };
  abci_messages: { name: string; hex: string }[];
  real_precommits: (SignedCase & { pub_key: string; signature: string })[];
  part_set: { total: number; hash: string; leaf_hashes: string[] };
  address: { pub_key_ed25519?: string; pub_key_secp256k1?: string; address: string }[];
  validator_set_hash: {
    validators: { pub_key_ed25519: string; power: number }[];
    leaf: string;
    hash: string;
  }[];
}

const signedOf = (one: SignedCase) => ({
  type: one.type,
  height: big(one.height),
  round: one.round,
  blockId: idOf(one.block_id),
  timeNs: okay(parseTime(one.timestamp)),
});

describe('derived.json: sign bytes', () => {
  file<Derived>('derived.json', 'votes, proposals, extensions', (derived) => {
    for (const one of derived.vote_sign_bytes) {
      expect(hexOf(voteSignBytes(one.chain_id, signedOf(one)))).toBe(one.sign_bytes);
    }
    for (const one of derived.proposal_sign_bytes) {
      const proposal = { ...signedOf(one), type: PROPOSAL, polRound: one.pol_round };
      expect(hexOf(proposalSignBytes(one.chain_id, proposal))).toBe(one.sign_bytes);
    }
    for (const one of derived.vote_extension_sign_bytes) {
      const vote = { height: big(one.height), round: one.round, extension: utf8Encode(one.extension_utf8) };
      expect(hexOf(voteExtensionSignBytes(one.chain_id, vote))).toBe(one.sign_bytes);
    }
  });

  file<Derived>('derived.json', 'precommits of real chains verify', (derived) => {
    for (const one of derived.real_precommits) {
      const bytes = voteSignBytes(one.chain_id, signedOf(one));
      expect(hexOf(bytes)).toBe(one.sign_bytes);
      expect(verifySignature(ed25519(one.pub_key), bytes, hex(one.signature))).toBe(true);
    }
  });
});

describe('derived.json: hashes', () => {
  file<Derived>('derived.json', 'parameters, results, data', (derived) => {
    for (const { max_bytes, max_gas, hash } of derived.consensus_params_hash) {
      expect(hexUpperOf(paramsHash({ block: { maxBytes: big(max_bytes), maxGas: big(max_gas) } }))).toBe(
        hash,
      );
    }
    for (const { results, hash } of derived.results_hash) {
      const domain = results.map((result) => ({
        code: result.code,
        data: utf8Encode(result.data_utf8 ?? ''),
        gasWanted: big(result.gas_wanted),
        gasUsed: big(result.gas_used),
        log: 'not hashed',
        info: '',
        events: [],
        codespace: '',
      }));
      expect(hexUpperOf(resultsHash(domain))).toBe(hash);
    }
    for (const { txs_utf8, hash } of derived.data_hash) {
      expect(hexUpperOf(dataHash(txs_utf8.map((text) => utf8Encode(text))))).toBe(hash);
    }
  });

  file<Derived>('derived.json', 'validator sets and addresses', (derived) => {
    for (const { validators, leaf, hash } of derived.validator_set_hash) {
      const members = validators.map(({ pub_key_ed25519, power }) => {
        const publicKey = ed25519(pub_key_ed25519);
        return { address: addressOf(publicKey), publicKey, power: big(power), priority: 0n };
      });
      expect(hexOf(encodeSimpleValidator(members[0]!))).toBe(leaf);
      expect(hexUpperOf(validatorsHash({ validators: members, proposer: null, powerTotal: 0n }))).toBe(hash);
    }
    for (const { pub_key_ed25519, pub_key_secp256k1, address } of derived.address) {
      const key: PublicKey = pub_key_secp256k1
        ? { type: 'secp256k1', bytes: hex(pub_key_secp256k1) }
        : ed25519(pub_key_ed25519!);
      expect(hexUpperOf(addressOf(key))).toBe(address);
    }
  });

  file<Derived>('derived.json', 'part sets and the absent signature', (derived) => {
    const bytes = Uint8Array.from({ length: 2 * 65_536 + 1000 }, (_, i) => i % 251);
    const { header, parts } = splitIntoParts(bytes);
    expect(header.total).toBe(derived.part_set.total);
    expect(hexUpperOf(header.hash)).toBe(derived.part_set.hash);
    expect(parts.map((part) => hexOf(part.proof.leafHash))).toEqual(derived.part_set.leaf_hashes);
    const absent = { flag: 1, validatorAddress: EMPTY_BYTES, timeNs: ZERO_TIME_NS, signature: EMPTY_BYTES };
    expect(hexOf(encodeCommitSig(absent))).toBe(derived.absent_commit_sig_proto.hex);
  });
});

describe('derived.json: ABCI', () => {
  const framed = (bytes: Uint8Array): string => hexOf(concatBytes(Uint8Array.of(bytes.length), bytes));
  const ours: Record<string, AbciRequest | AbciResponse> = {
    'Request info {version 0.38.25, block_version 11, p2p_version 8, abci_version 2.0.0} framed': {
      type: 'info',
      value: { version: '0.38.25', blockVersion: 11n, p2pVersion: 8n, abciVersion: '2.0.0' },
    },
    'Request check_tx {tx "a=b", type NEW} framed': {
      type: 'check-tx',
      value: { tx: utf8Encode('a=b'), type: 0 },
    },
    'Request check_tx {tx "a=b", type RECHECK} framed': {
      type: 'check-tx',
      value: { tx: utf8Encode('a=b'), type: 1 },
    },
    'Request commit framed': { type: 'commit', value: {} },
    'Response process_proposal ACCEPT framed': { type: 'process-proposal', value: { status: 1 } },
    'Response exception "boom" framed': { type: 'exception', value: { error: 'boom' } },
  };
  file<Derived>('derived.json', 'frames', (derived) => {
    for (const { name, hex: bytes } of derived.abci_messages) {
      const payload = hex(bytes).subarray(1);
      const isRequest = name.startsWith('Request');
      const codec = isRequest ? gen.Request : gen.Response;
      expect(framed(codec.encode(codec.decode(payload) as never).finish())).toBe(bytes);
      const message = ours[name];
      if (!message) continue; // echo and flush belong to the socket
      expect(isRequest ? decodeAbciRequest(payload) : decodeAbciResponse(payload)).toEqual(message);
      const encoded = isRequest
        ? encodeAbciRequest(message as AbciRequest)
        : encodeAbciResponse(message as AbciResponse);
      expect(framed(encoded)).toBe(bytes);
    }
  });
});
