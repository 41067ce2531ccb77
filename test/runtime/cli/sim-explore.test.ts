// `sim explore` as a person uses it: it counts, keeps its campaign, is interrupted, and goes on with it.

import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, describe, expect, it } from 'vitest';
import { addLost, checksOf, newCampaign } from '../../../runtime/cli/explore/campaign.ts';
import { oneByOne } from '../../../runtime/cli/explore/one-by-one.ts';
import { everyone, height, scenario, toJson, validators } from '../../../sim/index.ts';
import {
  childrenOf,
  type Ended,
  hasStack,
  isBuilt,
  nodecli,
  root,
  startNodecli,
  workFolder,
} from './nodecli.ts';

/** A seed draws a power; where that is odd it breaks an oracle of its own. */
const ownPlay = (decided: number): string => `
import { drawn, everyone, height, powers, scenario } from ${JSON.stringify(join(root, 'dist/sim/index.js'))};
export default drawn('mine', 'odd powers', (stream) => {
  const power = stream.between(10, 13);
  return scenario('mine', {
    cast: powers(power, 12, 12, 12),
    oracles: [(report) => ({ name: 'mine', ended: () => power % 2 === 1 && report('odd power', null, 1n) })],
    ends: everyone.decides(height(${decided}), { within: '60s' }),
  });
});
`;

async function hasChildren(pid: number): Promise<void> {
  while (childrenOf(pid).length === 0) await sleep(20);
}

