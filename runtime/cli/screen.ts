// What a run looks like in a terminal: columns of events per node, a progress bar, and the verdict.

import type { NodeEvent } from '../../actors/turn.ts';
import type { Explanation } from '../../sim/explain/explain.ts';
import type { Machine } from '../../sim/machine.ts';
import type { StoryLine, Verdict } from '../../sim/verdict.ts';
import { eventName, grouped, secondsOf, shortHash } from './telling.ts';

type Print = (line: string) => void;

const TIME_WIDTH = 13;
/** As long as nearly every event, and as a name that is still told from its neighbour. */
const COLUMN_WIDTH = 30;
const COLUMN_WIDTH_MIN = 4;

/** One line per event: the time, then a column per node. Columns appear as nodes do, and are closer where the screen is narrow. */
export class Columns {
  private readonly print: Print;
  private readonly names: string[] = [];
  private readonly screenWidth: number;
  private width = COLUMN_WIDTH;

  /** @param screenWidth in letters; what is no terminal has room for all */
  constructor(print: Print, screenWidth = Number.POSITIVE_INFINITY) {
    this.print = print;
    this.screenWidth = screenWidth;
  }

  /** So many nodes there are: the last of them needs a whole column, those before it begin beside each other. */
  seat(nodes: number): void {
    const room = Math.floor((this.screenWidth - TIME_WIDTH - COLUMN_WIDTH) / Math.max(1, nodes - 1));
    this.width = Math.min(COLUMN_WIDTH, Math.max(COLUMN_WIDTH_MIN, room));
  }

  event(at: Machine, event: NodeEvent, atNs: number): void {
    const what = eventName(event, (peer) => addressOf(at, peer));
    if (what === null) return;
    if (this.names[at.index] === undefined) this.head(at);
    this.print(`${time(atNs)}${' '.repeat(at.index * this.width)}${what}`);
  }

  /** What the world does; what nodes do is told by their events. */
  line({ atNs, node, what }: StoryLine): void {
    if (node === '') this.print(`${time(atNs)}-- ${what}`);
  }

  private head(at: Machine): void {
    this.names[at.index] = at.name;
    const cells = Array.from(this.names, (name) => (name ?? '').padEnd(this.width));
    this.print(`${'seconds'.padStart(TIME_WIDTH - 2)}  ${cells.join('').trimEnd()}`);
  }
}

/** `sim://v1` is v1. */
const addressOf = (at: Machine, peer: string): string =>
  at.config.peers.find((each) => each.peer === peer)?.address.replace(/^.*:\/\//, '') ?? peer.slice(0, 8);

const time = (atNs: number): string => `${secondsOf(atNs).padStart(TIME_WIDTH - 2)}  `;

/** After so many heights a short story only tells each hundredth. */
const HEIGHTS_TOLD = 100n;

/** A story in sentences: all of it, or what disturbs the heights, and each of them in one line. */
export class Story {
  private readonly print: Print;
  private readonly isWhole: boolean;
  private height = 0n;
  /** The height before the first that was told of. */
  private before: bigint | null = null;

  constructor(print: Print, isWhole: boolean) {
    this.print = print;
    this.isWhole = isWhole;
  }

  line({ atNs, node, what, isEveryday }: StoryLine): void {
    if (node === '') this.print(`${time(atNs)}-- ${what}`);
    else if (this.isWhole || !isEveryday) this.print(`${time(atNs)}${node} ${what}`);
  }

  event(at: Machine, event: NodeEvent, atNs: number): void {
    if (this.isWhole || event.type !== 'committed' || event.height <= this.height) return;
    const { height, hash, round, txs } = event;
    this.height = height;
    this.before ??= height - 1n;
    if (height > this.before + HEIGHTS_TOLD && height % HEIGHTS_TOLD !== 0n) return;
    const late = round === 0 ? '' : `, in round ${round}`;
    const many = txs === 1 ? '1 transaction' : `${txs} transactions`;
    this.print(
      `${time(atNs)}height ${height}: block ${shortHash(hash)} with ${many}${late}; ${at.name} has it first`,
    );
  }
}

const BAR_WIDTH = 30;
/** A short run needs no bar; a long one wants no more than this many updates. */
const BAR_AFTER_MS = 700;
const BAR_EVERY_MS = 100;

/** A log file wants no more than this. */
const LINES_EVERY_MS = 10_000;

/** On stderr: a bar, where that is a terminal; elsewhere a line now and then, but none with `--json`: what reads that may read both streams. */
export class ProgressBar {
  private readonly isWanted: boolean;
  private readonly isTerminal = process.stderr.isTTY === true;
  private readonly startedMs = performance.now();
  private toldMs = this.startedMs;
  private isDrawn = false;

  constructor(isJson = false) {
    this.isWanted = this.isTerminal || !isJson;
  }

  update(done: number, what: string): void {
    const now = performance.now();
    if (!this.isWanted || now - this.toldMs < (this.isTerminal ? BAR_EVERY_MS : LINES_EVERY_MS)) return;
    if (this.isTerminal && now - this.startedMs < BAR_AFTER_MS) return;
    this.toldMs = now;
    const percent = `${String(Math.floor(done * 100)).padStart(3)} %  ${what}`;
    if (!this.isTerminal) return void process.stderr.write(`${percent}\n`);
    this.isDrawn = true;
    const filled = Math.max(0, Math.min(BAR_WIDTH, Math.floor(done * BAR_WIDTH)));
    const bar = '#'.repeat(filled) + '.'.repeat(BAR_WIDTH - filled);
    process.stderr.write(`\r[${bar}] ${percent}\x1b[K`);
  }

  /** Takes the bar away, so that what is printed next has a line of its own. */
  clear(): void {
    if (this.isDrawn) process.stderr.write('\r\x1b[K');
    this.isDrawn = false;
  }
}

const LABEL_WIDTH = 14;
export const row = (label: string, text: string): string => `  ${label.padEnd(LABEL_WIDTH)}${text}`;

/** The verdict as a block of lines. `wallMs`: how long the run took here; `commit`: of the build, without which a failing run is not the same again. */
export function verdictLines(verdict: Verdict, wallMs: number, commit: string): string[] {
  const { nodes, faults, rounds, transactions } = verdict;
  const crypto = verdict.crypto === 'sim' ? 'sim-crypto' : 'ed25519';
  const virtual = (verdict.virtualNs / 1e9).toFixed(1);
  const lines = [
    '',
    `${verdict.holds ? 'HOLDS' : 'VIOLATED'}  ${verdict.scenario}, seed ${verdict.seed}, ${crypto}`,
  ];
  for (const { oracle, what, node, atNs, height, thrown } of verdict.violations) {
    const where = [node, `height ${height}`, `${secondsOf(atNs)} s`].filter((part) => part !== '').join(', ');
    lines.push(row('violated', `${oracle}: ${what} (${where})`));
    for (const frame of framesOf(thrown)) lines.push(row('', frame));
  }
  if (verdict.fork) lines.push(row('fork', forkLine(verdict.fork)));
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
      `${rounds.laterThanFirst} of the heights decided took more than one; the furthest anybody went is round ${rounds.max}`,
    ),
    row('transactions', `${transactions.submitted} submitted, ${transactions.committed} committed`),
    row('faults', faultsLine(faults)),
    ...unmetLines(verdict.unmet),
    row('app hash', appHashLine(verdict)),
    row('digest', verdict.digest),
    ...(verdict.holds ? [] : [row('commit', commit)]),
    row('again', verdict.again),
  );
  return lines;
}

