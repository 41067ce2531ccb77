// Numbers as a person reads them.

import { expect, it } from 'vitest';
import { secondsOf } from '../../../runtime/cli/telling.ts';

it('seconds have one sign, before the first digit', () => {
  expect(secondsOf(1_080_363_000)).toBe('1.080363');
  expect(secondsOf(-617_252_000n)).toBe('-0.617252');
  expect(secondsOf(-1_500_000_000n)).toBe('-1.500000');
  expect(secondsOf(0n)).toBe('0.000000');
});
