// Streams of choices: independent, unbiased, recorded and replayed.

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isRefusal } from '../../protocol/refusal.ts';
import { type ChoiceSource, Choices, type Stream } from '../../sim/choices.ts';
import { decodeRecording, encodeRecording, type Recording } from '../../sim/recording.ts';

const seeded = (seed: string | number) => new Choices({ seed });
const draws = (stream: Stream, count: number, bound = 1000) =>
  Array.from({ length: count }, () => stream.draw(bound));

describe('streams', () => {
  test('the same seed and label draw the same, another seed or label does not', () => {
    const first = draws(seeded('a').stream('x'), 50);
    expect(draws(seeded('a').stream('x'), 50)).toEqual(first);
    expect(draws(seeded('b').stream('x'), 50)).not.toEqual(first);
    expect(draws(seeded('a').stream('y'), 50)).not.toEqual(first);
    expect(draws(seeded(7).stream('x'), 5)).toEqual(draws(seeded('7').stream('x'), 5));
  });
  test('these draws are for ever: a saved seed must keep its meaning', () => {
    const stream = seeded('golden').stream('net/loss');
    const words = [1024, 19_001, 2 ** 31, 3, 1_000_000].map((bound) => stream.draw(bound));
    expect(words).toMatchInlineSnapshot(`
      [
        995,
        670,
        1273808036,
        2,
        561574,
      ]
    `);
  });
  test('draws of one stream do not move another', () => {
    const alone = draws(seeded('a').stream('x'), 20);
    const choices = seeded('a');
    const x = choices.stream('x');
    const y = choices.stream('y');
    const mixed = alone.map(() => y.draw(9) * 0 + x.draw(1000));
    expect(mixed).toEqual(alone);
  });
  test('a label names one stream', () => {
    const choices = seeded('a');
    expect(choices.stream('x')).toBe(choices.stream('x'));
  });
  test('chance is as often as it says; zero is no, and the certain draws nothing', () => {
    const stream = seeded('a').stream('x');
    let hits = 0;
    for (let i = 0; i < 20_000; i++) if (stream.chance(1, 4)) hits++;
    expect(hits / 20_000).toBeGreaterThan(0.23);
    expect(hits / 20_000).toBeLessThan(0.27);
    const choices = seeded('a');
    expect(choices.stream('x').chance(0, 10)).toBe(false);
    expect(choices.stream('x').chance(10, 10)).toBe(true);
    expect(choices.recorded().length).toBe(0);
  });
  test('what is no integer is refused, and never a quiet no', () => {
    const stream = seeded('a').stream('x');
    expect(() => stream.chance(0.3, 1)).toThrow('chance(3, 10), in integers, not 0.3');
    expect(() => stream.chance(Number.NaN, 10)).toThrow('in integers, not NaN');
    expect(() => stream.between(1.5, 3.5)).toThrow('between gives an integer between two, not from 1.5');
    expect(() => stream.between(1, 3.5)).toThrow('a draw needs an integer bound in 1..2^31, not 3.5');
  });
  test('between, pick and shuffle stay in bounds and reach everything', () => {
    const stream = seeded('a').stream('x');
    const between = new Set(Array.from({ length: 200 }, () => stream.between(3, 6)));
    expect([...between].sort()).toEqual([3, 4, 5, 6]);
    expect(new Set(Array.from({ length: 200 }, () => stream.pick(['a', 'b', 'c']))).size).toBe(3);
    const orders = new Set(Array.from({ length: 300 }, () => stream.shuffle([1, 2, 3]).join()));
    expect(orders.size).toBe(6);
  });
});

const asked = fc.array(
  fc.record({ label: fc.constantFrom('net', 'disk', 'liar'), bound: fc.integer({ min: 1, max: 2 ** 31 }) }),
  { maxLength: 60 },
);
type Asked = readonly { readonly label: string; readonly bound: number }[];
const run = (source: ChoiceSource, questions: Asked): { values: number[]; recorded: Recording } => {
  const choices = new Choices(source);
  const values = questions.map(({ label, bound }) => choices.stream(label).draw(bound));
  return { values, recorded: choices.recorded() };
};
const mustDecode = (bytes: Uint8Array): Recording => {
  const recording = decodeRecording(bytes);
  if (isRefusal(recording)) throw new Error(recording.because);
  return recording;
};

