// A run as a stream says what the same run says by its verdict.

import { filter, lastValueFrom, map, toArray } from 'rxjs';
import { expect, it } from 'vitest';
import { calm } from '../../scenarios/calm.ts';
import { observeRun } from '../../sim/observe.ts';
import { runScenario } from '../../sim/run.ts';

it('leaves those who watch for something else what they watch for', async () => {
  let choices = 0;
  const watch = {
    choices: ({ length }: { readonly length: number }) => {
      choices = length;
    },
  };
  await lastValueFrom(observeRun(calm, { seed: 3, watch }));
  expect(choices).toBeGreaterThan(100);
});

it('streams the commits of every node, and ends with the verdict of that seed', async () => {
  const events = observeRun(calm, { seed: 3 });
  const commits = await lastValueFrom(
    events.pipe(
      filter((each) => each.type === 'event' && each.event.type === 'committed'),
      map((each) => (each.type === 'event' ? each.node : '')),
      toArray(),
    ),
  );
  const last = await lastValueFrom(events);
  const alone = runScenario(calm, { seed: 3 });
  expect(last).toMatchObject({ type: 'verdict', verdict: { holds: true, digest: alone.digest } });
  for (const { name, height } of alone.nodes) {
    expect(BigInt(commits.filter((node) => node === name).length)).toBe(height);
  }
});
