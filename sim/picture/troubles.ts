// What the play does to its world, as spans of time: each begins with an action and ends with what undoes it.

import { MILLISECOND } from '../latency.ts';
import type { Action, NodeName } from '../scenario/play.ts';
import { actionText } from '../story.ts';
import type { Trouble } from './picture.ts';

type Open = { -readonly [K in keyof Trouble]: Trouble[K] } & {
  readonly forEver: boolean;
  readonly key: string;
  /** Whom it is in the way of. */
  readonly among: readonly number[];
  /** Nothing puts a clock right that runs fast or slow. */
  readonly drifts: boolean;
};

/** Ended by `heal`, unless they are for ever. */
const HEALED: ReadonlySet<string> = new Set(['isolate', 'partition', 'cut', 'clog', 'rule']);

export class Troubles {
  private readonly names: readonly string[];
  private readonly list: Open[] = [];
  private readonly open = new Set<Open>();

  constructor(names: readonly string[]) {
    this.names = names;
  }

  private indices(names: readonly string[]): number[] {
    return names.map((name) => this.names.indexOf(name));
  }

  acts(action: Action, atNs: number): void {
    for (const one of aspectsOf(action)) this.does(one, atNs);
  }

  private does(action: Action, atNs: number): void {
    this.undo(action, atNs);
    const trouble: Open = {
      does: action.do,
      text: actionText(action, this.names),
      nodes: this.indices(aboutOf(action)),
      fromNs: atNs,
      toNs: atNs,
      forEver: 'forEver' in action && action.forEver === true,
      key: keyOf(action),
      among: this.indices(isAmongAll(action) ? this.names : aboutOf(action)),
      drifts: action.do === 'clock' && (action.driftPpm ?? 0) !== 0,
    };
    // Pauses open when the node really stands still.
    if (action.do === 'pause') return;
    this.list.push(trouble);
    if (lasts(action)) this.open.add(trouble);
    if (action.do === 'clog') trouble.toNs = atNs + action.forMs * MILLISECOND;
  }

  paused(node: number, isPaused: boolean, atNs: number): void {
    if (!isPaused) return this.close(atNs, ({ does, nodes }) => does === 'pause' && nodes[0] === node);
    const pause = { does: 'pause', text: `${this.names[node]} is frozen`, nodes: [node] };
    const rest = { forEver: false, key: '', among: [node], drifts: false };
    const trouble: Open = { ...pause, fromNs: atNs, toNs: atNs, ...rest };
    this.list.push(trouble);
    this.open.add(trouble);
  }

  private undo(action: Action, atNs: number): void {
    const key = keyOf(action);
    if (action.do === 'heal') this.close(atNs, ({ does, forEver }) => HEALED.has(does) && !forEver);
    else if (action.do === 'core') this.healCore(this.indices(action.nodes), atNs);
    else if (action.do === 'calm') this.close(atNs, ({ does }) => does === 'links');
    else if (key !== '') this.close(atNs, (each) => each.key === key);
  }

  /** What is among the core alone ends, and so does every rule; what others are in goes on. */
  private healCore(core: readonly number[], atNs: number): void {
    this.close(
      atNs,
      ({ does, among, drifts }) => does === 'rule' || (!drifts && among.every((node) => core.includes(node))),
    );
  }

  private close(atNs: number, isOver: (trouble: Open) => boolean): void {
    for (const trouble of this.open) {
      if (!isOver(trouble)) continue;
      this.open.delete(trouble);
      // A clog has its own end, if nothing ends it before.
      if (trouble.does !== 'clog' || trouble.toNs > atNs) trouble.toNs = atNs;
    }
  }

  read(endNs: number): Trouble[] {
    this.close(endNs, () => true);
    return this.list.map(({ does, text, nodes, fromNs, toNs }) => ({ does, text, nodes, fromNs, toNs }));
  }
}

/** A clock that is made fast and set right goes on being fast: each is a trouble, or the end of one, by itself. */
function aspectsOf(action: Action): readonly Action[] {
  if (action.do !== 'clock') return [action];
  const { node, stepMs, driftPpm, frozen } = action;
  return [
    ...(stepMs === undefined ? [] : [{ do: 'clock', node, stepMs } as const]),
    ...(driftPpm === undefined ? [] : [{ do: 'clock', node, driftPpm } as const]),
    ...(frozen === undefined ? [] : [{ do: 'clock', node, frozen } as const]),
  ];
}

/** The nodes that an action names, those it is about only. */
function aboutOf(action: Action): readonly NodeName[] {
  switch (action.do) {
    case 'partition':
      return action.groups.flat();
    case 'cut':
    case 'clog':
      return [...action.from, ...action.to];
    case 'reset':
      return action.nodes;
    case 'submit':
      return [action.to];
    case 'links':
    case 'rule':
      return [...(action.from ?? []), ...(action.to ?? [])];
    case 'core':
      return action.nodes;
    case 'heal':
    case 'calm':
      return [];
    default:
      return [action.node];
  }
}

/** Whom it does not name it means, too: those whom no group of a partition names are one more; lines without ends are all. */
const isAmongAll = (action: Action): boolean =>
  action.do === 'isolate' ||
  action.do === 'partition' ||
  (action.do === 'links' && (!action.from || !action.to));

/** Whether it goes on until something else ends it. */
function lasts(action: Action): boolean {
  switch (action.do) {
    case 'isolate':
    case 'partition':
    case 'cut':
    case 'clog':
    case 'links':
    case 'rule':
      return true;
    case 'clock':
      return action.frozen === true || (action.driftPpm ?? 0) !== 0;
    case 'disk':
      return action.disk !== 'good';
    case 'signer':
      return action.takesMs > 0;
    case 'application':
      return action.blocksMs + action.checksMs > 0;
    default:
      return false;
  }
}

/** Two with the same key: the later takes the place of the earlier. Empty: none does. */
function keyOf(action: Action): string {
  if (action.do === 'clock') {
    if (action.stepMs !== undefined) return '';
    return `${action.frozen === undefined ? 'drift' : 'clock'} ${action.node}`;
  }
  if (action.do === 'disk' || action.do === 'signer' || action.do === 'application')
    return `${action.do} ${action.node}`;
  if (action.do === 'links') return `links ${action.from?.join() ?? '*'} ${action.to?.join() ?? '*'}`;
  return '';
}