describe('recordings', () => {
  test('survive their bytes, and replay to the same values and the same recording', () => {
    fc.assert(
      fc.property(asked, fc.string(), (questions, seed) => {
        const { values, recorded } = run({ seed }, questions);
        const bytes = encodeRecording(recorded);
        const replayed = run({ recorded: mustDecode(bytes), beyond: 'least' }, questions);
        expect(replayed.values).toEqual(values);
        expect(encodeRecording(replayed.recorded)).toEqual(bytes);
      }),
    );
  });
  test('beyond the end: zeroes, or the seed as if nothing had been cut', () => {
    fc.assert(
      fc.property(asked, fc.nat(60), (questions, cut) => {
        const { values, recorded } = run({ seed: 's' }, questions);
        const short = recorded.firstOf(cut);
        expect(run({ recorded: short, beyond: { seed: 's' } }, questions).values).toEqual(values);
        const least = run({ recorded: short, beyond: 'least' }, questions).values;
        const drawn = questions.map(({ bound }, i) => (bound > 1 ? i : -1)).filter((i) => i >= 0);
        const kept = new Set(drawn.slice(0, cut));
        expect(least).toEqual(values.map((value, i) => (kept.has(i) ? value : 0)));
      }),
    );
  });
  test('another seed beyond the end forks the run', () => {
    const questions: Asked = Array.from({ length: 40 }, () => ({ label: 'net', bound: 1 << 20 }));
    const { values, recorded } = run({ seed: 's' }, questions);
    const fork = run({ recorded: recorded.firstOf(20), beyond: { seed: 't' } }, questions).values;
    expect(fork.slice(0, 20)).toEqual(values.slice(0, 20));
    expect(fork.slice(20)).not.toEqual(values.slice(20));
  });
  test('a smaller bound than recorded takes the most it allows', () => {
    const { recorded } = run({ seed: 's' }, [{ label: 'net', bound: 1000 }]);
    const most = recorded.edited(() => 999);
    expect(run({ recorded: most, beyond: 'least' }, [{ label: 'net', bound: 10 }]).values).toEqual([9]);
  });
  test('can be edited value by value', () => {
    const questions: Asked = Array.from({ length: 10 }, () => ({ label: 'net', bound: 100 }));
    const { recorded } = run({ seed: 's' }, questions);
    const calm = recorded.edited((i) => (i % 2 === 0 ? null : 0));
    expect(calm.length).toBe(5);
    expect(run({ recorded: calm, beyond: 'least' }, questions).values).toEqual(new Array(10).fill(0));
    expect(recorded.labelAt(3)).toBe('net');
    expect(() => recorded.edited(() => 100)).toThrow();
  });
  test('are compact: about three bytes for a delay of 20 us', () => {
    const questions: Asked = Array.from({ length: 1000 }, () => ({ label: 'net', bound: 20_000 }));
    expect(encodeRecording(run({ seed: 's' }, questions).recorded).length).toBeLessThan(4100);
  });
  test('bytes that are none are refused, never thrown at', () => {
    const good = encodeRecording(run({ seed: 's' }, [{ label: 'net', bound: 1000 }]).recorded);
    for (let length = 0; length < good.length; length++) {
      expect(isRefusal(decodeRecording(good.subarray(0, length)))).toBe(true);
    }
    fc.assert(
      fc.property(fc.nat(good.length - 1), fc.nat(255), (at, value) => {
        const bad = good.slice();
        bad[at] = value;
        decodeRecording(bad);
      }),
    );
    fc.assert(fc.property(fc.uint8Array(), (bytes) => isRefusal(decodeRecording(bytes))));
  });
  test('can be switched off', () => {
    const choices = new Choices({ seed: 's' }, 'forget');
    expect(choices.stream('x').draw(100)).toBe(seeded('s').stream('x').draw(100));
    expect(choices.recording).toBeNull();
    expect(() => choices.recorded()).toThrow();
  });
});
