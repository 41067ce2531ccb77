// How often each fault happened in a run, by name: what a campaign must show to be more than zero.

import type { Machine } from './machine.ts';
import type { Stage } from './scenario/stage.ts';

export function faultsOf(stage: Stage): Readonly<Record<string, number>> {
  const { world } = stage;
  const { counters } = world.network;
  const sums: Record<string, number> = {
    'envelopes lost': counters.dropped,
    'envelopes doubled': counters.duplicated,
    'envelopes reordered': counters.reordered,
    'envelopes corrupted': counters.corrupted + counters.truncated,
    'envelopes cut off': counters.cut,
    'envelopes clogged': counters.clogged,
    'envelopes throttled': counters.throttled,
    'envelopes dropped by rule': counters.ruledDropped,
    'envelopes kept back by liars': counters.keptBack,
    'messages dropped by rule': stage.rules.messagesDropped,
    'envelopes delayed by rule': counters.ruledDelayed,
    'connections closed': counters.closed,
    'deaths unnoticed': counters.unnoticed,
    crashes: 0,
    restarts: 0,
    'log records lost': 0,
    'log records torn': 0,
    'store batches lost': 0,
    'trims undone': 0,
    'writes refused by a full disk': 0,
  };
  const add = (name: string, more: number): void => {
    sums[name] = (sums[name] ?? 0) + more;
  };
  for (const machine of world.machines) {
    const { counters: disk } = machine.disk;
    add('crashes', machine.crashes);
    add('restarts', Math.max(0, machine.lives - 1));
    add('log records lost', disk.recordsLost);
    add('log records torn', disk.recordsTorn);
    add('store batches lost', disk.batchesLost);
    add('trims undone', disk.trimsUndone);
    add('writes refused by a full disk', disk.refusedFull);
  }
  for (const [action, times] of stage.counts) {
    const name = NAMED[action];
    if (name) add(name, times);
    else if (action.startsWith('crashed ') || action.startsWith('lie: ')) add(action, times);
  }
  add('slow disks', stage.slowDisks);
  add('clocks far apart', isFarApart(world.machines) ? 1 : 0);
  return Object.fromEntries(Object.entries(sums).filter(([, times]) => times > 0));
}

const FAR_APART_NS = 1_000_000_000n;

/** More than a second between two clocks, at the end. */
function isFarApart(machines: readonly Machine[]): boolean {
  const walls = machines.map(({ clock }) => clock.wallNs()).sort((a, b) => (a < b ? -1 : 1));
  return (walls.at(-1) ?? 0n) - (walls[0] ?? 0n) > FAR_APART_NS;
}

const NAMED: Readonly<Record<string, string>> = {
  isolate: 'partitions',
  partition: 'partitions',
  cut: 'one-way cuts',
  pause: 'pauses',
  clock: 'clock changes',
  disk: 'disk changes',
  signer: 'signer changes',
  application: 'application changes',
  refused: 'transactions refused',
  reset: 'connections reset',
  empower: 'validator changes asked for',
};
