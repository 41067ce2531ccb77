// The judge of a chaos run must be able to condemn: each violation that it looks for is put before it.

import * as fs from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Boot } from '../../../actors/turn.ts';
import { encodeRecord } from '../../../actors/validator/logbook.ts';
import { STORE_RANGE_KEY, storeRange } from '../../../machines/chain/keys.ts';
import { lastSignWords } from '../../../machines/privval/last-sign.ts';
import { EMPTY_BYTES, NIL_BLOCK_ID, type Vote } from '../../../protocol/types.ts';
import { encodeWords } from '../../../protocol/words.ts';
import { damageLogs } from '../../../runtime/cli/chaos/damage.ts';
import { Agreement, Problems, Signatures } from '../../../runtime/cli/chaos/facts.ts';
import { Promises } from '../../../runtime/cli/chaos/promises.ts';
import { openLog } from '../../../runtime/host/disk/log.ts';
import type { Replayed } from '../../../runtime/kernel/replay.ts';
import type { TraceRecord } from '../../../runtime/kernel/trace.ts';
import { Choices } from '../../../sim/choices.ts';
import { bytesOf, textsOf } from '../../compliance/bytes.ts';
import { temporaryFolder } from '../host/folders.ts';

const VOTE: Vote = {
  type: 2,
  height: 7n,
  round: 0,
  blockId: NIL_BLOCK_ID,
  timeNs: 5n,
  validatorAddress: new Uint8Array(20),
  validatorIndex: 0,
  signature: new Uint8Array(64),
  extension: EMPTY_BYTES,
  extensionSignature: EMPTY_BYTES,
};

describe('facts', () => {
  test('a second word that differs is a violation, an equal one is not', () => {
    const problems = new Problems();
    const agreement = new Agreement(problems);
    agreement.claim('app hash', 7n, bytesOf('a'), 'node0');
    agreement.claim('app hash', 7n, bytesOf('a'), 'node1');
    agreement.claim('app hash', 8n, bytesOf('b'), 'node1');
    agreement.claim('block', 7n, bytesOf('b'), 'node1');
    expect(problems.count).toBe(0);
    agreement.claim('app hash', 7n, bytesOf('b'), 'node2');
    expect(problems.told).toEqual(['app hash of height 7: node2 differs from node0']);
  });

  test.each([
    ['another time', { timeNs: 6n }, 1],
    ['another block', { blockId: { ...NIL_BLOCK_ID, hash: new Uint8Array(32).fill(1) } }, 1],
    ['another round', { round: 1 }, 0],
    ['another step', { type: 1 }, 0],
    ['another key', { validatorAddress: new Uint8Array(20).fill(1) }, 0],
    ['the same again', {}, 0],
  ])('a second signature with %s', (_, change, violations) => {
    const problems = new Problems();
    const signatures = new Signatures(problems, 'chain');
    signatures.vote(VOTE, 'a commit');
    signatures.vote({ ...VOTE, ...change }, 'a recording');
    expect(problems.count).toBe(violations);
  });
});

