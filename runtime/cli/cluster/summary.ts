// What a cluster's run came to: a line a node, what was sent, and whether all hold the same.

import { EXIT, type Exit } from '../usage.ts';
import type { ClusterNode } from './cluster.ts';

/** Every node got there; somebody asked for the end; a process ended by itself. */
export type Ending = 'blocks' | 'signal' | 'death';

export interface End {
  readonly why: Ending;
  /** Asked for; null: whatever there is when it is interrupted. */
  readonly blocks: bigint | null;
  readonly pace: { readonly heights: number; readonly text: string };
  readonly transactions: { readonly sent: number; readonly committed: number };
}

export type EndedNode = Pick<
  ClusterNode,
  'name' | 'height' | 'appHashes' | 'cpuMs' | 'rssBytesMax' | 'fatal' | 'failedToStop' | 'wasRefused'
>;

export interface Summary {
  readonly lines: readonly string[];
  readonly exit: Exit;
}

export function summaryOf(nodes: readonly EndedNode[], end: End): Summary {
  const lowest = nodes.reduce(
    (least, { height }) => (height < least ? height : least),
    nodes[0]?.height ?? 0n,
  );
  const { exit, lines } = judgement(nodes, lowest, end);
  const { pace, transactions } = end;
  return {
    lines: [
      '',
      ...nodes.map((node) => nodeLine(node, lowest)),
      pace.text,
      `transactions: ${transactions.sent} sent, ${transactions.committed} committed`,
      ...lines,
    ],
    exit,
  };
}

function nodeLine({ name, height, appHashes, cpuMs, rssBytesMax }: EndedNode, lowest: bigint): string {
  const cpu = `${(cpuMs / 1_000).toFixed(1)} s of processor, ${Math.round(rssBytesMax / 1e6)} MB`;
  const hash = appHashes.get(lowest) ?? '(none of this run)';
  return `${name}  height ${height}, app hash at height ${lowest}: ${hash}, ${cpu}`;
}

/** The worst first. */
function judgement(nodes: readonly EndedNode[], lowest: bigint, { why, blocks, pace }: End): Summary {
  const dead = nodes.filter(({ fatal }) => fatal !== null);
  if (dead.length > 0)
    return {
      lines: dead.map(({ name, fatal, failedToStop }) =>
        failedToStop ? `${name} did not stop in order: ${fatal}` : `${name} ended by itself: ${fatal}`,
      ),
      exit: dead.every(({ wasRefused }) => wasRefused) ? EXIT.usage : EXIT.violated,
    };
  const violated = (line: string): Summary => ({ lines: [line], exit: EXIT.violated });
  const known = nodes.flatMap(({ appHashes }) => appHashes.get(lowest) ?? []);
  const different = new Set(known).size;
  if (different > 1) return violated(`the app hashes at height ${lowest} differ`);
  const areEqual = known.length === nodes.length && different === 1;
  if (why === 'signal' && (blocks === null ? !areEqual : lowest < blocks))
    return violated(`interrupted before height ${blocks ?? lowest + 1n}`);
  if (areEqual) return { lines: ['equal app hashes'], exit: EXIT.holds };
  if (pace.heights > 0 || nodes.some(({ appHashes }) => appHashes.size > 0))
    return violated(`not every node told its app hash of height ${lowest}`);
  if (why !== 'blocks') return violated('no height was decided in this run, so no app hashes were compared');
  const line = `--blocks ${blocks}: all were there before this run, so nothing was compared; ask for more`;
  return { lines: [line], exit: EXIT.usage };
}
