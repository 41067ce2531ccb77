// What every keeper of the Random port promises: integers below the bound, all of them, none preferred.

import { beforeEach, describe, expect, test } from 'vitest';
import type { Random } from '../../runtime/kernel/ports.ts';

export function randomCompliance(name: string, open: () => Random): void {
  describe(`random: ${name}`, () => {
    let random: Random;
    beforeEach(() => {
      random = open();
    });

    test('draws integers from 0 up to the bound, without it', () => {
      for (const bound of [1, 2, 3, 7, 10, 255, 256, 257, 65_536, 1_000_003, 2 ** 31 - 1, 2 ** 31]) {
        for (let i = 0; i < 200; i++) {
          const drawn = random.draw(bound);
          expect(Number.isInteger(drawn) && drawn >= 0 && drawn < bound, `draw(${bound}) gave ${drawn}`).toBe(
            true,
          );
        }
      }
    });
    test('a bound of one draws zero', () => {
      expect(Array.from({ length: 20 }, () => random.draw(1))).toEqual(new Array(20).fill(0));
    });
    test('every value below a small bound comes up, about equally often', () => {
      // Chi-squared with 9 degrees of freedom: beyond 45 once in a million runs.
      const counts = new Array<number>(10).fill(0);
      const draws = 20_000;
      for (let i = 0; i < draws; i++) counts[random.draw(10)]!++;
      const expected = draws / 10;
      const chi2 = counts.reduce((sum, count) => sum + (count - expected) ** 2 / expected, 0);
      expect(chi2).toBeLessThan(45);
    });
    test('a bound that does not divide 2^32 has no bias', () => {
      // With a plain remainder the lower third of 3 * 2^29 would come up half as often again.
      const bound = 3 * 2 ** 29;
      let low = 0;
      const draws = 20_000;
      for (let i = 0; i < draws; i++) if (random.draw(bound) < 2 ** 29) low++;
      expect(Math.abs(low / draws - 1 / 3)).toBeLessThan(0.02);
    });
    test('draws differ', () => {
      const drawn = new Set(Array.from({ length: 100 }, () => random.draw(2 ** 31)));
      expect(drawn.size).toBeGreaterThan(95);
    });
    test('a bound outside 1..2^31 is a bug', () => {
      for (const bound of [0, -1, 1.5, 2 ** 31 + 1, Number.NaN]) expect(() => random.draw(bound)).toThrow();
    });
  });
}
