// Keeps us connected to the peers we were told of: dials, and dials again for as long as it takes.

import { unreachable } from '../protocol/refusal.ts';
import { NS_PER_S } from '../protocol/time.ts';
import { type DialerMail, dialerMail } from './mail.ts';
import { type Effect, type Logic, NO_EFFECTS, NO_READS, type PeerId, type Turn } from './turn.ts';

export interface DialerConfig {
  readonly self: PeerId;
  readonly peers: readonly { readonly peer: PeerId; readonly address: string }[];
  /** Of two that know each other the lower id dials; the other one steps in after this. */
  readonly waitForOtherNs: bigint;
  /** After the first failure; doubles with each one more. */
  readonly backoffNs: bigint;
  readonly backoffMaxNs: bigint;
  /** A dial that nobody answered is lost after this. */
  readonly lostAfterNs: bigint;
  /** A connection that lasted this long was a good one: the next failure is a first one again. */
  readonly goodAfterNs: bigint;
}

export const DEFAULT_DIALER: Omit<DialerConfig, 'self' | 'peers'> = {
  waitForOtherNs: 3n * NS_PER_S,
  backoffNs: NS_PER_S / 2n,
  backoffMaxNs: 30n * NS_PER_S,
  lostAfterNs: 10n * NS_PER_S,
  goodAfterNs: 10n * NS_PER_S,
};

interface Dialed {
  readonly address: string;
  readonly isOursToDial: boolean;
  /** Null: not connected. */
  upSinceNs: bigint | null;
  failures: number;
}

export interface DialerState {
  readonly peers: Map<PeerId, Dialed>;
}

/** Doubling ends here, whatever the configuration: 2^20 backoffs are longer than any cap. */
const DOUBLINGS_MAX = 20;
/**
 * Delays get up to half of themselves on top, in steps of a thousandth, so that a cluster does not dial in
 * step.
 */
const JITTER_STEPS = 500;

export function dialerLogic(config: DialerConfig): Logic<DialerState, DialerMail> {
  return {
    name: 'dialer',
    words: dialerMail,
    reads: NO_READS,
    start: (_boot, turn) => {
      const state: DialerState = { peers: new Map() };
      const effects: Effect[] = [];
      for (const { peer, address } of config.peers) {
        if (peer === config.self) continue;
        const dialed: Dialed = { address, isOursToDial: config.self < peer, upSinceNs: null, failures: 0 };
        state.peers.set(peer, dialed);
        if (dialed.isOursToDial) dial(config, peer, dialed, effects);
        else effects.push(later(peer, config.waitForOtherNs, turn));
      }
      return { state, effects };
    },
    receive: (state, message, turn) => {
      if (message.type === 'timer') return onTimer(config, state, message.timer);
      if (message.type !== 'up' && message.type !== 'down' && message.type !== 'dial-failed') {
        return unreachable(`dialer asked for no ${message.type}`);
      }
      const { peer } = message;
      const dialed = state.peers.get(peer);
      if (!dialed) return NO_EFFECTS; // it dialed us, and we were not told to keep it
      switch (message.type) {
        case 'up':
          dialed.upSinceNs = turn.monoNs;
          return [{ type: 'cancel', timer: timerOf(peer) }];
        case 'down':
          return onDown(config, peer, dialed, turn);
        case 'dial-failed':
          if (dialed.upSinceNs !== null) return NO_EFFECTS; // it reached us meanwhile
          dialed.failures++;
          return [later(peer, backoffOf(config, dialed), turn)];
      }
    },
    look: ({ peers }) =>
      Object.fromEntries(Array.from(peers, ([peer, { upSinceNs }]) => [peer, upSinceNs !== null])),
  };
}

const timerOf = (peer: PeerId): string => `dial:${peer}`;

function dial({ lostAfterNs }: DialerConfig, peer: PeerId, { address }: Dialed, effects: Effect[]): void {
  effects.push({ type: 'dial', peer, address });
  effects.push({ type: 'schedule', timer: timerOf(peer), afterNs: lostAfterNs });
}

function onTimer(config: DialerConfig, state: DialerState, timer: string): readonly Effect[] {
  const peer = timer.slice(timerOf('').length);
  const dialed = state.peers.get(peer) ?? unreachable(`no timer ${timer} was set`);
  if (dialed.upSinceNs !== null) return NO_EFFECTS;
  const effects: Effect[] = [];
  dial(config, peer, dialed, effects);
  return effects;
}

function onDown(config: DialerConfig, peer: PeerId, dialed: Dialed, turn: Turn): readonly Effect[] {
  const { upSinceNs } = dialed;
  if (upSinceNs === null) return NO_EFFECTS;
  dialed.upSinceNs = null;
  const wasGood = turn.monoNs - upSinceNs >= config.goodAfterNs;
  dialed.failures = wasGood ? 0 : dialed.failures + 1;
  const afterNs = backoffOf(config, dialed);
  const { waitForOtherNs } = config;
  const isSooner = dialed.isOursToDial || afterNs > waitForOtherNs;
  return [later(peer, isSooner ? afterNs : waitForOtherNs, turn)];
}

function backoffOf({ backoffNs, backoffMaxNs }: DialerConfig, { failures }: Dialed): bigint {
  const doublings = Math.min(Math.max(failures - 1, 0), DOUBLINGS_MAX);
  const delayNs = backoffNs << BigInt(doublings);
  return delayNs > backoffMaxNs ? backoffMaxNs : delayNs;
}

function later(peer: PeerId, afterNs: bigint, turn: Turn): Effect {
  const jitterNs = (afterNs * BigInt(turn.draw(JITTER_STEPS + 1))) / 1_000n;
  return { type: 'schedule', timer: timerOf(peer), afterNs: afterNs + jitterNs };
}
