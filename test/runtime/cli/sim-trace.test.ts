// Traces through the command line: recorded, replayed, looked into, broken on purpose, and compared.

import { spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { ProgressBar } from '../../../runtime/cli/screen.ts';
import { replayCommand } from '../../../runtime/cli/traces/replay-command.ts';
import { TraceFile } from '../../../runtime/cli/traces/trace-file.ts';
import { DIGEST_BYTES, encodeRecord } from '../../../runtime/kernel/trace.ts';
import { cli, hasStack, isBuilt, nodecli, root, startNodecli, workFolder } from './nodecli.ts';

/** Where the frames of a trace begin. */
function offsetsOf(bytes: Buffer): number[] {
  const offsets: number[] = [];
  for (let at = 0; at < bytes.length; at += 8 + bytes.readUInt32LE(at)) offsets.push(at);
  return offsets;
}

describe.skipIf(!isBuilt)('traces', () => {
  const folder = workFolder();
  const trace = folder.at('a.trace');
  let whole: Buffer;
  let offsets: number[];
  afterAll(folder.remove);
  beforeAll(() => {
    const run = nodecli('sim', 'run', 'crash-around-sync', '--seed', '5', '--trace', trace, '--json');
    expect(run.err).toBe('');
    whole = readFileSync(trace);
    offsets = offsetsOf(whole);
  });

  const changed = (name: string, change: (bytes: Buffer) => Buffer | undefined): string => {
    const copy = Buffer.from(whole);
    writeFileSync(folder.at(name), change(copy) ?? copy);
    return folder.at(name);
  };

  const anEarlier = (): Buffer => whole.subarray(0, offsets[9]);

  test('a recorded run replays: same effects, same state digests, crashes included', () => {
    const { code, out, err } = nodecli('sim', 'replay', trace);
    expect(err).toBe('');
    expect(out).toContain('same effects, same state digests');
    expect(code).toBe(0);
    const report = JSON.parse(nodecli('sim', 'replay', trace, '--json').out);
    expect(report.records).toBe(offsets.length - 1);
    expect(report.nodes.some(({ lives }: { lives: number }) => lives > 1)).toBe(true);
  });

  const ofItsOwn = [
    `import * as w from '${join(root, 'dist/sim/scenario/words.js')}';`,
    `import { KvStore } from '${join(root, 'dist/machines/apps/kvstore.js')}';`,
    "const ends = w.everyone.decides(w.height(2), { within: '9s' });",
  ];

  test('of an application of one’s own replays with the play that has it', () => {
    const body = [
      ...ofItsOwn,
      "export default w.scenario('mine', { cast: w.validators(4), app: () => new KvStore(), ends });",
    ].join('\n');
    writeFileSync(folder.at('own.mjs'), body);
    const run = nodecli('sim', 'run', folder.at('own.mjs'), '--quiet', '--trace', folder.at('own.trace'));
    const without = nodecli('sim', 'replay', folder.at('own.trace'));
    expect(without).toMatchObject({
      code: 2,
      err: expect.stringContaining('--play with the play that has it'),
    });
    const { code, out, err } = nodecli(
      'sim',
      'replay',
      folder.at('own.trace'),
      '--play',
      folder.at('own.mjs'),
    );
    expect(err).toBe('');
    expect(out).toContain('same effects, same state digests');
    const [, records] = /([0-9,]+) records/.exec(out) ?? [];
    expect(run.out).toMatch(new RegExp(`trace .*own\\.trace, .*, ${records} records`));
    expect(code).toBe(0);
  });

  test('of an application that a seed drew, too; and one that needs none says so', () => {
    const body = [
      ...ofItsOwn,
      'class Odd extends KvStore { constructor(name) { super(); this.name = name; } }',
      'const draw = (stream) => {',
      "  const name = 'app' + stream.draw(1000);",
      "  return w.scenario('one', { cast: w.validators(4), app: () => new Odd(name), ends });",
      '};',
      "export default w.drawn('mine', 'an application for each seed', draw);",
    ].join('\n');
    const [file, path] = [folder.at('drawn.mjs'), folder.at('drawn.trace')];
    writeFileSync(file, body);
    nodecli('sim', 'run', file, '--seed', '5', '--quiet', '--trace', path);
    const { out, err } = nodecli('sim', 'replay', path, '--play', file);
    expect(err).toBe('');
    expect(out).toContain('same effects, same state digests');
    const needless = nodecli('sim', 'replay', trace, '--play', file);
    expect(needless).toMatchObject({
      code: 2,
      err: expect.stringContaining('application kvstore, and needs none'),
    });
  });

  test('of a run that an oracle of one’s own ended by throwing holds what was before', () => {
    const body = [
      `import * as w from '${join(root, 'dist/sim/scenario/words.js')}';`,
      "const ends = w.everyone.decides(w.height(9), { within: '30s' });",
      "const published = (at) => { if (at.height === 2n) throw new Error('odd'); };",
      "const oracles = [() => ({ name: 'mine', published })];",
      "export default w.scenario('mine', { cast: w.validators(4), oracles, ends });",
    ].join('\n');
    const [file, path] = [folder.at('throws.mjs'), folder.at('throws.trace')];
    writeFileSync(file, body);
    const run = nodecli('sim', 'run', file, '--quiet', '--trace', path);
    expect(run).toMatchObject({ code: 2, err: expect.stringContaining('mine: published() threw: odd') });
    const { code, out } = nodecli('sim', 'replay', path);
    expect(out).toContain('same effects, same state digests');
    expect(code).toBe(0);
  });

  test('a flipped byte is named by record and byte offset', () => {
    const record = offsets.length >> 1;
    const offset = offsets[record] as number;
    const path = changed('flipped.trace', (bytes) => {
      bytes[offset + 20] = (bytes[offset + 20] as number) ^ 1;
      return undefined;
    });
    const { code, err } = nodecli('sim', 'replay', path);
    expect(code).toBe(1);
    expect(err).toContain(`record ${record}, at byte ${offset}`);
    expect(hasStack(err)).toBe(false);
  });

  test('one that is broken leaves no bar on the line', async () => {
    const path = changed('bar.trace', (bytes) => {
      const at = (offsets[30] as number) + 20;
      bytes[at] = (bytes[at] as number) ^ 1;
      return undefined;
    });
    const cleared = vi.spyOn(ProgressBar.prototype, 'clear');
    await expect(replayCommand(path, {})).rejects.toThrow(/is corrupt/);
    expect(cleared).toHaveBeenCalled();
    cleared.mockRestore();
  });

  test('a length that was changed is corrupt, not torn', () => {
    const record = 30;
    const offset = offsets[record] as number;
    const path = changed('length.trace', (bytes) => {
      bytes[offset + 2] = 0x40;
      return undefined;
    });
    const { code, err } = nodecli('sim', 'replay', path);
    expect(code).toBe(1);
    expect(err).toContain(`record ${record}, at byte ${offset}`);
  });

  test('a trace of a planted bug says that it is one', () => {
    const path = folder.at('mutant.trace');
    const planted = ['--mutant', 'scenarios/zoo/M06.json'] as const;
    const run = nodecli(
      'sim',
      'run',
      'scenarios/zoo/triggers/M06.json',
      ...planted,
      '--trace',
      path,
      '--json',
    );
    expect(run.code).toBe(1);
    const without = nodecli('sim', 'replay', path);
    expect(without.err).toMatch(
      /recorded with a bug planted: replay it with --mutant scenarios\/zoo\/M06\.json/,
    );
    expect(without.err).toMatch(/diverges at record \d+/);
    expect(without.code).toBe(1);
    const json = nodecli('sim', 'replay', path, '--json');
    const divergedAt = {
      record: expect.any(Number),
      node: expect.stringMatching(/^v\d$/),
      actor: 'validator',
      message: expect.any(String),
      why: 'it did something else than what was recorded',
    };
    expect(JSON.parse(json.out)).toEqual({ holds: false, divergedAt });
    expect(json.code).toBe(1);
    const same = nodecli('sim', 'replay', path, ...planted);
    expect(same.err).toBe('');
    expect(same.out).toContain('same effects, same state digests');
    expect(same.code).toBe(0);
    const other = nodecli('sim', 'replay', path, '--mutant', 'scenarios/zoo/M07.json');
    expect(other.err).toMatch(
      /recorded with a bug planted: replay it with --mutant scenarios\/zoo\/M06\.json/,
    );
    const needless = nodecli('sim', 'replay', trace, ...planted);
    expect(needless.err).toMatch(
      /^nodecli: warning: the trace was recorded without a bug: replay it without --mutant$/m,
    );
  });

  test('a turn that threw throws again, and that is no difference', () => {
    const path = folder.at('threw.trace');
    const planted = ['--mutant', 'scenarios/zoo/X63.json'] as const;
    const run = nodecli('sim', 'run', 'invalid-blocks', '--seed', '1', ...planted, '--trace', path);
    expect(run.out).toContain('hygiene: validator threw: a last commit and its validator set differ in size');
    const { code, out, err } = nodecli('sim', 'replay', path, ...planted);
    expect(err).toMatch(
      /^nodecli: record \d+: v\d \/ validator threw: a last commit .*, as it was recorded\n$/,
    );
    expect(out).toContain('same effects, same state digests');
    expect(code).toBe(0);
    expect(nodecli('sim', 'replay', path).err).toMatch(/v\d \/ validator \/ \w+: it did something else/);
  });

  test('a torn last record is a warning: so ends the log of a killed node', () => {
    const path = changed('torn.trace', (bytes) => bytes.subarray(0, bytes.length - 5));
    const { code, out, err } = nodecli('sim', 'replay', path);
    expect(code).toBe(0);
    expect(err).toMatch(/warning: .*cut short \(record \d+, at byte \d+\)/);
    expect(out).toContain('same effects, same state digests');
  });

  test.each(['SIGINT', 'SIGTERM'] as const)(
    'of a run that %s ends stays beside the older files, and replays as far as it goes',
    async (signal) => {
      const [older, page] = [folder.at('older.trace'), folder.at('older.html')];
      writeFileSync(older, anEarlier());
      const earlier = '<meta name="generator" content="rehearsal"> of an earlier run';
      writeFileSync(page, earlier);
      const partial = `${older}.partial`;
      const run = startNodecli(
        'sim',
        'run',
        'calm',
        '--heights',
        '5000',
        '--quiet',
        '--trace',
        older,
        '--html',
        page,
      );
      await vi.waitFor(() => expect(statSync(partial).size).toBeGreaterThan(300_000), {
        timeout: 30_000,
        interval: 20,
      });
      process.kill(run.pid, signal);
      await run.ended;
      expect(readFileSync(older)).toEqual(anEarlier());
      expect(readFileSync(page, 'utf8')).toBe(earlier);
      expect(existsSync(`${page}.partial`)).toBe(false);
      const { code, out } = nodecli('sim', 'replay', partial);
      expect(out).toContain('same effects, same state digests');
      expect(code).toBe(0);
    },
  );

  test('and a page take their names when the run is over, also through a link, and leave nothing beside them', () => {
    mkdirSync(folder.at('names/real'), { recursive: true });
    writeFileSync(folder.at('names/real/x.trace'), anEarlier());
    symlinkSync(folder.at('names/real/x.trace'), folder.at('names/x.trace'));
    const files = ['--trace', folder.at('names/x.trace'), '--html', folder.at('names/x.html')];
    expect(nodecli('sim', 'run', 'calm', '--quiet', ...files).code).toBe(0);
    expect(readdirSync(folder.at('names')).sort()).toEqual(['real', 'x.html', 'x.trace']);
    expect(readdirSync(folder.at('names/real'))).toEqual(['x.trace']);
    expect(nodecli('sim', 'replay', folder.at('names/real/x.trace')).code).toBe(0);
    const { code, err } = nodecli(
      'sim',
      'run',
      'calm',
      '--trace',
      folder.at('y'),
      '--html',
      folder.at('y.partial'),
    );
    expect(err).toMatch(/--trace, while it is written: .*y\.partial is --html, too; name another file/);
    expect(code).toBe(2);
  });

  test('a length that was changed is no torn end, however large the records behind it', () => {
    const large = encodeRecord(0, new Uint8Array(2_500_000).fill(1), new Uint8Array(DIGEST_BYTES));
    const path = changed('long-record.trace', (bytes) => {
      const [last = 0] = offsets.slice(-1);
      bytes.writeUInt32LE(200_000_000, last);
      return Buffer.concat([bytes, large]);
    });
    const { code, err } = nodecli('sim', 'replay', path);
    expect(err).toMatch(/the length of a record is wrong \(record \d+, at byte \d+\)/);
    expect(code).toBe(1);
  });

  test('one that is torn and comes through a pipe is torn, too: nothing of it is read twice', () => {
    const path = changed('piped.trace', (bytes) => bytes.subarray(0, bytes.length - 5));
    const command = `cat '${path}' | '${process.execPath}' '${cli}' sim replay /dev/stdin`;
    const { status, stdout, stderr } = spawnSync('sh', ['-c', command], { encoding: 'utf8' });
    expect(stderr).toMatch(
      /^nodecli: warning: \/dev\/stdin: .*cut short \(record \d+, at byte \d+\), as a killed node leaves it\n$/,
    );
    expect(status).toBe(0);
    expect(stdout).toContain('same effects, same state digests');
    expect(stdout).not.toContain(' 0 bytes a height');
  });

  test('tells how much of it has been read', () => {
    const long = folder.at('long.trace');
    const [last = 0] = offsets.slice(-1);
    const times = Math.ceil(3_000_000 / (whole.length - last));
    writeFileSync(long, Buffer.concat([whole, ...new Array<Buffer>(times).fill(whole.subarray(last))]));
    const file = new TraceFile(long);
    const parts = new Set<number>();
    for (const _ of file.records()) parts.add(file.part);
    expect([...parts]).toEqual([...parts].sort((a, b) => a - b));
    expect([[...parts][0], file.part]).toEqual([1_048_576 / file.bytes, 1]);
  });

  test('what is no trace, or not there', () => {
    writeFileSync(folder.at('junk.trace'), 'this is no trace at all');
    const junk = nodecli('sim', 'replay', folder.at('junk.trace'));
    expect(junk.code).toBe(1);
    expect(junk.err).toMatch(/is not a trace: .*at byte 0/);
    const none = nodecli('sim', 'replay', folder.at('none.trace'));
    expect(none.code).toBe(2);
    expect(none.err).toMatch(/cannot be read: there is no such file/);
  });

  test('--at shows a node and what enabled its last vote', () => {
    const { code, out } = nodecli('sim', 'replay', trace, '--at', String(offsets.length - 200));
    expect(code).toBe(0);
    expect(out).toMatch(/height \d+, round \d+, step \w+/);
    expect(out).toMatch(/locked .*, valid /);
    expect(out).toMatch(/last vote: (prevote|precommit) \d+\/\d+ \w+ of v\d/);
    const [, name, before] = /the record of (v\d) before it: (\d+)\n/.exec(out) ?? [];
    expect(Number(before)).toBeLessThan(offsets.length - 200);
    expect(nodecli('sim', 'replay', trace, '--at', String(before)).out).toMatch(
      new RegExp(`^${name} after record ${before}\n`),
    );
    const between = String(Number(before) + 1); // of the same node only where that is the one we came from
    expect(nodecli('sim', 'replay', trace, '--at', between).out.startsWith(`${name} `)).toBe(
      Number(between) === offsets.length - 200,
    );
    expect(nodecli('sim', 'replay', trace, '--at', '1').out).toMatch(/the record of v\d before it: none\n/);
    const beyond = nodecli('sim', 'replay', trace, '--at', String(offsets.length + 5));
    expect(beyond.code).toBe(2);
    expect(beyond.err).toMatch(/there is no record/);
  });

  test('two traces of one seed are the same; those of two seeds differ somewhere', () => {
    const again = folder.at('again.trace');
    nodecli('sim', 'run', 'crash-around-sync', '--seed', '5', '--trace', again, '--quiet');
    expect(nodecli('sim', 'diverge', trace, again).code).toBe(0);
    const other = folder.at('other.trace');
    nodecli('sim', 'run', 'crash-around-sync', '--seed', '6', '--trace', other, '--quiet');
    const { code, out } = nodecli('sim', 'diverge', trace, other);
    expect(code).toBe(1);
    expect(out).toMatch(/first difference: record \d+, [\d.]+ s: v\d \/ \S+ \/ \S+/);
  });
});
