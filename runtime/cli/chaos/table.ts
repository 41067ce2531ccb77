// The outcome of a chaos run as lines: a row per node, what was compared, what was broken, and the verdict.

import type { ClusterNode } from '../cluster/cluster.ts';
import { bytesName, grouped } from '../telling.ts';
import type { Damage } from './damage.ts';
import type { Problems } from './facts.ts';
import type { StoreFacts } from './stores.ts';
import type { TraceFacts } from './traces.ts';

export interface Killed {
  readonly node: ClusterNode;
  readonly kills: number;
  readonly damage: Damage;
  /** From the start of the new process until its store stood where its peers stood. */
  readonly backMs: number;
  /** ... until it committed a height together with them. */
  readonly withThemMs: number;
}

export interface ChaosTable {
  readonly rows: readonly {
    readonly node: ClusterNode;
    readonly store: StoreFacts;
    readonly trace: TraceFacts;
    readonly killed: readonly Killed[];
  }[];
  readonly problems: Problems;
  readonly ranMs: number;
  readonly sent: number;
  /** Of those sent. */
  readonly committed: number;
  /** Transactions that any node reported as committed. */
  readonly reported: number;
  readonly claims: number;
  readonly signatures: number;
}

const HEAD = [
  'node',
  'height',
  'txs',
  'kills',
  'cut',
  'back (max)',
  'with peers (max)',
  'trace',
  'records',
  'lives',
];

export function chaosTable(table: ChaosTable): string[] {
  const { rows, problems, ranMs } = table;
  const cells = rows.map(({ node, store, trace, killed }) => [
    node.name,
    String(store.height),
    grouped(store.txs),
    String(killsOf(killed)),
    bytesName(killed.reduce((sum, { damage }) => sum + damage.cut, 0)),
    seconds(Math.max(0, ...killed.map(({ backMs }) => backMs))),
    seconds(Math.max(0, ...killed.map(({ withThemMs }) => withThemMs))),
    bytesName(trace.bytes),
    grouped(trace.records),
    String(trace.lives),
  ]);
  const widths = HEAD.map((head, i) => Math.max(head.length, ...cells.map((row) => row[i]?.length ?? 0)));
  const line = (row: readonly string[]): string =>
    row
      .map((cell, i) => cell.padEnd(widths[i] ?? 0))
      .join('  ')
      .trimEnd();
  const kills = rows.reduce((sum, { killed }) => sum + killsOf(killed), 0);
  const promises = rows.reduce((sum, { trace }) => sum + trace.promises, 0);
  const twice = rows.reduce((most, { store }) => Math.max(most, store.twice), 0);
  const lowest = rows.reduce(
    (least, { store }) => Math.min(least, Number(store.height)),
    Number.MAX_SAFE_INTEGER,
  );
  return [
    '',
    line(HEAD),
    ...cells.map(line),
    '',
    `${lowest} heights in ${seconds(ranMs)} with ${kills} kills`,
    `transactions: ${grouped(table.sent)} sent, ${grouped(table.reported)} reported committed ` +
      'and found in every store' +
      (twice > 0 ? `, ${twice} of them in two blocks` : ''),
    `compared: ${grouped(table.claims)} statements about heights (live, stores, recordings), ` +
      `${grouped(table.signatures)} signatures, ${promises} promises over a kill`,
    ...problems.told.map((problem) => `violated: ${problem}`),
    problems.count === 0
      ? 'HOLDS: nothing lost, no divergence, no double signature, every recording replays'
      : `VIOLATED: ${problems.count} problems`,
  ];
}

const killsOf = (killed: readonly Killed[]): number => killed.reduce((sum, { kills }) => sum + kills, 0);

const seconds = (ms: number): string => `${(ms / 1_000).toFixed(1)} s`;
