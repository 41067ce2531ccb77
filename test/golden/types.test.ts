// The words against CometBFT's own answers: encodings, hashes, sign bytes, proofs, part sets.

import { describe, expect } from 'vitest';
import type { ExecTxResult } from '../../protocol/abci.ts';
import { bytesOfBase64, bytesOfHex, hexOf, hexUpperOf } from '../../protocol/bytes.ts';
import {
  commitHash,
  dataHash,
  evidenceIdentity,
  evidenceListHash,
  headerHash,
  paramsHash,
  resultsHash,
  txHash,
} from '../../protocol/hashes.ts';
import {
  blockOfJson,
  evidenceOfJson,
  formatNodeKey,
  headerOfJson,
  merkleProofOfJson,
  nodeIdOf,
  paramsForm,
  paramsOfJson,
  parseNodeKey,
  partSetHeaderOfJson,
  proposalOfJson,
  voteOfJson,
} from '../../protocol/json/index.ts';
import { ed25519FromSecret } from '../../protocol/keys.ts';
import { merkleProofForm, merkleProofs, merkleRoot, verifyMerkleProof } from '../../protocol/merkle.ts';
import { PartSet, splitIntoParts } from '../../protocol/part-set.ts';
import { DEFAULT_PARAMS } from '../../protocol/rules/params.ts';
import { proposalSignBytes, voteExtensionSignBytes, voteSignBytes } from '../../protocol/sign-bytes.ts';
import { signMessage, verifySignature } from '../../protocol/signatures.ts';
import { EMPTY_BYTES } from '../../protocol/types.ts';
import { validateBlock, validateEvidence, validateProposal, validateVote } from '../../protocol/validate.ts';
import {
  decodeBareEvidence,
  decodeBlock,
  decodeConsensusMessage,
  decodeEvidence,
  decodeHeader,
  decodeProposal,
  decodeVote,
  encodeBareEvidence,
  encodeBlock,
  encodeConsensusMessage,
  encodeEvidence,
  encodeHeader,
  encodeProposal,
  encodeVote,
} from '../../protocol/wire/index.ts';
import * as canonicalBlock from '../../sim/oracles/canonical/block.ts';
import * as canonical from '../../sim/oracles/canonical/bytes.ts';
import { big, goldenFolder, okay } from './folder.ts';

const { file } = goldenFolder('cometbft-go');
const FILE = 'types.json';
const CHAIN = 'golden';
const hex = (text: string): Uint8Array => bytesOfHex(text) ?? expect.unreachable(`not hex: ${text}`);
const orEmpty = <T>(values: readonly T[] | null | undefined): readonly T[] => values ?? [];

interface ResultCase {
  readonly code?: number;
  readonly data?: string | null;
  readonly gas_wanted?: string;
  readonly gas_used?: string;
  readonly log?: string;
}

const resultOfCase = (result: ResultCase): ExecTxResult => ({
  code: result.code ?? 0,
  data: bytesOfBase64(result.data ?? '') ?? EMPTY_BYTES,
  log: result.log ?? '',
  info: '',
  gasWanted: big(result.gas_wanted),
  gasUsed: big(result.gas_used),
  events: [],
  codespace: '',
});

interface Signed {
  readonly json: unknown;
  readonly proto: string;
  readonly pub_key: string;
  readonly sign_bytes: string;
  readonly signature: string;
}
interface VoteCase extends Signed {
  readonly chain_id: string;
  readonly secret: string;
  readonly seed: string;
  readonly extension_sign_bytes: string;
  readonly extension_signature: string;
}
interface BlockCase {
  readonly json: unknown;
  readonly proto: string;
  readonly size: number;
  readonly hash: string;
  readonly data_hash: string;
  readonly evidence_hash: string;
  readonly last_commit_hash: string;
  readonly part_set_header: unknown;
  readonly part_0_proof: unknown;
}
interface Types {
  readonly headers: readonly { hash: string; json: unknown; proto: string }[] | null;
  readonly votes: readonly VoteCase[] | null;
  readonly proposals: readonly Signed[] | null;
  readonly merkle: readonly { items: string[] | null; proofs: unknown[] | null; root: string }[] | null;
  readonly consensus_params: readonly { hash: string; json: unknown }[] | null;
  readonly defaults: { consensus_params: unknown; consensus_params_hash: string };
  readonly results: readonly { hash: string; results: ResultCase[] | null }[] | null;
  readonly blocks: readonly BlockCase[] | null;
  readonly evidence: readonly { kind: string; bytes: string; hash: string; json: unknown }[] | null;
  readonly node_keys: readonly { address: string; node_id: string; pub_key: string; json: unknown }[] | null;
  readonly txs: readonly { tx: string; hash: string; key: string }[] | null;
}

