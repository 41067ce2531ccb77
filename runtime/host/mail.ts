// Keeps the Mail port: one queue for the node, delivered in bursts between which sockets, timers and disks
// are served.

import type { Mail } from '../kernel/ports.ts';

/** A burst ends after this long: what waits for the event loop waits about this long plus one turn. */
const BURST_MS = 4;

export interface HostMail extends Mail {
  /** Letters under way. */
  readonly waiting: number;
  /** Throws the letters under way, and all later ones, away. */
  close(): void;
}

export function hostMail(): HostMail {
  // Two arrays that change places: no shift from the front of a long one.
  let arriving: (() => void)[] = [];
  let leaving: (() => void)[] = [];
  let next = 0;
  let burstAsked = false;
  let closed = false;

  const askBurst = () => {
    if (burstAsked || closed) return;
    burstAsked = true;
    setImmediate(burst);
  };
  const burst = () => {
    burstAsked = false;
    const endMs = performance.now() + BURST_MS;
    try {
      while (!closed) {
        if (next === leaving.length) {
          if (arriving.length === 0) return;
          leaving.length = 0;
          [leaving, arriving] = [arriving, leaving];
          next = 0;
        }
        leaving[next++]!();
        if (performance.now() > endMs) return;
      }
    } finally {
      // Also after a throw: the letters of other nodes in this process must not be held by one node's bug.
      if (next < leaving.length || arriving.length > 0) askBurst();
    }
  };

  return {
    carry: (_from, _to, deliver) => {
      if (closed) return;
      arriving.push(deliver);
      askBurst();
    },
    get waiting() {
      return leaving.length - next + arriving.length;
    },
    close: () => {
      closed = true;
      arriving = [];
      leaving = [];
      next = 0;
    },
  };
}
