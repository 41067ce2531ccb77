// `sim explore` as a person uses it: it counts, keeps its campaign, and goes on with it.

import { readFileSync } from 'node:fs';
import { afterAll, describe, expect, it } from 'vitest';
import { hasStack, isBuilt, nodecli, workFolder } from './nodecli.ts';

describe.skipIf(!isBuilt)('sim explore', () => {
  const folder = workFolder();
  afterAll(folder.remove);

  it('runs each seed twice, keeps what it saw, and goes on where it was', { timeout: 120_000 }, () => {
    const out = folder.at('campaign');
    const first = nodecli('sim', 'explore', '--runs', '4', '--seed', '9000', '--out', out);
    expect(first.out).toContain('4 runs of swarm, twice each, seeds from 9000');
    expect(first.out).toContain('4 equal');
    expect(first.code).toBe(0);
    const whole = nodecli('sim', 'explore', '--runs', '7', '--out', out, '--json');
    const campaign = JSON.parse(whole.out);
    expect(campaign).toMatchObject({ runs: 7, base: '9000', failures: [], mismatches: [] });
    expect(JSON.parse(readFileSync(`${out}/campaign.json`, 'utf8')).runs).toBe(7);
    const other = nodecli('sim', 'explore', '--runs', '9', '--seed', '1', '--out', out);
    expect(other.code).toBe(2);
    expect(other.err).toContain('began at 9000');
    expect(hasStack(other.err)).toBe(false);
  });
});