describe('headers', () => {
  file<Types>(FILE, 'encode, decode and hash', (types) => {
    for (const { hash, json, proto } of orEmpty(types.headers)) {
      const header = okay(headerOfJson(json));
      expect(hexOf(encodeHeader(header))).toBe(proto);
      expect(decodeHeader(hex(proto))).toStrictEqual(header);
      expect(hexOf(headerHash(header))).toBe(hash);
    }
  });
});

describe('votes and proposals', () => {
  file<Types>(FILE, 'votes encode, decode and sign', (types) => {
    for (const one of orEmpty(types.votes)) {
      const vote = okay(voteOfJson(one.json));
      const key = { type: 'ed25519', bytes: hex(one.pub_key) } as const;
      const signBytes = voteSignBytes(one.chain_id, vote);
      expect(validateVote(vote)).toBeNull();
      expect(hexOf(encodeVote(vote))).toBe(one.proto);
      expect(decodeVote(hex(one.proto))).toStrictEqual(vote);
      expect(hexOf(signBytes)).toBe(one.sign_bytes);
      expect(verifySignature(key, signBytes, hex(one.signature))).toBe(true);
      const extension = voteExtensionSignBytes(one.chain_id, vote);
      expect(hexOf(extension)).toBe(one.extension_sign_bytes);
      expect(hexOf(vote.extensionSignature)).toBe(one.extension_signature);
      if (one.extension_signature !== '') {
        expect(verifySignature(key, extension, hex(one.extension_signature))).toBe(true);
      }
    }
  });

  file<Types>(FILE, 'our signatures over the same bytes are the same', (types) => {
    for (const one of orEmpty(types.votes)) {
      const pair = ed25519FromSecret(one.secret);
      expect(hexOf(pair.seed)).toBe(one.seed);
      expect(hexOf(pair.publicKey.bytes)).toBe(one.pub_key);
      expect(hexOf(signMessage(pair, hex(one.sign_bytes)))).toBe(one.signature);
    }
  });

  file<Types>(FILE, 'votes travel as messages', (types) => {
    for (const one of orEmpty(types.votes)) {
      const vote = okay(voteOfJson(one.json));
      const bytes = encodeConsensusMessage({ type: 'vote', vote });
      expect(decodeConsensusMessage(bytes)).toStrictEqual({ type: 'vote', vote });
    }
  });

  file<Types>(FILE, 'proposals encode, decode and sign', (types) => {
    for (const one of orEmpty(types.proposals)) {
      const proposal = okay(proposalOfJson(one.json));
      const signBytes = proposalSignBytes(CHAIN, proposal);
      expect(validateProposal(proposal)).toBeNull();
      expect(hexOf(encodeProposal(proposal))).toBe(one.proto);
      expect(decodeProposal(hex(one.proto))).toStrictEqual(proposal);
      expect(hexOf(signBytes)).toBe(one.sign_bytes);
      expect(
        verifySignature({ type: 'ed25519', bytes: hex(one.pub_key) }, signBytes, hex(one.signature)),
      ).toBe(true);
    }
  });
});

describe('Merkle trees', () => {
  file<Types>(FILE, 'roots and proofs', (types) => {
    for (const one of orEmpty(types.merkle)) {
      const items = orEmpty(one.items).map(hex);
      const { root, proofs } = merkleProofs(items);
      expect(hexOf(root)).toBe(one.root);
      expect(hexOf(merkleRoot(items))).toBe(one.root);
      expect(proofs).toStrictEqual(orEmpty(one.proofs).map((proof) => okay(merkleProofOfJson(proof))));
      proofs.forEach((proof, i) => {
        expect(merkleProofForm(proof)).toBeNull();
        expect(verifyMerkleProof(proof, root, items[i]!)).toBe(true);
        expect(verifyMerkleProof(proof, root, Uint8Array.of(1, ...items[i]!))).toBe(false);
      });
    }
  });
});

describe('parameters, results, transactions', () => {
  file<Types>(FILE, 'parameters hash', (types) => {
    for (const { hash, json } of orEmpty(types.consensus_params)) {
      const params = okay(paramsOfJson(json));
      expect(hexOf(paramsHash(params))).toBe(hash);
      expect(paramsForm(params)).toEqual(json);
    }
    expect(okay(paramsOfJson(types.defaults.consensus_params))).toStrictEqual(DEFAULT_PARAMS);
    expect(hexOf(paramsHash(DEFAULT_PARAMS))).toBe(types.defaults.consensus_params_hash);
  });

  file<Types>(FILE, 'results hash', (types) => {
    for (const { hash, results } of orEmpty(types.results)) {
      expect(hexOf(resultsHash(orEmpty(results).map(resultOfCase)))).toBe(hash);
    }
  });

  file<Types>(FILE, 'transactions hash', (types) => {
    for (const { tx, hash, key } of orEmpty(types.txs)) {
      expect(hexOf(txHash(hex(tx)))).toBe(hash);
      expect(key).toBe(hash);
    }
  });
});

