// Liveness inside a node: its actors come to rest. Actors that answer each other for ever, ask their stores, or wake themselves, let no height
// through, and the run never ends.

import type { Machine } from '../../machine.ts';
import type { Oracle, OracleMaker } from '../../oracle.ts';
import { PerMachine } from '../ghost/per-machine.ts';

/** Letters, reads and timers within a second of one height, when hardly anything comes from outside: a letter takes some ten microseconds. */
const LETTERS_MAX = 20_000;
const WINDOW_NS = 1_000_000_000;
/** What comes from outside may cause so many letters each. */
const LETTERS_EACH = 100;

/** What a node has done since it came to its height, or for a second. */
interface Letters {
  height: bigint;
  sinceNs: number;
  told: number;
  /** Envelopes and transactions. */
  came: number;
}

export const livelockOracle: OracleMaker = (report, about): Oracle => {
  const nodes = new PerMachine((): Letters => ({ height: -1n, sinceNs: 0, told: 0, came: 0 }));

  const judge = (at: Machine, letters: Letters): void => {
    const now = about.now();
    const { told, came, sinceNs } = letters;
    // A node that starts gives its application every block that it lacks.
    if (
      now - sinceNs < WINDOW_NS &&
      came * LETTERS_EACH < told &&
      at.mode !== 'handshake' &&
      about.isHonest(at)
    ) {
      const what = `its actors sent letters, read stores and set timers ${told} times within ${Math.ceil((now - sinceNs) / 1e6)} ms`;
      report(`${at.name} does not come to rest: ${what}`, at, at.height + 1n);
    }
    Object.assign(letters, { sinceNs: now, told: 0, came: 0 });
  };

  return {
    name: 'livelock',
    effects: ['tell', 'load', 'schedule'],
    started: (at) => void nodes.delete(at),
    heard: (at) => void nodes.of(at).came++,
    submitted: (at) => void nodes.of(at).came++,
    leaving(at) {
      const letters = nodes.of(at);
      if (letters.height !== at.height)
        Object.assign(letters, { height: at.height, sinceNs: about.now(), told: 0, came: 0 });
      letters.told++;
      if (letters.told % LETTERS_MAX === 0) judge(at, letters);
    },
  };
};
