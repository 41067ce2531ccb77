// bftProperty: what it draws is fair and holds, what it finds is small and runs again from what is printed.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { PLAIN_RESULT } from '../../machines/apps/base.ts';
import { Counter } from '../../machines/apps/counter.ts';
import { KvStore } from '../../machines/apps/kvstore.ts';
import type { AbciRequest, AbciResponse } from '../../protocol/abci.ts';
import { isRefusal } from '../../protocol/refusal.ts';
import {
  everyone,
  fromJson,
  height,
  type Liar,
  liar,
  never,
  type OracleMaker,
  runScenario,
  type Scenario,
  ScenarioError,
  scenario,
  toJson,
  txs,
  v0,
  v3,
  validators,
} from '../../sim/index.ts';
import { type BftWanted, BrokenPromise, bftProperty, bftScenario } from '../../sim/property/index.ts';

const sample = (wanted: BftWanted = {}): Scenario[] =>
  fc.sample(bftScenario(wanted), { seed: 1, numRuns: 300 });

/** The least and the most power that a node may come to have. */
function spansOf({ cast, act }: Scenario): Map<string, { least: number; most: number }> {
  const spans = new Map<string, { least: number; most: number }>();
  for (const [i, power] of cast.powers.entries()) spans.set(`v${i}`, { least: power, most: power });
  for (let i = 0; i < (cast.candidates ?? 0); i++) spans.set(`c${i}`, { least: 0, most: 0 });
  for (const action of act.flatMap(({ actions }) => actions)) {
    if (action.do !== 'empower') continue;
    const span = spans.get(action.node) as { least: number; most: number };
    span.least = Math.min(span.least, action.power);
    span.most = Math.max(span.most, action.power);
  }
  return spans;
}

const coreOf = ({ act }: Scenario): readonly string[] =>
  act.flatMap(({ actions }) => actions).flatMap((action) => (action.do === 'core' ? action.nodes : []));

function brokenBy(wanted: BftWanted): { readonly message: string; readonly broken: BrokenPromise } {
  try {
    fc.assert(bftProperty(wanted), { seed: 7, numRuns: 20 });
  } catch (error) {
    return { message: (error as Error).message, broken: (error as Error).cause as BrokenPromise };
  }
  throw new Error('nothing was found');
}

describe('what is drawn', () => {
  it('holds, on a healthy build', () => {
    fc.assert(bftProperty({ heights: 6 }), { seed: 1, numRuns: 40 });
  });

  it('is plain data that comes back from JSON', () => {
    for (const play of sample()) {
      const json = toJson(play);
      expect(isRefusal(json)).toBe(false);
      expect(fromJson(String(json))).toEqual(play);
    }
  });

  it('is fair: liars hold a third at most and the core more than two thirds, whatever clients change', () => {
    const seen = { liars: 0, exactlyAThird: 0, lyingForEver: 0, changes: 0, thin: 0, leftOut: 0 };
    for (const play of sample()) {
      const spans = spansOf(play);
      const sum = (which: 'least' | 'most', names: Iterable<string>): number =>
        [...names].reduce((total, name) => total + (spans.get(name)?.[which] ?? 0), 0);
      const liars = play.liars.map(({ node }) => node as string);
      const lying = sum('most', liars);
      expect(3 * lying).toBeLessThanOrEqual(sum('least', spans.keys()));
      const core = coreOf(play);
      const others = [...spans.keys()].filter((name) => !core.includes(name));
      expect(sum('least', core)).toBeGreaterThan(2 * sum('most', others));
      if (liars.length > 0) seen.liars++;
      if (lying > 0 && 3 * lying === sum('least', spans.keys())) seen.exactlyAThird++;
      if (liars.some((name) => !core.includes(name))) seen.lyingForEver++;
      if (play.act.some(({ actions }) => actions.some((action) => action.do === 'empower'))) seen.changes++;
      if (play.cast.degree !== undefined) seen.thin++;
      if (others.some((name) => !liars.includes(name))) seen.leftOut++;
    }
    for (const [what, count] of Object.entries(seen))
      expect({ what, often: count > 5 }).toEqual({ what, often: true });
  });

  it('changes no bit on its way where a transaction may change powers: a key that nobody has would get some', () => {
    const seen = { corrupt: 0, changes: 0 };
    for (const { act } of sample({ faults: ['links'] })) {
      const actions = act.flatMap((directive) => directive.actions);
      const isCorrupt = actions.some(
        (action) => action.do === 'links' && action.change.corruptPpm !== undefined,
      );
      const hasChanges = actions.some((action) => action.do === 'empower');
      expect(isCorrupt && hasChanges).toBe(false);
      if (isCorrupt) seen.corrupt++;
      if (hasChanges) seen.changes++;
    }
    for (const often of Object.values(seen)) expect(often).toBeGreaterThan(5);
  });

  it('has no liar wait for a round that it never hears of', () => {
    const late = sample().flatMap(({ liars }) => liars.filter(({ fromRound }) => fromRound !== undefined));
    expect(late.length).toBeGreaterThan(5);
    const withoutRounds = ['sync-liar', 'status-liar', 'block-forger', 'commit-forger', 'block-pusher'];
    expect(late.filter(({ liar }) => withoutRounds.includes(String(liar)))).toEqual([]);
  });

  it('has every kind of trouble, and none that is not wanted', () => {
    const kinds = (plays: Scenario[]): string[] => {
      const all = plays.flatMap(({ act }) =>
        act.flatMap(({ actions }) => actions.map((action) => action.do)),
      );
      return [...new Set(all)].sort();
    };
    const every = ['application', 'clock', 'clog', 'core', 'crash', 'crash-at', 'cut', 'disk', 'empower'];
    const others = ['heal', 'links', 'partition', 'pause', 'reset', 'restart', 'rule', 'signer'];
    expect(kinds(sample())).toEqual([...every, ...others]);
    const calm = sample({
      faults: ['crash'],
      liars: [],
      powerChanges: false,
      validators: { min: 4, max: 4 },
    });
    expect(kinds(calm)).toEqual(['core', 'crash']);
    expect(calm.every(({ liars, cast }) => liars.length === 0 && cast.powers.length === 4)).toBe(true);
  });
});