describe('promises over a kill', () => {
  const EMPTY: Boot = { logs: [[]], stores: [] };
  const boot = (actor: string, content: Boot): [TraceRecord, Replayed] => [
    { kind: 'boot', boot: content } as unknown as TraceRecord,
    { actor, message: null } as unknown as Replayed,
  ];
  const turn = (actor: string, message: unknown): [TraceRecord, Replayed] => [
    { kind: 'turn' } as unknown as TraceRecord,
    { actor, message } as unknown as Replayed,
  ];
  const signed = turn('validator', { type: 'signed-vote', vote: VOTE });
  const executed = turn('app', {
    type: 'request',
    request: { type: 'finalize-block', value: { height: 7n } },
  });
  const signerLog = (step: number): Boot => ({
    logs: [[encodeWords(lastSignWords, { ...VOTE, step, signBytes: EMPTY_BYTES })]],
    stores: [],
  });
  const disk = (stored: bigint, ended: bigint): Boot => ({
    logs: [[encodeRecord({ type: 'end-height', height: ended })]],
    stores: [[], [{ key: STORE_RANGE_KEY, value: encodeWords(storeRange, { base: 1n, height: stored }) }]],
  });
  const judged = (...records: readonly [TraceRecord, Replayed][]): readonly string[] => {
    const problems = new Problems();
    const promises = new Promises('it', problems);
    for (const [record, done] of records) promises.look(record, done);
    return problems.told;
  };

  test('a signature that left is known to the next life', () => {
    expect(judged(signed, boot('signer', signerLog(3)))).toEqual([]);
    expect(judged(signed, boot('signer', signerLog(2)))).toEqual([
      'it: it had signed 7/0/3, and its signer woke up with 7/0/2',
    ]);
    expect(judged(signed, boot('signer', EMPTY))).toHaveLength(1);
    expect(judged(boot('signer', EMPTY))).toEqual([]);
  });

  test('a block that was executed is in the store, and its end in the log', () => {
    expect(judged(executed, boot('validator', disk(7n, 7n)))).toEqual([]);
    expect(judged(executed, boot('validator', disk(8n, 8n)))).toEqual([]);
    expect(judged(executed, boot('validator', disk(6n, 7n)))).toEqual([
      'it: block 7 was executed, and its store woke up at 6',
    ]);
    expect(judged(executed, boot('validator', disk(7n, 6n)))).toEqual([
      'it: its log woke up without the end of height 7',
    ]);
  });
});

test('damage keeps what was synced, cuts what was not, and the log opens', async () => {
  const home = temporaryFolder();
  const path = join(home, 'data', 'consensus.log');
  fs.mkdirSync(join(home, 'data'));
  const chance = new Choices({ seed: 1 }, 'forget').stream('test');
  let cuts = 0;
  for (let round = 0; round < 20; round++) {
    fs.rmSync(path, { force: true });
    const log = openLog(path);
    for (let i = 0; i < 5; i++) log.append(bytesOf(`synced ${i}`));
    await log.close();
    const mark = fs.readFileSync(`${path}.synced`);
    const late = openLog(path);
    for (let i = 0; i < 5; i++) late.append(bytesOf(`late ${i}`));
    await late.close();
    fs.writeFileSync(`${path}.synced`, mark); // as if killed before the second sync
    const { cut } = damageLogs(home, chance);
    if (cut > 0) cuts++;
    const again = openLog(path, { refuseCorruption: true });
    const found = textsOf(again.read());
    expect(found.slice(0, 5)).toEqual([0, 1, 2, 3, 4].map((i) => `synced ${i}`));
    expect(found.length).toBeLessThanOrEqual(10);
    await again.close();
  }
  expect(cuts).toBeGreaterThan(10);
});

test('damage cuts nothing of a log whose mark says nothing: all of it may be durable', async () => {
  const home = temporaryFolder();
  const path = join(home, 'data', 'privval.log');
  fs.mkdirSync(join(home, 'data'));
  const log = openLog(path);
  for (let i = 0; i < 5; i++) log.append(bytesOf(`synced ${i}`));
  await log.close();
  const content = fs.readFileSync(path);
  const rotten = fs.readFileSync(`${path}.synced`);
  rotten[0]! ^= 1;
  // A process that is killed may have made its mark, and not yet written it.
  for (const mark of [null, new Uint8Array(0), new Uint8Array(12), bytesOf('rubbish'), rotten]) {
    for (const seed of [1, 2, 3, 4]) {
      fs.writeFileSync(path, content);
      fs.rmSync(`${path}.synced`, { force: true });
      if (mark) fs.writeFileSync(`${path}.synced`, mark);
      const { cut } = damageLogs(home, new Choices({ seed }, 'forget').stream('test'));
      expect([cut, fs.readFileSync(path).subarray(0, content.length).equals(content)]).toEqual([0, true]);
    }
  }
});
