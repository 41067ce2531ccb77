// Every play under several seeds: what it shows is so, and its faults really happen.

import { describe, expect, it } from 'vitest';
import { plays } from '../../scenarios/index.ts';
import { runScenario } from '../../sim/run.ts';

const SEEDS = 6;

/** Faults that a play is about: under each seed they must have happened. */
const ABOUT: Readonly<Record<string, readonly string[]>> = {
  tour: ['envelopes lost', 'crashes', 'restarts', 'partitions', 'pauses', 'one-way cuts'],
  'lock-holds': ['envelopes dropped by rule'],
  'valid-value-reproposed': ['envelopes dropped by rule'],
  'older-polka-refused': ['envelopes dropped by rule'],
  'minority-partition': ['partitions', 'envelopes cut off'],
  'even-split': ['partitions', 'envelopes cut off'],
  'asymmetric-partition': ['one-way cuts', 'envelopes cut off'],
  'permanent-cut': ['one-way cuts'],
  'one-third-silent': ['partitions'],
  'less-than-one-third-silent': ['partitions'],
  'proposer-down': ['crashes', 'restarts'],
  'equivocating-proposer': ['lie: another block'],
  'equivocator-punished': ['lie: another vote'],
  'crash-around-sync': ['crashes', 'restarts'],
  'lagging-node-catches-up': ['partitions', 'crashes', 'restarts'],
  'validator-joins-and-leaves': ['validator changes asked for'],
  'fork-by-two-votes': ['lie: another block', 'lie: another vote'],
  'fork-by-amnesia': ['lie: forgotten lock', 'envelopes dropped by rule'],
  'forged-polka': ['lie: a polka that never was', 'envelopes dropped by rule'],
  'mislabelled-parts': ['lie: a part at another place'],
  'forged-blocks': ['lie: a block that nobody decided', 'crashes', 'restarts'],
  'false-greetings': ['lie: a false greeting'],
  'forged-commits': ['lie: a commit with a signature that is none', 'one-way cuts'],
  'hidden-lock': ['crashes', 'restarts', 'envelopes dropped by rule'],
  'lying-sync-peer': ['crashes', 'restarts', 'lie: more blocks than it has'],
  'slow-disk': ['disk changes'],
  'slow-signer': ['signer changes'],
  'signer-too-slow': ['signer changes'],
  'all-signers-slow': ['signer changes'],
  'slow-applications': ['application changes'],
  'application-too-slow': ['application changes'],
  'slow-checks': ['application changes'],
  'two-judged-at-once': ['application changes', 'messages dropped by rule', 'crashes', 'restarts'],
  'checked-meanwhile': ['application changes'],
  'full-disk': ['writes refused by a full disk', 'crashes', 'restarts'],
  'clock-skew': ['clock changes'],
  'time-goes-on': ['clocks far apart', 'lie: another vote', 'envelopes dropped by rule'],
  'transaction-storm': ['transactions refused'],
  'no-pool': ['transactions refused'],
  'refused-and-kept': ['transactions refused'],
  'set-replaced': ['validator changes asked for', 'partitions', 'envelopes cut off', 'one-way cuts'],
};

describe('the plays', () => {
  it('have names of their own, in kebab-case, and a title of one line', () => {
    const names = plays.map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
    for (const { name, title } of plays) {
      expect(name).toMatch(/^[a-z][a-z-]*[a-z]$/);
      expect(title.length).toBeLessThan(100);
    }
  });

  describe.each(plays.map((play) => [play.name, play] as const))('%s', (name, play) => {
    /** Of every seed so far. */
    let unmet: readonly string[] | null = null;

    it.each(Array.from({ length: SEEDS }, (_, i) => 1000 + i))('holds under seed %i', (seed) => {
      const verdict = runScenario(play, { seed, crypto: 'sim', heights: 10 });
      expect(verdict.violations).toEqual([]);
      expect(verdict.heights).toBeGreaterThanOrEqual(10n);
      for (const fault of ABOUT[name] ?? []) expect(verdict.faults[fault], fault).toBeGreaterThan(0);
      unmet = unmet?.filter((each) => verdict.unmet.includes(each)) ?? verdict.unmet;
    });

    it('has nothing in it that none of these seeds brings about', () => {
      expect(unmet).toEqual([]);
    });
  });
});
