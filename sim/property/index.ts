// A network as a property for fast-check: any few nodes, any faults from which they must recover, up to a third of
// the power lying; nothing that is promised breaks. What fails is made smaller by fast-check itself.

import fc from 'fast-check';
import { LIAR_NAMES } from '../liars/index.ts';
import type { OracleMaker } from '../oracle.ts';
import { runScenario } from '../run.ts';
import { mustBeSameAgain } from '../same-again.ts';
import { textOf } from '../scenario/checks.ts';
import { scenarioRefusal } from '../scenario/form.ts';
import { ownApplication } from '../scenario/own.ts';
import type {
  Action,
  Claim,
  Directive,
  LiarWords,
  Load,
  NodeName,
  Scenario,
  Settings,
} from '../scenario/play.ts';
import { anyone, core, height, ScenarioError, scenario, these, txs, whenOrAt } from '../scenario/words.ts';
import { QUICK } from '../swarm/index.ts';
import { BrokenPromise } from './broken.ts';
import { FAULTS, type Fault, type FaultKind, faultsOf } from './faults.ts';
import { type People, people } from './people.ts';
import { mustTakeSome } from './taken.ts';

export { BrokenPromise } from './broken.ts';
export type { FaultKind } from './faults.ts';

export interface BftWanted {
  /** Default: kvstore. */
  readonly app?: Scenario['app'];
  /** So many are decided by those who are healed; chaos lasts for two thirds of them. Default: 10. */
  readonly heights?: number;
  /** How many; a number: so many at most. Default: 1 to 6. */
  readonly validators?: number | { readonly min: number; readonly max: number };
  /** Which kinds of trouble there may be. Default: all. */
  readonly faults?: readonly FaultKind[];
  /** What liars there may be: names, or functions of one's own. Default: all of ours. */
  readonly liars?: readonly LiarWords['liar'][];
  /**
   * Whether clients change powers, with kvstore's `val=` transactions. Default: with kvstore only, as other
   * applications need not know them.
   */
  readonly powerChanges?: boolean;
  /**
   * Default: one to three transactions a block, `t17=xxxx...`. An application that takes none of its load is refused, unless this is `'none'`:
   * a chain of empty blocks on purpose.
   */
  readonly load?: Load | 'none';
  /** Beside what always holds. A claim may speak of nodes that are always there: `v0` to the least number. */
  readonly holds?: readonly Claim[];
  readonly oracles?: readonly OracleMaker[];
  /** Default: short timeouts, as delays and faults then cost rounds instead of waiting. */
  readonly settings?: Settings;
}

const OPTIONS: Readonly<Record<keyof BftWanted, true>> = {
  app: true,
  heights: true,
  validators: true,
  faults: true,
  liars: true,
  powerChanges: true,
  load: true,
  holds: true,
  oracles: true,
  settings: true,
};

const HEIGHTS_USUAL = 10;
const VALIDATORS_USUAL = { min: 1, max: 6 };
const FAULTS_MAX = 8;
const SEED_MAX = 0xffff;
const TX_BYTES_MAX = 250;
const TXS_PER_BLOCK_MAX = 3;
/** Chaos is over at the latest by then. */
const CHAOS_LONGEST = '15s';
/** Ends a run whose liveness nobody watches; the bound on liveness speaks long before. */
const RUN_LONGEST = '2000s';

/**
 * The property that any network of this kind keeps its promises: `fc.assert(bftProperty({ app: () => new Mine() }))`.
 * Its values are a scenario and the seed to run it under.
 * @throws ScenarioError when what is wanted makes no scenario, or its application takes no transaction of its load; it names the field.
 */
export function bftProperty(wanted: BftWanted = {}): fc.IPropertyWithHooks<[Scenario, number]> {
  return fc.property(bftScenario(wanted), fc.nat({ max: SEED_MAX }), (play, seed) => {
    const verdict = runScenario(play, { seed, shape: false });
    if (verdict.holds) return;
    mustBeSameAgain(play, { seed, shape: false }, verdict);
    throw new BrokenPromise(play, verdict);
  });
}

/**
 * The scenarios of `bftProperty`, for a property of one's own.
 * @throws ScenarioError as `bftProperty`.
 */
export function bftScenario(wanted: BftWanted = {}): fc.Arbitrary<Scenario> {
  if (typeof wanted !== 'object' || wanted === null)
    throw new ScenarioError(`bftProperty: expected an object of options, not ${wanted}`);
  const { validators = VALIDATORS_USUAL, faults = FAULTS, liars = LIAR_NAMES, load } = wanted;
  if (validators === null)
    throw new ScenarioError('validators: expected a number or { min, max } from 1, not null');
  const size = typeof validators === 'number' ? { min: 1, max: validators } : validators;
  check(wanted, size, faults, liars);
  return fc
    .record({
      people: people({
        validators: size,
        liars,
        hasChanges: wanted.powerChanges ?? (wanted.app ?? 'kvstore') === 'kvstore',
        hasClocks: faults.includes('clock'),
      }),
      faults: faultsOf(faults, FAULTS_MAX),
      load: load === undefined ? usualLoad : fc.constant(loadOf(load)),
    })
    .map((drawn) => play(wanted, drawn));
}