describe('what is found', () => {
  const { message, broken } = brokenBy({ holds: [never(v0.decides(height(3)))] });

  it('says fast-check’s seed and path, and is small', () => {
    expect(message).toMatch(/seed: 7, path: "[0-9:]+"/);
    expect(broken).toBeInstanceOf(BrokenPromise);
    expect(broken.scenario.cast).toEqual({ powers: [expect.any(Number)] });
    expect(broken.scenario.act).toHaveLength(1);
    expect(broken.scenario.liars).toEqual([]);
  });

  it('prints the line and the file that show the same again', () => {
    const [what, again, json] = broken.message.split('\n');
    expect(what).toMatch(/^play: never: v0 decides/);
    expect(again).toBe(
      `again: npx nodecli sim run broken.json --seed ${broken.verdict.seed}, with broken.json:`,
    );
    const play = fromJson(json as string) as Scenario;
    const verdict = runScenario(play, { seed: broken.verdict.seed });
    expect(verdict.digest).toBe(broken.verdict.digest);
    expect(verdict.violations).toEqual(broken.verdict.violations);
  });
});

it('what is found in one’s own is printed as a program writes it', () => {
  const own = { app: () => new KvStore(), oracles: [() => ({ name: 'mine', ended: () => undefined })] };
  const { broken } = brokenBy({ ...own, holds: [never(v0.decides(height(3)))] });
  const [, again, literal] = broken.message.split('\n');
  expect(again).toContain(`runScenario(play, { seed: '${broken.verdict.seed}' })`);
  const write = new Function('app', 'oracle0', `return ${literal}`);
  const play: Scenario = write(own.app, own.oracles[0]);
  expect(play).toEqual(broken.scenario);
  expect(runScenario(play, { seed: broken.verdict.seed }).digest).toBe(broken.verdict.digest);
});

it('two liars of one’s own have two names', () => {
  const [one, other]: Liar[] = [() => () => null, () => () => []];
  const play = scenario('two', {
    cast: validators(7),
    liars: [
      liar('v5', one as Liar, ['v0']),
      liar('v6', other as Liar, ['v0']),
      liar('v4', other as Liar, ['v1']),
    ],
    ends: everyone.decides(height(2), { within: '60s' }),
  });
  const { message } = new BrokenPromise(play, runScenario(play, { seed: 1 }));
  const named = [...message.matchAll(/"liar":(liar[0-9]+)/g)].map(([, name]) => name);
  expect(named).toEqual(['liar0', 'liar1', 'liar1']);
});

it('what is found in one’s own is told apart from what changes from run to run', () => {
  let started = 0;
  const fickle: OracleMaker = (report) => ({
    name: 'fickle',
    events: ['committed'],
    published: (at, _, event) => {
      if (event.type === 'committed' && event.height === 2n)
        report(`at start ${started++}`, at, event.height);
    },
  });
  const details = fc.check(bftProperty({ oracles: [fickle] }), { seed: 7, numRuns: 3, endOnFailure: true });
  expect(details.errorInstance).toBeInstanceOf(ScenarioError);
  expect(String(details.errorInstance)).toMatch(
    /seed [0-9]+, made twice: it broke fickle \(at start 0\), and then broke fickle \(at start 1\); a function of your own/,
  );
});