describe('blocks', () => {
  file<Types>(FILE, 'decode, validate, hash and encode back', (types) => {
    for (const one of orEmpty(types.blocks)) {
      const bytes = hex(one.proto);
      const block = okay(decodeBlock(bytes));
      expect(one.size).toBe(bytes.length);
      expect(hexOf(encodeBlock(block))).toBe(one.proto);
      expect(validateBlock(block)).toBeNull();
      expect(hexOf(headerHash(block.header))).toBe(one.hash);
      expect(hexOf(dataHash(block.txs))).toBe(one.data_hash);
      expect(hexOf(evidenceListHash(block.evidence))).toBe(one.evidence_hash);
      expect(hexOf(block.lastCommit ? commitHash(block.lastCommit) : EMPTY_BYTES)).toBe(one.last_commit_hash);
      if (one.json !== null) expect(okay(blockOfJson(one.json))).toStrictEqual(block);
    }
  });

  file<Types>(FILE, 'are written the same by the oracles', (types) => {
    for (const one of orEmpty(types.blocks)) {
      const block = okay(decodeBlock(hex(one.proto)));
      expect(hexOf(canonicalBlock.blockBytes(block))).toBe(one.proto);
      expect(hexOf(canonical.headerHash(block.header))).toBe(one.hash);
      expect(hexOf(canonical.evidenceHash(block.evidence))).toBe(one.evidence_hash);
      const { hash } = okay(partSetHeaderOfJson(one.part_set_header));
      expect(canonical.partsHash(hex(one.proto))).toStrictEqual(hash);
    }
  });

  file<Types>(FILE, 'fall into parts and come together', (types) => {
    for (const one of orEmpty(types.blocks)) {
      const bytes = hex(one.proto);
      const { header, parts } = splitIntoParts(bytes);
      expect(header).toStrictEqual(okay(partSetHeaderOfJson(one.part_set_header)));
      expect(parts[0]!.proof).toStrictEqual(okay(merkleProofOfJson(one.part_0_proof)));
      const set = new PartSet(header);
      for (const part of parts.toReversed()) {
        const message = { type: 'block-part', height: 1n, round: 0, part } as const;
        const heard = okay(decodeConsensusMessage(encodeConsensusMessage(message)));
        expect(heard).toStrictEqual(message);
        expect(set.isComplete).toBe(false);
        expect(set.add(part)).toBe('added');
        expect(set.add(part)).toBe('known');
      }
      expect(set.byteSize).toBe(one.size);
      expect(hexOf(set.bytes())).toBe(one.proto);
    }
  });
});

describe('evidence', () => {
  file<Types>(FILE, 'encodes bare, decodes, and has its identity', (types) => {
    for (const one of orEmpty(types.evidence)) {
      const kind = one.kind === 'duplicate_vote' ? 'duplicate-vote' : 'light-client-attack';
      const evidence = okay(decodeBareEvidence(kind, hex(one.bytes)));
      expect(evidence).toStrictEqual(okay(evidenceOfJson(one.json)));
      expect(hexOf(encodeBareEvidence(evidence))).toBe(one.bytes);
      expect(decodeEvidence(encodeEvidence(evidence))).toStrictEqual(evidence);
      expect(hexOf(evidenceIdentity(evidence))).toBe(one.hash);
      expect(validateEvidence(evidence)).toBeNull();
    }
  });

  file<Types>(FILE, 'is hashed the same by the oracles', (types) => {
    for (const { kind, bytes, json } of orEmpty(types.evidence)) {
      const evidence = okay(evidenceOfJson(json));
      expect(canonical.evidenceHash([evidence]), kind).toStrictEqual(merkleRoot([hex(bytes)]));
    }
  });
});

describe('node keys', () => {
  file<Types>(FILE, 'parse and print', (types) => {
    for (const one of orEmpty(types.node_keys)) {
      const text = JSON.stringify(one.json);
      const pair = okay(parseNodeKey(text));
      expect(hexOf(pair.publicKey.bytes)).toBe(one.pub_key);
      expect(hexUpperOf(pair.address)).toBe(one.address);
      expect(nodeIdOf(pair.publicKey)).toBe(one.node_id);
      expect(formatNodeKey(pair)).toBe(text);
    }
  });
});
