import fc from 'fast-check';
import { expect, it } from 'vitest';
import { hexOf } from '../../../protocol/bytes.ts';
import { encodeHeader } from '../../../runtime/kernel/trace.ts';
import { bytesOf, joined, read, record } from './recorded.ts';

const recorded = record([10n], 1n);
const bytes = bytesOf(recorded);
/** Where each frame begins; the last is the end of the file. */
const begins = [0, encodeHeader(recorded.header).length];
for (const frame of recorded.frames) begins.push(begins.at(-1)! + frame.length);

it('comes back as it was written, in chunks of any size', () => {
  const whole = read(bytes);
  expect(whole.refusal).toBeNull();
  expect(whole.reader.header).toEqual(recorded.header);
  expect(whole.records.length).toBe(recorded.frames.length);
  expect(new Set(whole.records.map(({ kind }) => kind))).toEqual(new Set(['boot', 'turn']));
  const inputs = (records: typeof whole.records) =>
    records.map(({ input, digest }) => hexOf(input) + hexOf(digest));
  const expected = inputs(whole.records);
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 1, max: 3_000 }), { minLength: 1, maxLength: 20 }), (sizes) => {
      const { records, refusal } = read(bytes, sizes);
      expect(refusal).toBeNull();
      expect(inputs(records)).toEqual(expected);
    }),
    { numRuns: 30 },
  );
});

it('a changed byte is named by record and offset, wherever it is', () => {
  // Every byte of the header and of the first records, then one in seven.
  const last = begins.at(-1)!;
  for (let at = 0; at < last; at += at < 12_000 ? 1 : 7) {
    const changed = bytes.slice();
    changed[at] = changed[at]! ^ 0x10;
    const number = begins.findIndex((_, i) => at < (begins[i + 1] ?? 0));
    const { refusal, records } = read(changed);
    expect([at, refusal?.record, refusal?.offset]).toEqual([at, number, begins[number]]);
    expect(records.length).toBe(Math.max(0, number - 1));
    expect(refusal?.because).toContain(`record ${number}, at byte ${begins[number]}`);
  }
});

it('a torn end is named, and what stands before it is read', () => {
  for (const cut of [1, 7, 8, 20]) {
    const { records, refusal } = read(bytes.subarray(0, begins.at(-2)! + cut));
    expect(refusal).toMatchObject({
      refused: 'torn-trace',
      record: recorded.frames.length,
      offset: begins.at(-2),
    });
    expect(records.length).toBe(recorded.frames.length - 1);
  }
});

it('what is no trace is told so', () => {
  expect(read(new Uint8Array(0)).refusal?.refused).toBe('not-a-trace');
  expect(read(new Uint8Array([1, 2, 3])).refusal?.refused).toBe('not-a-trace');
  const other = encodeHeader({ ...recorded.header, format: 'another/1' });
  expect(read(joined([other, ...recorded.frames])).refusal).toMatchObject({
    refused: 'not-a-trace',
    record: 0,
    offset: 0,
  });
  const huge = bytes.slice();
  huge.set([255, 255, 255, 255], begins[3]!);
  expect(read(huge).refusal).toMatchObject({ refused: 'corrupt-record', record: 3, offset: begins[3] });
});
