import { expect, it } from 'vitest';
import type { Pending } from '../../../machines/evidence/pool.ts';
import { EvidenceTold } from '../../../machines/evidence/telling.ts';

const SECOND = 1_000_000_000n;
const a = { height: 3n } as Pending;
const b = { height: 4n } as Pending;

it('tells each peer of each piece once in ten seconds, and who lacks the same in one breath', () => {
  const told = new EvidenceTold();
  const peers = ['x', 'y', 'z'].map((peer) => ({ peer, height: 9n }));
  told.heardFrom('z', a, 0n); // who told us
  expect(told.next([a], peers, 0n)).toEqual({
    tellings: [{ peers: ['x', 'y'], evidence: [a] }],
    afterNs: 10n * SECOND,
  });
  told.heardFrom('z', b, SECOND);
  expect(told.next([a, b], peers, SECOND)).toEqual({
    tellings: [{ peers: ['x', 'y'], evidence: [b] }],
    afterNs: 9n * SECOND,
  });
  expect(told.next([a, b], peers, 9n * SECOND).tellings).toEqual([]);
  told.peerDown('x'); // and up again: it may have forgotten
  expect(told.next([a, b], peers, 9n * SECOND)).toEqual({
    tellings: [{ peers: ['x'], evidence: [a, b] }],
    afterNs: SECOND,
  });
  expect(told.next([a], peers, 10n * SECOND).tellings).toEqual([{ peers: ['x', 'y', 'z'], evidence: [a] }]);
});

it('looks again soon for who is not there yet, and others do not hear it twice for that', () => {
  const told = new EvidenceTold();
  const at = (height: bigint) => [
    { peer: 'x', height: 9n },
    { peer: 'slow', height },
  ];
  expect(told.next([a, b], at(0n), 0n)).toEqual({
    tellings: [{ peers: ['x'], evidence: [a, b] }],
    afterNs: SECOND / 2n,
  });
  expect(told.next([a, b], at(4n), SECOND / 2n)).toEqual({
    tellings: [{ peers: ['slow'], evidence: [a] }],
    afterNs: SECOND / 2n,
  });
  expect(told.next([a, b], at(4n), 9n * SECOND + 800_000_000n)).toEqual({
    tellings: [],
    afterNs: 200_000_000n,
  });
});

it('after a quiet time, too, who tells us of something new does not hear it back', () => {
  const told = new EvidenceTold();
  const peers = ['x', 'y'].map((peer) => ({ peer, height: 9n }));
  told.next([a], peers, 0n);
  told.heardFrom('x', b, 60n * SECOND);
  expect(told.next([b], peers, 60n * SECOND)).toEqual({
    tellings: [{ peers: ['y'], evidence: [b] }],
    afterNs: 10n * SECOND,
  });
  expect(told.next([b], peers, 70n * SECOND).tellings).toEqual([{ peers: ['x', 'y'], evidence: [b] }]);
});

it('what waits no more is forgotten, also within a period', () => {
  const told = new EvidenceTold();
  const peers = [{ peer: 'a', height: 1_000n }];
  for (let height = 1n; height <= 100n; height++) {
    const { tellings } = told.next([{ height } as Pending], peers, 0n);
    expect(tellings).toHaveLength(1);
  }
  const { told: known } = told as unknown as { told: Map<string, Set<unknown>> };
  expect(known.get('a')?.size).toBeLessThanOrEqual(2);
});
