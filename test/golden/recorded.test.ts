// Recordings of real nodes: their blocks hash to what they say, their keys are whole, their ABCI bytes come
// back as they were.

import { describe, expect } from 'vitest';
import { bytesOfHex, equalBytes, hexOf, hexUpperOf } from '../../protocol/bytes.ts';
import { Request, Response } from '../../protocol/gen/abci.ts';
import {
  commitHash,
  dataHash,
  evidenceListHash,
  headerHash,
  paramsHash,
  validatorsHash,
} from '../../protocol/hashes.ts';
import {
  blockIdOfJson,
  blockOfJson,
  commitOfJson,
  formatGenesis,
  headerOfJson,
  nodeIdOf,
  parseGenesis,
  parseNodeKey,
  parsePrivValidatorKey,
} from '../../protocol/json/index.ts';
import { splitIntoParts } from '../../protocol/part-set.ts';
import { isRefusal } from '../../protocol/refusal.ts';
import { voteSignBytes } from '../../protocol/sign-bytes.ts';
import { signMessage, verifySignature } from '../../protocol/signatures.ts';
import {
  type Block,
  type Commit,
  FLAG_ABSENT,
  FLAG_COMMIT,
  type Genesis,
  NIL_BLOCK_ID,
  PRECOMMIT,
} from '../../protocol/types.ts';
import { validateBlock, validateCommit } from '../../protocol/validate.ts';
import {
  decodeAbciRequest,
  decodeAbciResponse,
  decodeBlock,
  encodeAbciRequest,
  encodeAbciResponse,
  encodeBlock,
} from '../../protocol/wire/index.ts';
import { goldenFolder, okay } from './folder.ts';

/** Its spaces are not kept. */
const jsonOf = (bytes: Uint8Array): unknown =>
  bytes.length === 0 ? null : JSON.parse(new TextDecoder().decode(bytes));

type Json = { readonly [key: string]: Json } & readonly Json[] & string;

/** All objects anywhere in a document that have these members. */
function holding(value: unknown, members: readonly string[]): Json[] {
  if (typeof value !== 'object' || value === null) return [];
  const inside = Object.values(value).flatMap((inner) => holding(inner, members));
  return members.every((member) => member in value) ? [value as Json, ...inside] : inside;
}

function checkBlock(json: Json, idJson: Json | undefined): Block {
  const block = okay(blockOfJson(json));
  const { header, lastCommit } = block;
  expect(hexUpperOf(dataHash(block.txs))).toBe(hexUpperOf(header.dataHash));
  expect(hexUpperOf(evidenceListHash(block.evidence))).toBe(hexUpperOf(header.evidenceHash));
  if (lastCommit) expect(hexUpperOf(commitHash(lastCommit))).toBe(hexUpperOf(header.lastCommitHash));
  const bytes = encodeBlock(block);
  expect(decodeBlock(bytes)).toStrictEqual(block);
  expect(validateBlock(block)).toBeNull();
  if (idJson) {
    const id = okay(blockIdOfJson(idJson));
    expect(hexUpperOf(headerHash(header))).toBe(hexUpperOf(id.hash));
    expect(splitIntoParts(bytes).header).toStrictEqual(id.parts);
  }
  return block;
}

function checkCommit(commit: Commit, genesis: Genesis): void {
  commit.signatures.forEach((sig, i) => {
    if (sig.flag === FLAG_ABSENT) return;
    const blockId = sig.flag === FLAG_COMMIT ? commit.blockId : NIL_BLOCK_ID;
    const { height, round } = commit;
    const vote = { type: PRECOMMIT, height, round, blockId, timeNs: sig.timeNs };
    const key = genesis.validators[i]!.publicKey;
    expect(verifySignature(key, voteSignBytes(genesis.chainId, vote), sig.signature)).toBe(true);
  });
}

const { file, files, read } = goldenFolder('tendermint-rs');

for (const recording of ['rpc_kvstore_v0_34', 'rpc_kvstore_v0_37', 'rpc_kvstore_v0_38', 'rpc_gaia']) {
  describe(recording, () => {
    files(`${recording}/incoming`, 'blocks re-hash', (contents) => {
      let blocks = 0;
      for (const holder of contents.flatMap(([, content]) => holding(content, ['block']))) {
        // Parameters have a member of that name too, and so have versions.
        if (holding(holder['block'], ['header', 'last_commit'])[0] !== holder['block']) continue;
        checkBlock(holder['block']!, holder['block_id']);
        blocks++;
      }
      expect(blocks).toBeGreaterThan(0);
    });

    files(`${recording}/incoming`, 'block metas, signed headers and genesis agree', (contents) => {
      const all = contents.map(([, content]) => content);
      for (const meta of holding(all, ['block_id', 'header'])) {
        const id = okay(blockIdOfJson(meta['block_id']));
        expect(hexUpperOf(headerHash(okay(headerOfJson(meta['header']))))).toBe(hexUpperOf(id.hash));
      }
      for (const { signed_header: signed } of holding(all, ['signed_header'])) {
        const commit = okay(commitOfJson(signed!['commit']));
        expect(validateCommit(commit)).toBeNull();
        expect(equalBytes(headerHash(okay(headerOfJson(signed!['header']))), commit.blockId.hash)).toBe(true);
      }
      for (const { genesis: document } of holding(all, ['genesis'])) {
        const genesis = okay(parseGenesis(JSON.stringify(document)));
        const again = okay(parseGenesis(formatGenesis(genesis)));
        expect({ ...again, appState: jsonOf(again.appState) }).toStrictEqual({
          ...genesis,
          appState: jsonOf(genesis.appState),
        });
      }
    });
  });
}

