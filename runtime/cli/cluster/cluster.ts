// The processes of a cluster's nodes: started, spoken to, watched and ended. What happens comes out as one
// stream of events.

import { type ChildProcess, fork } from 'node:child_process';
import { createRequire } from 'node:module';
import { basename, join } from 'node:path';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';
import { type Observable, Subject } from 'rxjs';
import { hexOf } from '../../../protocol/bytes.ts';
import { usualPaths } from '../../host/home/home.ts';
import type { CommittedHeight, FromNode, NodeStatus, ToNode } from '../../host/process/process-words.ts';
import { buildCommit, cliFolder, isCompiled } from '../usage.ts';

export type ClusterEvent = { readonly node: ClusterNode } & (
  | { readonly type: 'line'; readonly text: string }
  | { readonly type: 'up'; readonly height: bigint }
  | { readonly type: 'status' }
  | ({ readonly type: 'committed' } & CommittedHeight)
  | { readonly type: 'applied'; readonly height: bigint; readonly stateDigest: Uint8Array }
  /** `isOurs`: it was stopped or killed by us. */
  | { readonly type: 'exited'; readonly how: string; readonly isOurs: boolean }
);

/** App hashes are kept for this many heights, so that nodes that end apart can be compared. */
const HASHES_KEPT = 10_000n;
/** A node that does not stop when asked is killed after this. */
const STOP_MS_MAX = 10_000;

/** The process, or a library in it, did what it must not: LMDB's map of the file may have been written to. */
const CRASHES: readonly string[] = ['SIGSEGV', 'SIGBUS', 'SIGABRT'];

export class ClusterNode {
  readonly index: number;
  readonly name: string;
  readonly home: string;
  /** Of its trace; null: nothing is recorded. */
  readonly record: string | null;
  status: NodeStatus | null = null;
  /** The last height that it reported as committed. */
  height = 0n;
  /** Of each height, as hex. */
  readonly appHashes = new Map<bigint, string>();
  /** Processor time of the processes before this one. */
  cpuMsBefore = 0;
  rssBytesMax = 0;
  /** Lives whose actors all started: a process may be killed before. */
  lives = 0;
  /** Why its process ended without being asked to, or not as it was asked to. */
  fatal: string | null = null;
  /** It had been asked to stop when that came. */
  failedToStop = false;
  /** The process; null: there is none. */
  child: ChildProcess | null = null;
  isEnding = false;
  /** What it needs was not to be had: a process, its port, its folder. That is no fault of the network. */
  wasRefused = false;
  /** What its channel had no room for: it waits in our memory until the process reads. */
  unread: ToNode | null = null;

  constructor(index: number, home: string, record: string | null) {
    this.index = index;
    this.name = basename(home);
    this.home = home;
    this.record = record;
  }

  /** Nothing more should be sent to it now. */
  get isBehind(): boolean {
    return this.unread !== null;
  }

  get isUp(): boolean {
    return this.child !== null && !this.isEnding;
  }

  get cpuMs(): number {
    return this.cpuMsBefore + (this.status?.cpuMs ?? 0);
  }
}

export class Cluster {
  readonly nodes: readonly ClusterNode[];
  readonly events: Observable<ClusterEvent>;
  private readonly subject = new Subject<ClusterEvent>();

  /** @param recordFolder where each node's trace is written; null: nowhere */
  constructor(homes: readonly string[], recordFolder: string | null) {
    this.events = this.subject;
    this.nodes = homes.map((home, i) => {
      const record = recordFolder === null ? null : join(recordFolder, `${basename(home)}.trace`);
      return new ClusterNode(i, home, record);
    });
  }

  startAll(): void {
    for (const node of this.nodes) this.start(node);
  }

  start(node: ClusterNode): void {
    const args = ['--home', node.home, '--commit', buildCommit()];
    if (node.record !== null) args.push('--record', node.record);
    node.cpuMsBefore = node.cpuMs;
    node.status = null;
    node.isEnding = false;
    node.wasRefused = false;
    node.fatal = null;
    node.failedToStop = false;
    node.unread = null;
    let child: ChildProcess;
    try {
      child = forked(args);
    } catch (error) {
      return this.onUnborn(node, error as Error); // some reasons are thrown, others are told later
    }
    node.child = child;
    for (const stream of [child.stdout, child.stderr]) {
      if (stream)
        createInterface({ input: stream }).on('line', (text) => this.emit({ type: 'line', node, text }));
    }
    child.on('message', (word) => this.hear(node, word as FromNode));
    child.on('error', (error) => {
      if (child.pid === undefined) this.onUnborn(node, error);
      else this.emit({ type: 'line', node, text: error.message });
    });
    child.on('exit', (code, signal) => this.onExit(node, child, signal ?? `code ${code}`, code === 0));
  }

  private emit(event: ClusterEvent): void {
    this.subject.next(event);
  }

