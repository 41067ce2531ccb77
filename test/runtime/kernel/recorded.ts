// Records a small simulated network, one trace record per turn, and gives the actors back to a replay.

import { configOfValue, configValue, type NodeConfig, nodeCast } from '../../../actors/node.ts';
import type { NodeCast } from '../../../actors/turn.ts';
import { unreachable } from '../../../protocol/refusal.ts';
import type { Node } from '../../../runtime/kernel/node.ts';
import type { TurnRecord } from '../../../runtime/kernel/record.ts';
import { Replay } from '../../../runtime/kernel/replay.ts';
import {
  encodeHeader,
  encodeRecord,
  TRACE_FORMAT,
  type TraceHeader,
  TraceReader,
  type TraceRecord,
  type TraceRefusal,
} from '../../../runtime/kernel/trace.ts';
import { makeCast } from '../../../sim/cast.ts';
import { Choices } from '../../../sim/choices.ts';
import type { Machine } from '../../../sim/machine.ts';
import { worldCrypto } from '../../../sim/sim-crypto.ts';
import { World } from '../../../sim/world.ts';

export interface Recorded {
  readonly header: TraceHeader;
  readonly frames: readonly Uint8Array[];
  readonly world: World;
}

/** Runs until all reach `height`; `crash` takes the first machine down at height 1 and up again. */
export function record(
  powers: readonly bigint[],
  height: bigint,
  options: { crash?: boolean; memo?: boolean } = {},
): Recorded {
  const frames: Uint8Array[] = [];
  const onTurn = (machine: Machine, { input }: TurnRecord): void => {
    const node: Node = machine.node ?? unreachable('a turn of a node that is down');
    frames.push(encodeRecord(machine.index, input, node.digest.read()));
  };
  const cast = makeCast({ powers });
  const choices = new Choices({ seed: 7 }, 'forget');
  const world = new World({ cast, choices, crypto: 'sim', onTurn, memo: options.memo ?? true });
  const header: TraceHeader = {
    format: TRACE_FORMAT,
    commit: 'test',
    nodes: world.machines.map(({ config }) => configValue(config)),
    about: { seed: 7 },
  };
  world.startAll();
  const second = 1_000_000_000;
  if (options.crash) {
    const [first] = world.machines;
    if (!first) return unreachable('nobody');
    world.run(() => first.height >= 1n, 60 * second);
    world.crash(first, 'drawn');
    world.agenda.after(second, () => world.startNode(first));
    world.run(() => first.node !== null, 60 * second);
  }
  const done = world.run(() => world.machines.every((each) => each.height >= height), 120 * second);
  if (!done) return unreachable('the world stands still');
  return { header, frames, world };
}

export const castOf = (value: unknown): NodeCast => {
  const config: NodeConfig = configOfValue(value);
  return nodeCast(config, { verify: worldCrypto('forget').verify });
};

export function joined(chunks: readonly Uint8Array[]): Uint8Array {
  const all = new Uint8Array(chunks.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const chunk of chunks) {
    all.set(chunk, at);
    at += chunk.length;
  }
  return all;
}

export const bytesOf = ({ header, frames }: Recorded): Uint8Array =>
  joined([encodeHeader(header), ...frames]);

export interface Read {
  readonly reader: TraceReader;
  readonly records: TraceRecord[];
  readonly refusal: TraceRefusal | null;
}

/** Reads a trace in chunks of these sizes, again and again. */
export function read(bytes: Uint8Array, sizes: readonly number[] = [bytes.length]): Read {
  const reader = new TraceReader();
  const records: TraceRecord[] = [];
  let at = 0;
  for (let i = 0; at < bytes.length; i++) {
    const size = sizes[i % sizes.length] ?? 1;
    for (const each of reader.push(bytes.subarray(at, at + size))) {
      if ('refused' in each) return { reader, records, refusal: each };
      records.push(each);
    }
    at += size;
  }
  return { reader, records, refusal: reader.end() };
}

/** The first divergence, or null. */
export function replay(header: TraceHeader, records: Iterable<TraceRecord>) {
  const player = new Replay(header, castOf);
  for (const each of records) {
    const done = player.step(each);
    if ('why' in done) return { divergence: done, player };
  }
  return { divergence: null, player };
}