for (const recording of ['rpc_kvstore_v0_34', 'rpc_kvstore_v0_37', 'rpc_kvstore_v0_38']) {
  describe(`${recording} against its genesis`, () => {
    file<Json>(`${recording}/incoming/genesis.json`, 'validators, parameters and signatures', (content) => {
      const genesis = okay(parseGenesis(JSON.stringify(content['result']!['genesis'])));
      const validators = genesis.validators.map((validator) => ({ ...validator, priority: 0n }));
      const setHash = validatorsHash({ validators, proposer: null, powerTotal: 0n });
      for (const name of ['block_at_height_1.json', 'block_at_height_10.json', 'commit_at_height_10.json']) {
        const response = read(`${recording}/incoming/${name}`) as Json;
        const result = response['result']!;
        const headerJson = (result['block'] ?? result['signed_header'])!['header'];
        const header = okay(headerOfJson(headerJson));
        expect(hexUpperOf(setHash)).toBe(hexUpperOf(header.validatorsHash));
        expect(hexUpperOf(paramsHash(genesis.consensusParams))).toBe(hexUpperOf(header.consensusHash));
        const commitJson = result['block']?.['last_commit'] ?? result['signed_header']!['commit'];
        checkCommit(okay(commitOfJson(commitJson)), genesis);
      }
    });
  });
}

describe('serialization', () => {
  file<Json>('serialization/header_with_known_hash.json', 'a header hashes as known', (content) => {
    const known = 'F30A71F2409FB15AACAEDB6CC122DFA2525BEE9CAE521721B06BFDCA291B8D56';
    expect(hexUpperOf(headerHash(okay(headerOfJson(content))))).toBe(known);
  });
  file<Json>('serialization/header.json', 'an old header parses', (content) => {
    const header = okay(headerOfJson(content));
    expect(header.height).toBe(15n);
    expect(header.lastBlockId.parts.total).toBe(1);
  });
});

describe('config', () => {
  file<Json>('config/node_key.json', 'a node key', (content) => {
    const pair = okay(parseNodeKey(JSON.stringify(content)));
    expect(nodeIdOf(pair.publicKey)).toBe(hexOf(pair.address));
  });
  for (const kind of ['ed25519', 'secp256k1']) {
    file<Json>(`config/priv_validator_key.${kind}.json`, `a ${kind} validator key`, (content) => {
      const { pair, legacyState } = okay(parsePrivValidatorKey(JSON.stringify(content)));
      expect(hexUpperOf(pair.address)).toBe(content['address']);
      expect(Buffer.from(pair.publicKey.bytes).toString('base64')).toBe(content['pub_key']!['value']);
      expect(legacyState).toBeNull();
      const message = Uint8Array.of(1, 2, 3);
      expect(verifySignature(pair.publicKey, message, signMessage(pair, message))).toBe(true);
    });
  }
});

describe('an ABCI socket', () => {
  interface Frame {
    readonly connection: number;
    readonly from: 'engine' | 'app';
    readonly bytes: string;
  }
  /** Cuts length-prefixed frames. */
  function* framesOf(bytes: Uint8Array): Generator<Uint8Array> {
    for (let at = 0; at < bytes.length; ) {
      let length = 0;
      for (let shift = 0; ; shift += 7) {
        const byte = bytes[at++]!;
        length |= (byte & 127) << shift;
        if (byte < 128) break;
      }
      yield bytes.subarray(at, at + length);
      at += length;
    }
  }
  const rpc = goldenFolder('cometbft-rpc');
  rpc.file<readonly Frame[]>('abci-socket.json', 'every message comes back as it was', (frames) => {
    const sides = new Map<string, string>();
    for (const { connection, from, bytes } of frames) {
      sides.set(`${connection} ${from}`, (sides.get(`${connection} ${from}`) ?? '') + bytes);
    }
    const spoken = new Set<string>();
    for (const [side, text] of sides) {
      for (const frame of framesOf(bytesOfHex(text)!)) {
        const fromEngine = side.endsWith('engine');
        const generated = fromEngine ? Request.decode(frame) : Response.decode(frame);
        const again = fromEngine
          ? Request.encode(generated as Request)
          : Response.encode(generated as Response);
        expect(hexOf(again.finish())).toBe(hexOf(frame));
        const kind = generated.value!.$case;
        if (kind === 'flush' || kind === 'echo') continue; // the socket's own
        spoken.add(`${side.split(' ')[1]} ${kind}`);
        const message = fromEngine ? decodeAbciRequest(frame) : decodeAbciResponse(frame);
        expect(isRefusal(message)).toBe(false);
        const encoded = fromEngine
          ? encodeAbciRequest(message as never)
          : encodeAbciResponse(message as never);
        expect(hexOf(encoded), kind).toBe(hexOf(frame));
      }
    }
    expect([...spoken]).toContain('engine finalizeBlock');
    expect([...spoken]).toContain('app finalizeBlock');
  });
});