  private hear(node: ClusterNode, word: FromNode): void {
    switch (word.type) {
      case 'up':
        node.height = word.height;
        node.lives++;
        return this.emit({ node, ...word });
      case 'status': {
        const { type, ...status } = word;
        node.status = status;
        node.rssBytesMax = Math.max(node.rssBytesMax, status.rssBytes);
        return this.emit({ type, node });
      }
      case 'committed':
        node.height = word.height;
        node.appHashes.set(word.height, hexOf(word.appHash));
        node.appHashes.delete(word.height - HASHES_KEPT);
        return this.emit({ node, ...word });
      case 'applied':
        return this.emit({ node, ...word });
      case 'fatal':
        node.fatal = word.because;
        node.wasRefused = word.isTaken;
        node.failedToStop ||= node.isEnding;
        this.mustEndSoon(node);
    }
  }

  /** What is broken may hang as it ends: its process does not stay for that. */
  private mustEndSoon({ child }: ClusterNode): void {
    if (child === null) return;
    const timeout = setTimeout(() => end(child, 'SIGKILL'), STOP_MS_MAX);
    child.once('exit', () => clearTimeout(timeout));
  }

  private onExit(node: ClusterNode, child: ChildProcess, how: string, isPeaceful: boolean): void {
    if (node.child !== child) return;
    const isOurs = node.isEnding;
    if (node.fatal === null && (!isOurs || (!isPeaceful && how !== 'SIGKILL'))) {
      node.fatal = `its process ended with ${how}`;
      node.failedToStop = isOurs;
    }
    if (CRASHES.includes(how))
      node.fatal += `; its databases (*.db in ${usualPaths(node.home).data}) may be damaged`;
    this.onGone(node, how);
  }

  /** There is no process, and nothing will be heard of its end. */
  private onUnborn(node: ClusterNode, error: Error): void {
    node.wasRefused = true;
    node.fatal = `its process could not be started: ${error.message}`;
    this.onGone(node, error.message);
  }

  private onGone(node: ClusterNode, how: string): void {
    const isOurs = node.isEnding;
    node.child = null;
    node.isEnding = false;
    this.emit({ type: 'exited', node, how, isOurs });
  }

  send(node: ClusterNode, word: ToNode): void {
    if (!node.isUp || !node.child?.connected) return;
    const hasRoom = node.child.send(word, () => {
      if (node.unread === word) node.unread = null;
    });
    if (!hasRoom) node.unread = word;
  }

  /** kill -9: gone before it can say or write anything more. */
  async kill(node: ClusterNode): Promise<void> {
    await this.ending(node, (child) => end(child, 'SIGKILL'));
  }

  /** Asks all to stop, and waits for them. */
  async stopAll(): Promise<void> {
    await Promise.all(this.nodes.map((node) => this.stop(node)));
  }

  private async stop(node: ClusterNode): Promise<void> {
    let timeout: NodeJS.Timeout | undefined;
    await this.ending(node, (child) => {
      if (child.connected) child.send({ type: 'stop' } satisfies ToNode, () => {});
      else end(child, 'SIGTERM');
      timeout = setTimeout(() => {
        node.fatal ??= `it did not stop within ${STOP_MS_MAX / 1_000} s, and was killed`;
        node.failedToStop = true;
        end(child, 'SIGKILL');
      }, STOP_MS_MAX);
    });
    clearTimeout(timeout);
  }

  private async ending(node: ClusterNode, ask: (child: ChildProcess) => void): Promise<void> {
    const { child } = node;
    if (child === null) return;
    // `close`: its last lines and words were read, too.
    const closed = new Promise<void>((done) => {
      child.once('close', () => done());
      if (child.pid === undefined) child.once('error', () => done());
    });
    node.isEnding = true;
    ask(child);
    await closed;
  }

  /** Without mercy, for the second Ctrl-C. */
  killAll(): void {
    for (const { child } of this.nodes) if (child) end(child, 'SIGKILL');
  }
}

/** One that never began has no pid, and Node would signal whatever stands there: 0 is our own group. */
function end(child: ChildProcess, signal: NodeJS.Signals): void {
  if (child.pid !== undefined) child.kill(signal);
}

function forked(args: readonly string[]): ChildProcess {
  return fork(entry(), args, {
    execArgv: isCompiled ? [] : ['--conditions=source', '--import', loader()],
    // A terminal's Ctrl-C is for us alone: we end the nodes in order.
    detached: true,
    serialization: 'advanced',
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    env: { ...process.env, NODE_ENV: 'production' },
  });
}

const entry = (): string =>
  join(cliFolder, '../host/process', isCompiled ? 'node-process.js' : 'node-process.ts');

/** What lets a process run our sources. */
const loader = (): string => pathToFileURL(createRequire(import.meta.url).resolve('tsx')).href;
