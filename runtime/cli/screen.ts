// What a run looks like in a terminal: columns of events per node, a progress bar, and the verdict.

import type { NodeEvent } from '../../actors/turn.ts';
import type { Machine } from '../../sim/machine.ts';
import type { StoryLine, Verdict } from '../../sim/verdict.ts';
import { eventName, grouped, secondsOf } from './telling.ts';

type Print = (line: string) => void;

const TIME_WIDTH = 13;
const COLUMN_WIDTH = 30;

/** One line per event: the time, then a column per node. Columns appear as nodes do. */
export class Columns {
  private readonly print: Print;
  private readonly names: string[] = [];

  constructor(print: Print) {
    this.print = print;
  }

  event(at: Machine, event: NodeEvent, atNs: number): void {
    const what = eventName(event);
    if (what === null) return;
    if (this.names[at.index] === undefined) this.head(at);
    this.print(`${time(atNs)}${' '.repeat(at.index * COLUMN_WIDTH)}${what}`);
  }

  line({ atNs, what }: StoryLine): void {
    this.print(`${time(atNs)}-- ${what}`);
  }

  private head(at: Machine): void {
    this.names[at.index] = at.name;
    const cells = Array.from(this.names, (name) => (name ?? '').padEnd(COLUMN_WIDTH));
    this.print(`${'seconds'.padStart(TIME_WIDTH - 2)}  ${cells.join('').trimEnd()}`);
  }
}

const time = (atNs: number): string => `${secondsOf(atNs).padStart(TIME_WIDTH - 2)}  `;

/** A story in sentences: who does it is part of the sentence. */
export const storyLine = ({ atNs, what }: StoryLine): string => `${time(atNs)}${what}`;

const BAR_WIDTH = 30;
/** A short run needs no bar; a long one wants no more than this many updates. */
const BAR_AFTER_MS = 700;
const BAR_EVERY_MS = 100;

/** A bar on stderr, where that is a terminal. */
export class ProgressBar {
  private readonly isOn: boolean;
  private readonly startedMs = performance.now();
  private drawnMs = 0;

  constructor(isWanted = true) {
    this.isOn = isWanted && process.stderr.isTTY === true;
  }

  update(done: number, what: string): void {
    const now = performance.now();
    if (!this.isOn || now - this.startedMs < BAR_AFTER_MS || now - this.drawnMs < BAR_EVERY_MS) return;
    this.drawnMs = now;
    const filled = Math.max(0, Math.min(BAR_WIDTH, Math.floor(done * BAR_WIDTH)));
    const bar = '#'.repeat(filled) + '.'.repeat(BAR_WIDTH - filled);
    process.stderr.write(`\r[${bar}] ${String(Math.floor(done * 100)).padStart(3)} %  ${what}\x1b[K`);
  }

  /** Takes the bar away, so that what is printed next has a line of its own. */
  clear(): void {
    if (this.isOn && this.drawnMs > 0) process.stderr.write('\r\x1b[K');
    this.drawnMs = 0;
  }
}

const LABEL_WIDTH = 14;
const row = (label: string, text: string): string => `  ${label.padEnd(LABEL_WIDTH)}${text}`;

/** The verdict as a block of lines. `wallMs`: how long the run took here. */
export function verdictLines(verdict: Verdict, wallMs: number): string[] {
  const { nodes, faults, rounds, transactions } = verdict;
  const crypto = verdict.crypto === 'sim' ? 'sim-crypto' : 'ed25519';
  const virtual = (verdict.virtualNs / 1e9).toFixed(1);
  const lines = [
    '',
    `${verdict.holds ? 'HOLDS' : 'VIOLATED'}  ${verdict.scenario}, seed ${verdict.seed}, ${crypto}`,
  ];
  for (const { oracle, what, node, atNs, height } of verdict.violations) {
    const where = [node, `height ${height}`, `${secondsOf(atNs)} s`].filter((part) => part !== '').join(', ');
    lines.push(row('violated', `${oracle}: ${what} (${where})`));
  }
  const heights = nodes.map(({ name, height, crashes }) => {
    const fell = crashes === 0 ? '' : ` (${crashes} ${crashes === 1 ? 'crash' : 'crashes'})`;
    return `${name} ${height}${fell}`;
  });
  lines.push(
    row(
      'time',
      `${virtual} virtual seconds in ${(wallMs / 1000).toFixed(1)} s, ${grouped(verdict.deliveries)} deliveries`,
    ),
    row('heights', heights.join(', ')),
    row(
      'rounds',
      `${rounds.laterThanFirst} heights took more than one, the longest went to round ${rounds.max}`,
    ),
    row('transactions', `${transactions.submitted} submitted, ${transactions.committed} committed`),
    row('faults', faultsLine(faults)),
    row('app hash', appHashLine(verdict)),
    row('digest', verdict.digest),
    row('again', verdict.again),
  );
  return lines;
}

function faultsLine(faults: Verdict['faults']): string {
  const happened = Object.entries(faults).filter(([, times]) => times > 0);
  return happened.length === 0
    ? 'none'
    : happened.map(([name, times]) => `${name} ${grouped(times)}`).join(', ');
}

/** Of the nodes that got furthest; more than one hash there would be a fork. */
function appHashLine({ nodes }: Verdict): string {
  const top = nodes.reduce((most, { height }) => (height > most ? height : most), 0n);
  const hashes = new Set(nodes.filter(({ height }) => height === top).map(({ appHash }) => appHash));
  return `${[...hashes].join(' and ')} at height ${top}`;
}

/** Verdicts as JSON: bigints are strings. */
export const toJson = (value: unknown): string =>
  JSON.stringify(value, (_, each) => (typeof each === 'bigint' ? String(each) : each), 2);
