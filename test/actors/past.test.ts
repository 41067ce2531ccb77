// Validators of long ago, where they change with every block: memory holds those of few heights, and the store the rest.

import { expect, it } from 'vitest';
import { blockKey, validatorsKey } from '../../machines/chain/keys.ts';
import { hexOf } from '../../protocol/bytes.ts';
import { CHANNEL_EVIDENCE } from '../../protocol/messages.ts';
import { makeDuplicateVote } from '../../protocol/rules/evidence.ts';
import { PRECOMMIT } from '../../protocol/types.ts';
import { decodeBlock, decodeValidatorSet, encodeEvidenceList } from '../../protocol/wire/index.ts';
import { genesisOf, okay, person, someBlockId } from '../protocol/rules/people.ts';
import { copyDisk, type Disk, FakeApp, Home, newDisk, signedVote } from './home.ts';

/** Alone it decides at each start. */
const ALONE = genesisOf([10n]);
const HEIGHTS = 200n;

/** Its power after a block is the height of that block. */
function restless(): FakeApp {
  const app = new FakeApp();
  const { publicKey } = person(0);
  app.finalize = (height) => ({ validatorUpdates: [{ publicKey, power: height }] });
  return app;
}

function homeOfManySets(disk: Disk = { ...newDisk(), app: restless() }, effects: string[] = []): Home {
  return new Home({
    genesis: ALONE,
    me: 0,
    disk,
    crash: ({ type }) => {
      effects.push(type);
      return false;
    },
  });
}

function accuse(home: Home, height: bigint): void {
  const [one, two] = ['one', 'two'].map((name) =>
    signedVote(home, 0, PRECOMMIT, 0, someBlockId(name), { height }),
  );
  const { header } = okay(decodeBlock(home.disk.chain.get(hexOf(blockKey(height)))!.value));
  const set = okay(decodeValidatorSet(home.disk.chain.get(hexOf(validatorsKey(height)))!.value));
  const evidence = okay(makeDuplicateVote(one!, two!, header.timeNs, set));
  if (!home.state.views.has('peer')) home.peerUp('peer', 1000n);
  const payloads = [{ channel: CHANNEL_EVIDENCE, bytes: encodeEvidenceList([evidence]) }];
  home.tell({ type: 'heard', peer: 'peer', payloads });
}

const setsOf = (home: Home): number =>
  (home.state.history as unknown as { sets: readonly unknown[] }).sets.length;

it('memory holds the sets of few heights, also after a restart, and evidence of an old one is judged by the set of its height', () => {
  const effects: string[] = [];
  const home = homeOfManySets(undefined, effects);
  while (home.state.chain.lastBlockHeight < HEIGHTS) home.fire('start');
  expect(setsOf(home)).toBeLessThanOrEqual(131);
  expect(home.state.history.validators(50n)).toBeNull();
  const again = homeOfManySets(copyDisk(home.disk), effects);
  expect([again.halted, setsOf(again)]).toEqual([null, setsOf(home)]);
  for (const each of [home, again]) {
    const before = effects.filter((type) => type === 'load').length;
    accuse(each, 50n);
    expect(effects.filter((type) => type === 'load').length - before).toBe(2); // the block, the validators
    expect(each.scored).toEqual([]);
    const [pending] = each.state.evidencePool.inOrder();
    expect(pending?.evidence).toMatchObject({ validatorPower: 48n, powerTotal: 48n });
    each.fire('start');
    expect(each.state.evidencePool.hasPending).toBe(false);
    expect(each.state.history.validators(50n)).toBeNull(); // only as long as it was needed
  }
});

it('an application that has lost everything is told who voted at each height', () => {
  const home = homeOfManySets();
  while (home.state.chain.lastBlockHeight < HEIGHTS) home.fire('start');
  const disk = { ...copyDisk(home.disk), app: restless() };
  const voters: bigint[] = [];
  const { answer } = disk.app;
  disk.app.answer = (request) => {
    if (request.type === 'finalize-block' && request.value.height > 1n)
      voters.push(request.value.decidedLastCommit.votes[0]!.validator.power);
    return answer.call(disk.app, request);
  };
  const again = homeOfManySets(disk);
  expect(again.halted).toBeNull();
  expect(disk.app.height).toBe(HEIGHTS);
  const powerAt = (height: bigint): bigint => (height < 3n ? 10n : height - 2n);
  expect(voters).toEqual(Array.from({ length: Number(HEIGHTS) - 1 }, (_, i) => powerAt(BigInt(i + 1))));
});

it('validators that are missing or broken in the store are named', () => {
  const home = homeOfManySets();
  while (home.state.chain.lastBlockHeight < HEIGHTS) home.fire('start');
  const without = (change: (disk: Disk) => void): string | null => {
    const disk = { ...copyDisk(home.disk), app: restless() };
    change(disk);
    return homeOfManySets(disk).halted;
  };
  const key = validatorsKey(1n);
  expect(without(({ chain }) => chain.delete(hexOf(key)))).toBe(
    'the validators of height 1 are missing in the store. Resync this node',
  );
  expect(without(({ chain }) => chain.set(hexOf(key), { key, value: Uint8Array.of(255) }))).toBe(
    'the validators of height 1 are broken in the store. Resync this node',
  );
});

it('old blocks go sixteen at a time, and fewer where they are large', () => {
  let retainHeight = 0n;
  const app = new FakeApp();
  app.answers.commit = () => ({ type: 'commit', value: { retainHeight } });
  const home = new Home({ genesis: ALONE, me: 0, disk: { ...newDisk(), app } });
  while (home.state.chain.lastBlockHeight < 60n) home.fire('start');
  retainHeight = 50n;
  home.fire('start');
  expect(home.state.store.base).toBe(17n);
  const large = { key: blockKey(19n), value: new Uint8Array(16 * 1024 * 1024) };
  home.disk.chain.set(hexOf(large.key), large);
  home.fire('start');
  expect(home.state.store.base).toBe(20n);
  while (home.state.chain.lastBlockHeight < 66n) home.fire('start');
  expect(home.state.store.base).toBe(50n);
  expect(home.disk.chain.has(hexOf(blockKey(49n)))).toBe(false);
  expect(home.disk.chain.has(hexOf(blockKey(50n)))).toBe(true);
});
