// Worlds to measure: validators without faults, all oracles on, a fixed number of transactions a block; and
// what is read from them while they run.

import { utf8Encode } from '#platform';
import type { KeyValue } from '../../../actors/turn.ts';
import { byteKey, hexOf } from '../../../protocol/bytes.ts';
import { CHANNEL_VOTE } from '../../../protocol/messages.ts';
import { must } from '../../../protocol/refusal.ts';
import { makeCast, randomMesh } from '../../../sim/cast.ts';
import { Choices } from '../../../sim/choices.ts';
import { allOracles } from '../../../sim/oracles/index.ts';
import { World } from '../../../sim/world.ts';
import { CliError, EXIT } from '../usage.ts';

export interface BenchNet {
  readonly validators: number;
  readonly crypto: 'sim' | 'ed25519';
  readonly memo: boolean;
  /** Transactions a block, 250 bytes each. */
  readonly txs: number;
  readonly seed: string;
}

/** Beyond this many, a random mesh of this mean degree instead of everybody to everybody. */
const FULL_MESH_MAX = 10;
const MESH_DEGREE = 10;
export const TX_BYTES = 250;
/** No run of a bench takes longer in virtual time. */
const VIRTUAL_LIMIT_NS = 30 * 24 * 3600 * 1e9;

export class BenchRun {
  readonly world: World;
  readonly net: BenchNet;
  /** The height that every node has committed. */
  height = 0;
  private submitted = 0;
  private readonly atHeight = new Map<number, number>();

  constructor(net: BenchNet) {
    this.net = net;
    const cast = makeCast({ powers: Array.from({ length: net.validators }, () => 10n) });
    const choices = new Choices({ seed: net.seed }, 'forget');
    const { makers } = allOracles(cast.genesis);
    this.world = new World({
      cast,
      choices,
      crypto: net.crypto,
      memo: net.memo,
      oracles: makers,
      ...(net.validators > FULL_MESH_MAX && {
        edges: randomMesh(net.validators, MESH_DEGREE, choices.stream('bench/mesh')),
      }),
    });
    this.world.listeners.push((at, event) => {
      if (event.type !== 'committed') return;
      const height = Number(event.height);
      const count = (this.atHeight.get(height) ?? 0) + 1;
      this.atHeight.set(height, count);
      // The first to commit gets what belongs into the next block.
      if (count === 1) {
        for (let i = 0; i < net.txs; i++) this.world.submit(at, this.nextTx());
      }
      if (count < net.validators) return;
      this.atHeight.delete(height);
      this.height = height;
    });
    this.world.startAll();
  }

  /** key=value, 250 bytes. */
  private nextTx(): Uint8Array {
    const key = `k${this.submitted++}=`;
    return utf8Encode(key.padEnd(TX_BYTES, 'v'));
  }

  /** Runs on until every node has this height; gives the milliseconds it took. */
  runTo(height: number): number {
    const startedMs = performance.now();
    const isThere = this.world.run(() => this.height >= height, VIRTUAL_LIMIT_NS);
    const ms = performance.now() - startedMs;
    const [violation] = this.world.violations;
    if (violation)
      throw new CliError(`the bench broke a promise: ${violation.oracle}: ${violation.what}`, EXIT.violated);
    if (!isThere) throw new CliError(`the bench stands still at height ${this.height}`, EXIT.violated);
    return ms;
  }

  digest(): string {
    return hexOf(this.world.readDigest());
  }
}

/** Heights per second between two heights of a fresh world; `mark` is called at both, off the clock. */
export function heightsPerSecond(
  net: BenchNet,
  from: number,
  to: number,
  mark?: (run: BenchRun) => void,
): number {
  const run = new BenchRun(net);
  run.runTo(from);
  mark?.(run);
  const ms = run.runTo(to);
  mark?.(run);
  return ((to - from) / ms) * 1000;
}

/** What nodes say to each other in a height, counted. */
export interface Traffic {
  readonly deliveriesPerHeight: number;
  /** Over all nodes; an envelope carries one or more. */
  readonly channelMessagesPerHeight: number;
  /** How often a vote reaches a node that it reaches at all. */
  readonly voteArrivalsPerNode: number;
}

export function traffic(net: BenchNet, from: number, to: number): Traffic {
  const run = new BenchRun(net);
  const { world } = run;
  run.runTo(from);
  const before = world.deliveries;
  let messages = 0;
  let votes = 0;
  const reached = new Set<string>();
  world.network.rule = (_, peer, payloads) => {
    messages += payloads.length;
    for (const { channel, bytes } of payloads) {
      if (channel !== CHANNEL_VOTE) continue;
      votes++;
      reached.add(`${peer} ${byteKey(bytes)}`);
    }
    return 'pass';
  };
  run.runTo(to);
  return {
    deliveriesPerHeight: (world.deliveries - before) / (to - from),
    channelMessagesPerHeight: messages / (to - from),
    voteArrivalsPerNode: votes / reached.size,
  };
}

export interface Held {
  readonly heapBytes: number;
  /** What a copy of all stores takes in memory: keys, values (a buffer that several share once) and the maps that hold them. */
  readonly storesBytes: number;
  readonly entries: number;
}

const EMPTY = new Uint8Array(0);

function usedBytes(collect: () => void): number {
  collect();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

/** What this process holds, and how much of it is what the stores hold: weighed by making it a second time. */
export function held(run: BenchRun, collect: () => void): Held {
  const heapBytes = usedBytes(collect);
  const buffers = new Map<ArrayBufferLike, ArrayBuffer>();
  const copyOf = (bytes: Uint8Array): Uint8Array => {
    let buffer = buffers.get(bytes.buffer);
    if (!buffer) {
      buffer = new ArrayBuffer(bytes.buffer.byteLength);
      buffers.set(bytes.buffer, buffer);
    }
    return new Uint8Array(buffer, bytes.byteOffset, bytes.length);
  };
  let entries = 0;
  const copies: Map<string, KeyValue>[] = [];
  for (const { disk } of run.world.machines) {
    for (const medium of disk.image().stores.values()) {
      const copy = new Map<string, KeyValue>();
      for (const { key, value } of medium.range(EMPTY, EMPTY, Number.MAX_SAFE_INTEGER)) {
        entries++;
        copy.set(byteKey(key), { key: key.slice(), value: copyOf(value) });
      }
      copies.push(copy);
    }
  }
  buffers.clear();
  const storesBytes = usedBytes(collect) - heapBytes;
  must(copies.length > 0, 'weighed while it lives');
  return { heapBytes, storesBytes, entries };
}