const forkLine = ({ height, guilty, power, total }: NonNullable<Verdict['fork']>): string =>
  `at height ${height}, as promised; guilty with ${power} of ${total} power: ` +
  guilty.map(({ name, why }) => `${name} (${why})`).join(', ');

/** Why a run was violated, below its verdict. */
export function explanationLines({ sentence, story, stalls }: Explanation): string[] {
  const lines = ['', sentence];
  for (const { atNs, node, what } of story) lines.push(`${time(atNs)}${node === '' ? '--' : node} ${what}`);
  if (stalls.length > 0) lines.push('who stands still:', ...stalls.map((stall) => `  ${stall}`));
  return lines;
}

const FRAMES_SHOWN = 3;

/** Where it was thrown: the first places of a stack. */
function framesOf(thrown: unknown): string[] {
  const first = thrown instanceof Error ? (thrown.cause ?? thrown) : null;
  const stack = first instanceof Error ? (first.stack ?? '') : '';
  const frames = stack.split('\n').filter((line) => /^ +at /.test(line));
  return frames.slice(0, FRAMES_SHOWN).map((line) => line.trim());
}

function faultsLine(faults: Verdict['faults']): string {
  const happened = Object.entries(faults).filter(([, times]) => times > 0);
  return happened.length === 0
    ? 'none'
    : happened.map(([name, times]) => `${name} ${grouped(times)}`).join(', ');
}

const UNMET_SHOWN = 4;

/** A swarm may have many of them. */
function unmetLines(unmet: Verdict['unmet']): string[] {
  const more = unmet.length - UNMET_SHOWN;
  const shown = more > 1 ? [...unmet.slice(0, UNMET_SHOWN), `and ${more} more`] : unmet;
  return shown.map((each, i) => row(i === 0 ? 'never met' : '', each));
}

/** Of the nodes that got furthest; more than one hash there would be a fork. */
function appHashLine({ nodes }: Verdict): string {
  const top = nodes.reduce((most, { height }) => (height > most ? height : most), 0n);
  const hashes = new Set(
    nodes.filter(({ height }) => height === top).map(({ appHash }) => appHash || '(empty)'),
  );
  return `${[...hashes].join(' and ')} at height ${top}`;
}

/** Verdicts as JSON: bigints are strings, and what was thrown is its stack. */
export const toJson = (value: unknown): string => JSON.stringify(value, plain, 2);

const plain = (_: string, each: unknown): unknown =>
  typeof each === 'bigint' ? String(each) : each instanceof Error ? each.stack : each;
