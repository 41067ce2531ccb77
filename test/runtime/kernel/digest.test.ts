import { expect, it, vi } from 'vitest';
import { type RunningSha256, type runningSha256, sha256 } from '#platform';
import { hexOf } from '../../../protocol/bytes.ts';
import { RunningDigest } from '../../../runtime/kernel/digest.ts';

const MIB = 1024 * 1024;
const updates: number[] = [];

/** The platform's hash refuses 2 GiB at once, which is much to ask of a test: here it tells how much it was given. */
vi.mock('#platform', async (importOriginal) => {
  const platform = await importOriginal<{ runningSha256: typeof runningSha256 }>();
  const telling = (hash: RunningSha256): RunningSha256 => ({
    update(bytes) {
      updates.push(bytes.length);
      hash.update(bytes);
    },
    copy: () => telling(hash.copy()),
    digest: () => hash.digest(),
  });
  return { ...platform, runningSha256: () => telling(platform.runningSha256()) };
});

it('a turn of any length is hashed, in pieces, and leaves no long buffer behind', () => {
  const turn = new Uint8Array(40 * MIB + 3);
  for (let at = 0; at < turn.length; at += 1021) turn[at] = at & 255;
  const digest = new RunningDigest();
  digest.add(turn);
  const writer = digest.open();
  expect(hexOf(digest.read())).toBe(hexOf(sha256(turn)));
  expect(Math.max(...updates)).toBeLessThanOrEqual(16 * MIB);
  expect(updates.reduce((a, b) => a + b)).toBe(turn.length);
  expect(writer.between(0, turn.length).length).toBeLessThanOrEqual(MIB);
});
