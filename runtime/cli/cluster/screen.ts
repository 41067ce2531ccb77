// A cluster on a terminal: the nodes' lines with their names before them, and below them one line per node
// that is kept fresh. Elsewhere plain lines.

import { STEP_TEXT } from '../../../sim/steps.ts';
import type { NodeStatus } from '../../host/process/process-words.ts';
import { counted } from '../telling.ts';
import type { Cluster, ClusterNode } from './cluster.ts';

const REDRAW_MS = 200;
/** Where nothing can be redrawn, a status line per node comes this often. */
const PLAIN_STATUS_MS = 10_000;
/** Of a terminal that does not tell. */
const [COLUMNS, ROWS] = [80, 24];

export class ClusterScreen {
  private readonly cluster: Cluster;
  private readonly out: NodeJS.WriteStream;
  private readonly isTerminal: boolean;
  private readonly quiet: boolean;
  private readonly width: number;
  private drawn = 0;
  private readonly timer: NodeJS.Timeout;

  /** @param quiet without the nodes' own lines */
  constructor(cluster: Cluster, quiet: boolean, out: NodeJS.WriteStream = process.stdout) {
    this.cluster = cluster;
    this.quiet = quiet;
    this.out = out;
    this.isTerminal = out.isTTY === true;
    this.width = Math.max(...cluster.nodes.map(({ name }) => name.length));
    cluster.events.subscribe((event) => {
      if (event.type === 'line' && !this.quiet) this.nodeLine(event.node, event.text);
      if (event.type === 'exited' && !event.isOurs)
        this.nodeLine(event.node, `ended by itself (${event.how})`);
    });
    const redraw = (): void => (this.isTerminal ? this.redraw() : this.plainStatus());
    this.timer = setInterval(redraw, this.isTerminal ? REDRAW_MS : PLAIN_STATUS_MS);
  }

  /** A line of the cluster itself. */
  line(text: string): void {
    this.erase();
    this.out.write(`${text}\n`);
    this.draw();
  }

  private nodeLine(node: ClusterNode, text: string): void {
    this.line(`${node.name.padEnd(this.width)} | ${text}`);
  }

  /** The status lines go, and nothing is drawn any more. */
  close(): void {
    clearInterval(this.timer);
    this.erase();
    this.drawn = 0;
  }

  private redraw(): void {
    this.erase();
    this.draw();
  }

  private erase(): void {
    if (this.drawn > 0) this.out.write(`\x1b[${this.drawn}A\x1b[0J`);
    this.drawn = 0;
  }

  private draw(): void {
    if (!this.isTerminal) return;
    const { columns, rows } = this.out;
    const texts = this.cluster.nodes.map((node) => this.statusText(node));
    const lines = fitting(texts, (rows || ROWS) - 1).map((line) => line.slice(0, (columns || COLUMNS) - 1));
    this.out.write(`${lines.join('\n')}\n`);
    this.drawn = lines.length;
  }

  private plainStatus(): void {
    for (const node of this.cluster.nodes) this.out.write(`${this.statusText(node)}\n`);
  }

  private statusText(node: ClusterNode): string {
    const name = `${node.name.padEnd(this.width)} :`;
    const { status } = node;
    if (!node.isUp) return `${name} down${node.fatal === null ? '' : `: ${node.fatal}`}`;
    if (!status) return `${name} starting`;
    return (
      `${name} height ${node.height}, ${standing(status)}, ${counted(status.peers, 'peer')}, ${status.pool} txs in pool, ` +
      `${Math.round(status.rssBytes / 1e6)} MB`
    );
  }
}

/** Where consensus began and no step was told yet, there is only the round. */
function standing({ mode, round, step }: NodeStatus): string {
  if (mode !== 'consensus') return mode;
  const text = STEP_TEXT[step];
  return text === undefined ? `round ${round}` : `round ${round}, ${text}`;
}

/** What has scrolled off the top cannot be erased: no more lines than `most`, of which the last counts those that are left out. */
function fitting(lines: readonly string[], most: number): readonly string[] {
  if (lines.length <= most) return lines;
  const shown = lines.slice(0, Math.max(0, most - 1));
  return [...shown, `and ${lines.length - shown.length} more`];
}