const loadOf = (load: Load | 'none'): Load | undefined => (load === 'none' ? undefined : load);
const usualLoad: fc.Arbitrary<Load> = fc
  .record({
    perBlock: fc.integer({ min: 1, max: TXS_PER_BLOCK_MAX }),
    size: fc.integer({ min: 24, max: TX_BYTES_MAX }),
  })
  .map((load) => txs(load));

interface Drawn {
  readonly people: People;
  readonly faults: readonly Fault[];
  readonly load: Load | undefined;
}

function play(wanted: BftWanted, { people, faults, load }: Drawn): Scenario {
  const { app, heights = HEIGHTS_USUAL, holds, oracles, settings } = wanted;
  const { names, cast, liars, changes } = people;
  const lying = new Set(liars.map(({ node }) => node));
  const healed = Math.max(1, heights - Math.ceil(heights / 3));
  const healing = whenOrAt(anyone.decides(height(healed)), CHAOS_LONGEST, core(...people.core));
  const troubles = faults.flatMap((fault) => fault(names));
  const empowers = changes.map(
    ({ atMs, ...change }): Directive => ({ atMs, actions: [{ do: 'empower', ...change }] }),
  );
  return scenario('drawn by fast-check', {
    cast,
    act: [healing, ...(changes.length > 0 ? troubles.flatMap(uncorrupted) : troubles), ...empowers],
    liars,
    ...(load !== undefined && { load }),
    settings: settings ?? { consensus: QUICK },
    ends: these(...people.core.filter((name) => !lying.has(name))).decides(height(heights), {
      within: RUN_LONGEST,
      afterwards: 1,
    }),
    ...(app !== undefined && { app }),
    ...(holds && { holds }),
    ...(oracles && { oracles }),
  });
}

/** With a bit changed on its way a transaction that changes powers gives some to a key that nobody has. */
function uncorrupted(directive: Directive): readonly Directive[] {
  const actions = directive.actions.flatMap((action): Action[] => {
    if (action.do !== 'links' || action.change.corruptPpm === undefined) return [action];
    const { corruptPpm: _, ...change } = action.change;
    return Object.keys(change).length > 0 ? [{ ...action, change }] : [];
  });
  return actions.length > 0 ? [{ ...directive, actions }] : [];
}

/** What is wrong with what is wanted is said at once, and is not taken for a counterexample. */
function check(
  wanted: BftWanted,
  { min, max }: { readonly min: number; readonly max: number },
  faults: readonly FaultKind[],
  liars: readonly LiarWords['liar'][],
): void {
  const { heights = HEIGHTS_USUAL } = wanted;
  const odd = Object.keys(wanted).find((option) => !Object.hasOwn(OPTIONS, option));
  if (odd !== undefined)
    throw new ScenarioError(`${odd}: no such option; there are ${Object.keys(OPTIONS).join(', ')}`);
  if (!Number.isSafeInteger(heights) || heights < 1)
    throw new ScenarioError(`heights: expected a whole number from 1, not ${heights}`);
  const { validators, powerChanges } = wanted;
  const fields = typeof validators === 'object' ? Object.keys(validators) : [];
  const more = fields.find((field) => !Object.hasOwn(VALIDATORS_USUAL, field));
  if (more !== undefined) throw new ScenarioError(`validators.${more}: no such field; there are min, max`);
  if (powerChanges !== undefined && typeof powerChanges !== 'boolean')
    throw new ScenarioError(`powerChanges: expected true or false, not ${JSON.stringify(powerChanges)}`);
  if (!Number.isSafeInteger(min) || !Number.isSafeInteger(max) || min < 1 || max < min)
    throw new ScenarioError(
      `validators: expected a number or { min, max } from 1, not ${fields.length === 1 || min === undefined ? textOf(validators) : `${min} to ${max}`}`,
    );
  if (!Array.isArray(faults) || !Array.isArray(liars))
    throw new ScenarioError(`${Array.isArray(faults) ? 'liars' : 'faults'}: expected a list`);
  const words = liars.find((liar) => typeof liar === 'object' && liar !== null);
  if (words !== undefined)
    throw new ScenarioError(
      `liars: expected names, and functions that are liars; whom they lie to is drawn: write coldFeet, not liar('v3', coldFeet, ['v0'])`,
    );
  const unknown = faults.find((kind) => !FAULTS.includes(kind));
  if (unknown !== undefined)
    throw new ScenarioError(`faults: no fault ${unknown}; there are ${FAULTS.join(', ')}`);
  const least: People = {
    cast: { powers: Array.from({ length: min }, () => 1) },
    names: ['v0'],
    liars: liars.map((liar) => ({ node: 'v0', liar, to: [] })),
    changes: [],
    core: Array.from({ length: min }, (_, i): NodeName => `v${i}`),
  };
  const { app = 'kvstore', load } = wanted;
  const drawn = { people: least, faults: [], load: load === undefined ? txs({ perBlock: 1 }) : loadOf(load) };
  const refusal = scenarioRefusal(play(wanted, drawn));
  if (refusal) throw new ScenarioError(refusal.because);
  if (typeof app === 'function') ownApplication(app);
  if (load === 'none' || (load === undefined && app === 'kvstore')) return;
  const { holds: _, oracles: __, ...others } = wanted;
  mustTakeSome(play(others, { ...drawn, people: { ...least, liars: [] } }));
}
