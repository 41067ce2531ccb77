// Where the time of a run goes: V8's sampling profiler, and for each sample the innermost frame that says
// which part of the system was at work.

import { Session } from 'node:inspector';

interface CallFrame {
  readonly functionName: string;
  readonly url: string;
}
interface ProfileNode {
  readonly id: number;
  readonly callFrame: CallFrame;
  readonly children?: readonly number[];
}
interface Profile {
  readonly nodes: readonly ProfileNode[];
  readonly samples?: readonly number[];
  readonly timeDeltas?: readonly number[];
}

/**
 * The innermost frame of a stack whose file begins with one of these names its stage. What is shared
 * (protocol/) belongs to who called it.
 */
const STAGES: readonly (readonly [string, string])[] = [
  ['sim/oracles/', 'oracles'],
  ['sim/', 'world'],
  ['runtime/kernel/digest', 'digest'],
  ['runtime/kernel/effects', 'digest'],
  ['runtime/kernel/record', 'digest'],
  ['runtime/kernel/', 'kernel'],
  ['machines/mempool/', 'mempool'],
  ['actors/mempool', 'mempool'],
  ['machines/apps/', 'app'],
  ['actors/app', 'app'],
  ['machines/privval/', 'signer'],
  ['actors/signer', 'signer'],
  ['actors/blocksync', 'blocksync'],
  ['machines/sync/', 'blocksync'],
  ['actors/peer', 'peers'],
  ['actors/dialer', 'peers'],
  ['actors/validator/', 'validator'],
  ['machines/consensus/', 'validator'],
  ['machines/chain/', 'validator'],
  ['machines/evidence/', 'validator'],
];

/** Runs `work` under the profiler: microseconds per stage, greatest first. */
export function profileStages(work: () => void): Record<string, number> {
  const session = new Session();
  session.connect();
  let profile: Profile | undefined;
  session.post('Profiler.enable');
  session.post('Profiler.setSamplingInterval', { interval: 500 });
  session.post('Profiler.start');
  work();
  session.post('Profiler.stop', (_, result) => {
    profile = (result as { profile: Profile }).profile;
  });
  session.disconnect();
  return profile ? stagesOf(profile) : {};
}

function stagesOf({ nodes, samples = [], timeDeltas = [] }: Profile): Record<string, number> {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const stage = new Map<number, string>();
  const [root] = nodes;
  // Depth first, with a list instead of calls: stacks are deep.
  const open: { readonly id: number; readonly above: string }[] = root
    ? [{ id: root.id, above: 'other' }]
    : [];
  for (let next = open.pop(); next; next = open.pop()) {
    const node = byId.get(next.id);
    if (!node) continue;
    const own = stageOf(node.callFrame) ?? next.above;
    stage.set(node.id, own);
    for (const id of node.children ?? []) open.push({ id, above: own });
  }
  const sums = new Map<string, number>();
  samples.forEach((id, i) => {
    const name = stage.get(id) ?? 'other';
    if (name === PROFILER) return;
    sums.set(name, (sums.get(name) ?? 0) + (timeDeltas[i] ?? 0));
  });
  return Object.fromEntries([...sums].sort((a, b) => b[1] - a[1]));
}

/** Its own work is no part of what it measures. */
const PROFILER = 'profiler';

function stageOf({ functionName, url }: CallFrame): string | null {
  if (url === 'node:inspector') return PROFILER;
  if (functionName === '(garbage collector)') return 'garbage collector';
  if (functionName === '(idle)' || functionName === '(program)') return 'engine';
  for (const [folder, name] of STAGES) if (url.includes(`/${folder}`)) return name;
  return null;
}