describe.skipIf(!isBuilt)('sim explore', () => {
  const folder = workFolder();
  afterAll(folder.remove);

  it('runs each seed twice, keeps what it saw, and goes on where it was', () => {
    const out = folder.at('campaign');
    const first = nodecli('sim', 'explore', '--runs', '4', '--seed', '649', '--out', out);
    expect(first.out).toContain('4 runs of swarm, twice each, seeds from 649');
    expect(first.out).toContain('4 equal');
    expect(first.code).toBe(0);
    const whole = nodecli('sim', 'explore', '--runs', '7', '--out', out, '--json');
    const campaign = JSON.parse(whole.out);
    expect(campaign).toMatchObject({ runs: 7, base: '649', failures: [], mismatches: [] });
    expect(JSON.parse(readFileSync(`${out}/campaign.json`, 'utf8')).runs).toBe(7);
    const other = nodecli('sim', 'explore', '--runs', '9', '--seed', '1', '--out', out);
    expect(other.code).toBe(2);
    expect(other.err).toContain('began at 649');
    expect(hasStack(other.err)).toBe(false);
  });

  it('says before the first run that a folder cannot be written', () => {
    writeFileSync(folder.at('file'), '');
    const { code, err } = nodecli('sim', 'explore', '--runs', '100000', '--out', folder.at('file/below'));
    expect(err).toMatch(/^nodecli: --out: cannot write in .*file\/below: it is a file, or below one\n$/);
    expect(code).toBe(2);
  });

  it.each([
    ['{}', /\(play: expected a text, not nothing\)/],
    ['[]', /\(the file: expected an object, not \[\]\)/],
    ['{', /is no campaign \(/],
    [{ runs: -1 }, /\(runs: expected a whole number from 0, not -1\)/],
    [{ ratio: { max: 'x', seed: '' } }, /\(ratio.max: expected a number from 0, not "x"\)/],
    [{ faults: { crashes: 'many' } }, /\(faults: expected how often each was seen, by name, not/],
    [{ failures: [{ oracle: 1 }] }, /\(failures\[0\].signature: expected a text, not nothing\)/],
    [{ commit: 'another' }, /is a campaign of commit another; give another folder/],
    [{ play: 'tour' }, /is a campaign of the play tour; give another folder/],
  ])('names what is wrong with a campaign.json: %j', (change, line) => {
    const out = folder.at('wrong');
    mkdirSync(out, { recursive: true });
    const whole = newCampaign('swarm', 'c', '1');
    const text = typeof change === 'string' ? change : JSON.stringify({ ...whole, ...change });
    writeFileSync(`${out}/campaign.json`, text);
    const { code, err } = nodecli('sim', 'explore', '--runs', '1', '--out', out);
    expect(err).toMatch(line);
    expect(err.trim().split('\n')).toHaveLength(1);
    expect(code).toBe(2);
    expect(readFileSync(`${out}/campaign.json`, 'utf8')).toBe(text);
  });

  it('makes what a worker was at when it died again, and says what ends one each time', async () => {
    const { pid, ended } = startNodecli(
      'sim',
      'explore',
      '--runs',
      '64',
      '--seed',
      '1',
      '--workers',
      '2',
      '--json',
    );
    await hasChildren(pid);
    await sleep(1_000);
    process.kill(childrenOf(pid)[0] as number, 'SIGKILL');
    const { code, out } = await ended;
    expect(JSON.parse(out)).toMatchObject({ runs: 64, failures: [], mismatches: [] });
    expect(code).toBe(0);
    const deadly = async (seeds: readonly string[]): Promise<readonly string[]> => {
      if (seeds.includes('3')) throw new Error('it ended with SIGKILL');
      return seeds.map((seed) => `run ${seed}`);
    };
    expect(await oneByOne(['2', '3', '4'], deadly)).toEqual([
      'run 2',
      { seed: '3', lost: 'it ended with SIGKILL' },
      'run 4',
    ]);
    let times = 0;
    const unlucky = async (seeds: readonly string[]): Promise<readonly string[]> =>
      times++ === 0 ? Promise.reject(new Error('out of memory')) : seeds;
    expect(await oneByOne(['5'], unlucky)).toEqual(['5']);
    const campaign = newCampaign('swarm', 'c', '1');
    addLost(campaign, '3', 'it ended with SIGKILL');
    expect(checksOf(campaign)[0]).toMatchObject({ held: false });
  });

  it('is one at a time for a folder', async () => {
    const out = folder.at('both');
    const { pid, ended } = startNodecli('sim', 'explore', '--runs', '4000', '--seed', '1', '--out', out);
    await hasChildren(pid);
    const other = nodecli('sim', 'explore', '--runs', '4000', '--out', out);
    expect(other.err).toMatch(/^nodecli: --out: another sim explore is at work in .*both/);
    expect(other.code).toBe(2);
    process.kill(-pid, 'SIGINT');
    expect((await ended).code).toBe(1);
  });

  it('says what it saw when its folder is gone, and ends', async () => {
    const out = folder.at('gone');
    const { pid, ended } = startNodecli('sim', 'explore', '--runs', '4000', '--seed', '1', '--out', out);
    await hasChildren(pid);
    rmSync(out, { recursive: true });
    const { code, out: told, err } = await ended;
    expect(told).toMatch(/^[0-9]+ runs of swarm, twice each/m);
    expect(err).toMatch(/^nodecli: --out: cannot write in .*gone: there is no such file$/m);
    expect(code).toBe(2);
  });

  it('is for other plays, too', () => {
    const { code, out } = nodecli('sim', 'explore', '--play', 'wide-swarm', '--seed', '1', '--runs', '16');
    expect(out).toContain('16 runs of wide-swarm, twice each, seeds from 1');
    expect(out).toContain('ok  no promise is broken');
    expect(Number(/^([0-9,]+) heights/m.exec(out)?.[1]?.replaceAll(',', ''))).toBeLessThan(500); // of chains that begin late, too
    expect(out).not.toContain('every fault happened');
    expect(code).toBe(0);
    const calm = nodecli('sim', 'explore', '--play', 'calm', '--seed', '1', '--runs', '2');
    expect(calm.out).toContain('2 runs of calm, twice each, seeds from 1');
    expect(calm.code).toBe(0);
    const clam = nodecli('sim', 'explore', '--play', 'clam', '--runs', '1');
    expect(clam.err).toBe('nodecli: there is no scenario "clam": did you mean calm?\n');
    expect(clam.code).toBe(2);
  });

  it('is for a saved scenario: how often it breaks under other seeds', () => {
    const file = folder.at('saved.json');
    writeFileSync(
      file,
      String(
        toJson(
          scenario('saved', { cast: validators(1), ends: everyone.decides(height(2), { within: '60s' }) }),
        ),
      ),
    );
    const { code, out } = nodecli('sim', 'explore', '--play', file, '--seed', '1', '--runs', '2');
    expect(out).toContain(`2 runs of ${file}, twice each`);
    expect(code).toBe(0);
  });

  it('is for a play of one’s own, with functions of its own: its failures are kept by their seeds', () => {
    const file = folder.at('mine.mjs');
    const out = folder.at('mine');
    const write = (height: number): void => writeFileSync(file, ownPlay(height));
    write(3);
    const explore = (runs = '8'): Ended =>
      nodecli('sim', 'explore', '--play', file, '--seed', '10', '--runs', runs, '--out', out);
    const first = explore();
    expect(first.out).toContain(`8 runs of ${file}, twice each, seeds from 10`);
    expect(first.out).toContain(' BAD  no promise is broken');
    expect(first.out).toContain('8 equal');
    const [, seed] =
      /mine, [0-9] times?: odd power\n {2}npx nodecli sim run .*mine\.mjs --seed ([0-9]+)/.exec(
        first.out,
      ) as RegExpExecArray;
    expect(first.code).toBe(1);
    expect(nodecli('sim', 'run', file, '--seed', String(seed)).code).toBe(1);
    expect(readdirSync(out)).toEqual(['campaign.json']); // what has functions of its own stands in no file
    expect(explore('9').out).toContain(`9 runs of ${file}, twice each, seeds from 10`);
    write(2);
    expect(explore().err).toBe(
      `nodecli: --out: ${file} has changed since the campaign of ${out}/campaign.json began; give another folder\n`,
    );
  });

  it('says of a play of one’s own whose runs differ what is asked of its functions', () => {
    const file = folder.at('fickle.mjs');
    writeFileSync(file, ownPlay(2).replace('stream.between(10, 13)', '10 + Math.floor(Math.random() * 1e4)'));
    const { code, out } = nodecli('sim', 'explore', '--play', file, '--seed', '1', '--runs', '1');
    expect(out).toContain(`NOT THE SAME twice: ${file}, seed 1\na function of your own must give the same`);
    expect(code).toBe(1);
  });

  it('starts no more workers than have anything to do, and refuses more than any machine has cores for', async () => {
    const { pid, ended } = startNodecli('sim', 'explore', '--runs', '4', '--seed', '649', '--workers', '40');
    let isOver = false;
    void ended.finally(() => {
      isOver = true;
    });
    let most = 0;
    for (; !isOver; await sleep(5))
      if (existsSync(`/proc/${pid}`)) most = Math.max(most, childrenOf(pid).length);
    expect(most).toBe(2);
    expect((await ended).code).toBe(0);
    for (const command of ['explore', 'crashes', 'zoo']) {
      const { code, err } = nodecli('sim', command, '--workers', '1000000');
      expect(err).toBe('nodecli: --workers takes 256 at most, not 1000000\n');
      expect(code).toBe(2);
    }
  });

  it.each([
    ['explore', '--seed', '18446744073709551615', '--runs', '2'],
    ['determinism', '--from', '18446744073709551614', '--seeds', '3'],
    ['determinism', '--from', '18446744073709551614', '--seeds', '0', '--crypto-pairs', '3'],
    ['zoo', '--from', '18446744073709551614', '--seeds', '3'],
  ])('sim %s takes no seeds beyond the last', (command, flag, first, ...more) => {
    const { code, err } = nodecli('sim', command, flag, first, ...more);
    expect(err).toBe(
      `nodecli: ${flag}: ${more.at(-1)} seeds from ${first} on go beyond the last, 18446744073709551615\n`,
    );
    expect(code).toBe(2);
  });

  it('of some minutes ends with the last seed there is', () => {
    const { code, out } = nodecli(
      'sim',
      'explore',
      '--seed',
      '18446744073709551615',
      '--minutes',
      '1',
      '--json',
    );
    expect(JSON.parse(out)).toMatchObject({ runs: 1, failures: [] });
    expect(code).toBe(0);
  });

  it('ends in order when the terminal interrupts it, and goes on later', async () => {
    const out = folder.at('interrupted');
    const flags = ['sim', 'explore', '--seed', '649', '--workers', '2', '--out', out];
    const { pid, said, ended } = startNodecli(...flags, '--runs', '100000');
    await said(' runs, twice each');
    process.kill(-pid, 'SIGINT');
    const { code, out: told, err } = await ended;
    const { runs } = JSON.parse(readFileSync(`${out}/campaign.json`, 'utf8'));
    expect(runs).toBeGreaterThan(0);
    expect(told).toContain(`${runs} runs of swarm, twice each, seeds from 649`);
    expect(told).not.toContain('not seen: ');
    expect(err.trim().split('\n').at(-1)).toBe(
      `nodecli: interrupted: ${runs} of 100,000 runs were made; the same command goes on`,
    );
    expect(code).toBe(1);
    const more = nodecli(...flags, '--runs', String(runs + 1), '--json');
    expect(JSON.parse(more.out)).toMatchObject({ runs: runs + 1, mismatches: [] });
  });

  it.each([
    ['zoo', '--only', 'C1', '--seeds', '100000'],
    ['crashes', '--heights', '20'],
    ['determinism', '--seeds', '100000'],
    [
      'shrink',
      'swarm',
      '--seed',
      '38',
      '--mutant',
      'scenarios/zoo/M06.json',
      '--out',
      folder.at('small.json'),
    ],
  ])('sim %s is interrupted in one line, too', async (...flags) => {
    const { pid, ended } = startNodecli('sim', ...flags);
    await hasChildren(pid);
    process.kill(-pid, 'SIGINT');
    await sleep(1);
    process.kill(-pid, 'SIGINT'); // as npm passes on what it got from the terminal, too
    const { code, out, err } = await ended;
    expect(out).not.toContain('HOLDS');
    expect(err.trim().split('\n').at(-1)).toMatch(/^nodecli: interrupted: \d+ (of [\d,]+|runs? made)/);
    expect(err).not.toContain('bug of ours');
    expect(code).toBe(1);
  });

  it('its workers end with it, also when it is killed', async () => {
    const { pid, said, ended } = startNodecli(
      'sim',
      'explore',
      '--seed',
      '649',
      '--runs',
      '100000',
      '--workers',
      '2',
    );
    await said(' runs, twice each');
    const workers = childrenOf(pid);
    expect(workers).toHaveLength(2);
    process.kill(pid, 'SIGKILL');
    await ended;
    for (const worker of workers) while (existsSync(`/proc/${worker}`)) await sleep(20);
  });
});