it.each<[BftWanted, string]>([
  [{ validators: null as never }, 'validators: expected a number or { min, max } from 1, not null'],
  [
    { validators: { max: 4 } as never },
    'validators: expected a number or { min, max } from 1, not {"max":4}',
  ],
  [{ validators: 4n as never }, 'validators: expected a number or { min, max } from 1, not 4n'],
  [
    { validators: { min: 4n } as never },
    'validators: expected a number or { min, max } from 1, not {"min":"4n"}',
  ],
  [{ heights: 0 }, 'heights: expected a whole number from 1, not 0'],
  [{ validators: 0 }, 'validators: expected a number or { min, max } from 1, not 1 to 0'],
  [{ validators: { min: 1, max: 4, mx: 5 } as never }, 'validators.mx: no such field; there are min, max'],
  [{ powerChanges: 'yes' as never }, 'powerChanges: expected true or false, not "yes"'],
  [{ faults: ['crahs' as 'crash'] }, 'faults: no fault crahs; there are links,'],
  [{ liars: ['lair'] }, 'no liar lair; there are vote-equivocator,'],
  [
    { liars: [liar('v3', () => () => null, ['v0']) as never] },
    'liars: expected names, and functions that are liars; whom they lie to is drawn',
  ],
  [
    { load: (() => new Uint8Array()) as never },
    'load: expected an object, not the function load: write txs({ perBlock: 1, make: load })',
  ],
  [{ app: 'kvstor' }, 'app: no application is named kvstor'],
  [{ holds: [never(v3.crashes())] }, 'v3 is not in the cast'],
])('what makes no property is said at once: %o', (wanted, because) => {
  expect(() => bftProperty(wanted)).toThrow(because);
});

describe('an application that takes none of its load', () => {
  const numbers = txs({ perBlock: 1, make: (_, n) => new Uint8Array([n]) });
  class Poor extends KvStore {
    override answer(request: AbciRequest): AbciResponse {
      const answer = super.answer(request);
      if (answer.type !== 'finalize-block') return answer;
      const poor = { ...PLAIN_RESULT, code: 7, log: 'no funds' };
      return { ...answer, value: { ...answer.value, txResults: answer.value.txResults.map(() => poor) } };
    }
  }
  /** Adds one of its own to each block, and takes none of those that it is given. */
  class Ticking extends Poor {
    override answer(request: AbciRequest): AbciResponse {
      if (request.type === 'prepare-proposal')
        return { type: 'prepare-proposal', value: { txs: [new TextEncoder().encode('tick=1')] } };
      return KvStore.prototype.answer.call(this, request);
    }
  }
  const inVain = 'load: in a run without faults the application takes none of';

  it('is another than one that writes them anew, as kvstore does', () => {
    const load = txs({ perBlock: 2, make: (_, n) => new TextEncoder().encode(`k${n}:v`) });
    expect(() => bftProperty({ app: () => new KvStore(), load })).not.toThrow();
  });

  it('is not saved by transactions of its own', () => {
    expect(() => bftProperty({ app: () => new Ticking(), load: txs({ perBlock: 3 }) })).toThrow(
      /^load: in a run without faults none of [0-9]+ transactions comes into a block/,
    );
  });

  it.each<[string, BftWanted, string]>([
    ['at once', { app: () => new Counter(true) }, 'such as "t0=xxx'],
    ['by name', { app: 'counter_serial' }, 'check-tx says code 1: Max tx size is 8 bytes, got 64'],
    ['in blocks', { app: () => new Poor() }, 'finalize-block says code 7: no funds'],
    ['of its own load', { app: 'kvstore', load: numbers }, 'such as 0x00 (check-tx says code 2)'],
  ])('is refused, as it would show nothing: %s', (_, wanted, how) => {
    const refusal = { name: 'ScenarioError', message: expect.stringContaining(inVain) };
    for (const make of [bftProperty, bftScenario]) {
      expect(() => make(wanted)).toThrow(expect.objectContaining(refusal));
      expect(() => make(wanted)).toThrow(how);
      expect(() => make(wanted)).toThrow('write load: txs({ perBlock: 2, make: (stream, n) => ... })');
    }
  });

  it.each<[string, BftWanted, string]>([
    ['empty ones', { load: txs({ perBlock: 1, make: () => new Uint8Array(0) }) }, 'none of'],
    ['no room in pools', { load: txs({ perBlock: 1 }), settings: { mempool: { txsMax: 0 } } }, 'none of'],
    ['once in a fortnight', { load: txs({ perSecond: 0.000001 }) }, 'nobody gives a transaction'],
  ])('is refused also where nobody says why nothing comes into a block: %s', (_, wanted, how) => {
    expect(() => bftProperty({ app: () => new KvStore(), heights: 3, ...wanted })).toThrow(
      `load: in a run without faults ${how}`,
    );
  });

  it('is what was asked for with none; one that takes some of what fits it is none', () => {
    const app = () => new Counter(true);
    expect(fc.sample(bftScenario({ app, load: 'none' }), 5).some((play) => 'load' in play)).toBe(false);
    fc.assert(bftProperty({ app, load: 'none', heights: 3 }), { seed: 1, numRuns: 2 });
    expect(() => bftProperty({ app, load: numbers })).not.toThrow();
    expect(() => bftProperty({ app: 'noop' })).not.toThrow();
  });
});

it('nothing but the property needs fast-check', () => {
  const sim = join(import.meta.dirname, '..', '..', 'sim');
  const files = readdirSync(sim, { recursive: true, encoding: 'utf8' }).filter((file) =>
    file.endsWith('.ts'),
  );
  const needing = files.filter((file) =>
    /from '(fast-check|[./]*property\/)/.test(readFileSync(join(sim, file), 'utf8')),
  );
  expect(needing.every((file) => file.startsWith('property'))).toBe(true);
  expect(needing.length).toBeGreaterThan(0);
});
