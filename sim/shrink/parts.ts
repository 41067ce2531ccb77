// What a scenario is made of: the parts that may be left out of it one by one, and what is left without them.

import type { Directive, NodeName, Scenario } from '../scenario/play.ts';

/** One serialised fault or message rule, a waiting for something, a liar, a clock that is off, or a setting. */
export type Part =
  | { readonly is: 'action'; readonly directive: number; readonly action: number }
  /** A directive that only waits. */
  | { readonly is: 'wait'; readonly directive: number }
  | { readonly is: 'liar'; readonly index: number }
  | { readonly is: 'clock'; readonly node: NodeName }
  | { readonly is: 'field'; readonly field: 'load' | 'settings' | 'degree' };

export function partsOf({ act, liars, cast, load, settings }: Scenario): readonly Part[] {
  const parts: Part[] = [];
  act.forEach(({ actions }, directive) => {
    if (actions.length === 0) parts.push({ is: 'wait', directive });
    for (let action = 0; action < actions.length; action++) parts.push({ is: 'action', directive, action });
  });
  for (let index = 0; index < liars.length; index++) parts.push({ is: 'liar', index });
  for (const node of Object.keys(cast.clocks ?? {})) parts.push({ is: 'clock', node: node as NodeName });
  if (load) parts.push({ is: 'field', field: 'load' });
  if (settings) parts.push({ is: 'field', field: 'settings' });
  if (cast.degree !== undefined) parts.push({ is: 'field', field: 'degree' });
  return parts;
}

/** How many faults, rules, waits, liars and clocks: what a reader must take in. */
export const directivesIn = (scenario: Scenario): number =>
  partsOf(scenario).filter(({ is }) => is !== 'field').length;

/** The scenario with these parts of its own, and no others. A directive without its actions is gone. */
export function keeping(scenario: Scenario, kept: readonly Part[]): Scenario {
  const { load, settings, cast, ...rest } = scenario;
  const { clocks, degree, ...people } = cast;
  const has = (field: string): boolean => kept.some((part) => part.is === 'field' && part.field === field);
  const clocksKept = Object.entries(clocks ?? {}).filter(([node]) =>
    kept.some((part) => part.is === 'clock' && part.node === node),
  );
  return {
    ...rest,
    cast: {
      ...people,
      ...(clocksKept.length > 0 && { clocks: Object.fromEntries(clocksKept) }),
      ...(degree !== undefined && has('degree') && { degree }),
    },
    act: scenario.act.flatMap((directive, i) => directiveKeeping(directive, i, kept)),
    liars: scenario.liars.filter((_, i) => kept.some((part) => part.is === 'liar' && part.index === i)),
    ...(load && has('load') && { load }),
    ...(settings && has('settings') && { settings }),
  };
}

function directiveKeeping(directive: Directive, index: number, kept: readonly Part[]): Directive[] {
  if (directive.actions.length === 0)
    return kept.some((part) => part.is === 'wait' && part.directive === index) ? [directive] : [];
  const actions = directive.actions.filter((_, i) =>
    kept.some((part) => part.is === 'action' && part.directive === index && part.action === i),
  );
  return actions.length === 0 ? [] : [{ ...directive, actions }];
}

/** The scenario without one of its parts. */
export const without = (scenario: Scenario, part: Part): Scenario =>
  keeping(
    scenario,
    partsOf(scenario).filter((each) => !samePart(each, part)),
  );

const samePart = (a: Part, b: Part): boolean => JSON.stringify(a) === JSON.stringify(b);
