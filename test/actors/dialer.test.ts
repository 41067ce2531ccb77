import { expect, it } from 'vitest';
import { DEFAULT_DIALER, type DialerConfig, type DialerState, dialerLogic } from '../../actors/dialer.ts';
import type { DialerMail } from '../../actors/mail.ts';
import type { Effect } from '../../actors/turn.ts';
import { Driven, only, said } from './drive.ts';

const S = 1_000_000_000n;
const MS = 1_000_000n;
const config: DialerConfig = {
  ...DEFAULT_DIALER,
  self: 'm',
  peers: ['a', 'm', 'z'].map((peer) => ({ peer, address: `ws://${peer}` })),
};

const dialer = (): Driven<DialerState, DialerMail> => new Driven(dialerLogic(config));
const failed = (peer: string): DialerMail => ({ type: 'dial-failed', peer, because: 'refused' });
const waitsMs = (effects: readonly Effect[]): number[] =>
  only(effects, 'schedule').map(({ afterNs }) => Number(afterNs / MS));

it('dials higher ids at once, waits for lower ones, and not for itself', () => {
  const driven = dialer();
  expect(said(driven.started)).toEqual(['schedule dial:a', 'dial z', 'schedule dial:z']);
  expect(waitsMs(driven.started)).toEqual([3_750, 10_000]); // half of the jitter that may come on top
  expect(said(driven.tell({ type: 'timer', timer: 'dial:a' }))).toEqual(['dial a', 'schedule dial:a']);
  expect(said(driven.tell({ type: 'up', peer: 'a' }))).toEqual(['cancel dial:a']);
  expect(driven.tell({ type: 'timer', timer: 'dial:a' })).toEqual([]);
});

it('backs off to the cap, and goes on for ever', () => {
  const driven = dialer();
  const waits = Array.from({ length: 30 }, () => waitsMs(driven.tell(failed('z')))[0]);
  expect(waits.slice(0, 8)).toEqual([625, 1_250, 2_500, 5_000, 10_000, 20_000, 37_500, 37_500]);
  expect(waits.at(-1)).toBe(37_500);
});

it('after a good connection it begins anew, after a short one it does not', () => {
  const driven = dialer();
  for (let i = 0; i < 3; i++) driven.tell(failed('z'));
  driven.tell({ type: 'up', peer: 'z' });
  driven.monoNs = 1n * S;
  expect(waitsMs(driven.tell({ type: 'down', peer: 'z' }))).toEqual([5_000]);
  driven.tell({ type: 'up', peer: 'z' });
  driven.monoNs = 12n * S;
  expect(waitsMs(driven.tell({ type: 'down', peer: 'z' }))).toEqual([625]);
  driven.tell({ type: 'up', peer: 'a' });
  driven.monoNs = 99n * S;
  expect(waitsMs(driven.tell({ type: 'down', peer: 'a' }))).toEqual([3_750]); // the lower id dials first
});

it('leaves alone what it was not told to keep, and what came by itself', () => {
  const driven = dialer();
  for (const type of ['up', 'down'] as const) expect(driven.tell({ type, peer: 'q' })).toEqual([]);
  expect(driven.tell(failed('q'))).toEqual([]);
  expect(driven.tell({ type: 'down', peer: 'a' })).toEqual([]);
  driven.tell({ type: 'up', peer: 'z' });
  expect(driven.tell(failed('z'))).toEqual([]);
  expect(driven.logic.look?.(driven.state)).toEqual({ a: false, z: true });
  expect(() => driven.tell({ type: 'timer', timer: 'dial:q' })).toThrow();
});
