// `nodecli sim bench`: heights per second by validators and by signatures, what a height costs and where,
// what memory grows by, and how much virtual time the swarm makes of a second.

import { spawn } from 'node:child_process';
import { availableParallelism, constants } from 'node:os';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { ed25519Engine } from '#platform';
import { SIGNALS } from '../interrupt.ts';
import { bytesName, grouped, medianOf } from '../telling.ts';
import { EXIT, type Exit, needsBuild } from '../usage.ts';
import { YOUNG_ROOM } from '../workers/workers.ts';
import { machineLine, measureMachine } from './machine.ts';
import { measureMemory, memoryLine } from './memory.ts';
import { profileStages } from './stages.ts';
import { measureSwarm, swarmLines } from './swarm.ts';
import {
  type BenchNet,
  BenchRun,
  type Held,
  heightsPerSecond,
  held,
  type Traffic,
  traffic,
} from './world.ts';

export interface BenchFlags {
  readonly json?: boolean;
  readonly memo: boolean;
  readonly quick?: boolean;
}

interface Range {
  readonly from: number;
  readonly to: number;
  readonly repetitions: number;
}

/**
 * All of it ends in five minutes: on a slow machine no repetition begins after these seconds, by signatures or validators.
 */
const REPEAT_UNTIL_S: Readonly<Record<string, number>> = {
  '4 sim': 40,
  '4 ed25519': 105,
  10: 125,
  30: 140,
  100: 150,
};
const SEED = '1';
const PLAIN: BenchNet = { validators: 4, crypto: 'sim', memo: true, txs: 1, seed: SEED };
const CRYPTOS = ['sim', 'ed25519'] as const;
type ByCrypto<T> = Record<(typeof CRYPTOS)[number], T>;

interface Figure {
  /** The median. */
  readonly heightsPerSecond: number;
  readonly least: number;
  readonly most: number;
  readonly repetitions: number;
}

/** Heights that are measured, by number of validators. The first are for the compiler. */
const RANGES: Readonly<Record<number, Range>> = {
  4: { from: 1000, to: 6000, repetitions: 5 },
  10: { from: 100, to: 600, repetitions: 3 },
  30: { from: 5, to: 105, repetitions: 2 },
  100: { from: 10, to: 30, repetitions: 1 },
};
const QUICK: Readonly<Record<number, Range>> = {
  4: { from: 200, to: 1200, repetitions: 1 },
  10: { from: 20, to: 120, repetitions: 1 },
  30: { from: 2, to: 22, repetitions: 1 },
  100: { from: 2, to: 5, repetitions: 1 },
};

/**
 * Of the swarm. Among so many there is every fault, also where most heights need later rounds. A run costs three
 * times as much in the first of a process, until the compiler is done: about 200; a campaign's go on for thousands.
 */
const SWARM = { seeds: 600, warmUp: 200 } as const;
const SWARM_QUICK = { seeds: 40, warmUp: 4 } as const;

const MEMORY = { validators: 100, deliveries: 1_000_000 } as const;
const MEMORY_QUICK = { validators: 100, deliveries: 30_000 } as const;

export async function benchCommand(flags: BenchFlags): Promise<Exit> {
  needsBuild('sim bench');
  if (!process.execArgv.includes(YOUNG_ROOM)) return await again([...process.execArgv, YOUNG_ROOM]);
  const bench = new Bench(flags);
  const report = await bench.measure();
  if (flags.json) console.log(JSON.stringify(report, null, 2));
  else for (const line of linesOf(report)) console.log(line);
  return report.digestWithoutMemo === 'equal' ? EXIT.holds : EXIT.violated;
}

/** The same command in a process with these flags of Node. */
function again(flags: readonly string[]): Promise<Exit> {
  const child = spawn(process.execPath, [...flags, ...process.argv.slice(1)], { stdio: 'inherit' });
  // A signal may be sent to this process alone, and the measuring one must not outlive it.
  const passOn = (signal: NodeJS.Signals): void => void child.kill(signal);
  for (const signal of SIGNALS) process.on(signal, passOn);
  return new Promise<Exit>((resolve, reject) => {
    child.on('error', reject);
    // Ended by a signal, it ends with what a shell makes of that: 130 for Ctrl-C.
    child.on('close', (code, by) => resolve((code ?? 128 + (by ? constants.signals[by] : 0)) as Exit));
  }).finally(() => {
    for (const signal of SIGNALS) process.off(signal, passOn);
  });
}

type Report = Awaited<ReturnType<Bench['measure']>>;

class Bench {
  private readonly flags: BenchFlags;
  private readonly startedMs = performance.now();
  private readonly ranges: Readonly<Record<number, Range>>;
  /** At the first and the last measured height of the first run in sim-crypto. */
  private readonly marks: Held[] = [];

  constructor(flags: BenchFlags) {
    this.flags = flags;
    this.ranges = flags.quick ? QUICK : RANGES;
  }

  async measure() {
    const byValidators: Record<string, ByCrypto<number>> = {};
    const counted: Record<string, ReturnType<Bench['counted']>> = {};
    const spread: Record<string, ByCrypto<Figure>> = {};
    for (const validators of [4, 10, 30, 100]) {
      const figures = this.both((crypto) => this.figure({ ...PLAIN, validators, crypto }));
      spread[validators] = figures;
      byValidators[validators] = {
        sim: figures.sim.heightsPerSecond,
        ed25519: figures.ed25519.heightsPerSecond,
      };
      counted[validators] = this.counted(validators, figures);
    }
    return {
      heightsPerSecond: byValidators[4] as ByCrypto<number>,
      heightsPerSecondByValidators: byValidators,
      ...(counted[4] as ReturnType<Bench['counted']>),
      trafficByValidators: counted,
      heightsPerSecondWithTenTransactions: this.both((crypto) => this.tenTransactions(crypto)),
      microsecondsPerHeightByStage: this.both((crypto) => this.stages(crypto)),
      spread,
      heap: this.heap(),
      ...(await this.swarm()),
      memory: await this.memory(),
      digestWithoutMemo: this.digestWithoutMemo(),
      memo: this.flags.memo,
      machine: measureMachine(),
      ed25519By: ed25519Engine(),
      node: process.versions.node,
      nodeFlags: process.execArgv,
      seconds: rounded((performance.now() - this.startedMs) / 1000),
    };
  }

  private net(net: BenchNet): BenchNet {
    return { ...net, memo: this.flags.memo };
  }

  private both<T>(measure: (crypto: 'sim' | 'ed25519') => T): ByCrypto<T> {
    return { sim: measure('sim'), ed25519: measure('ed25519') };
  }

  private isLate({ validators, crypto }: BenchNet): boolean {
    const until = REPEAT_UNTIL_S[`${validators} ${crypto}`] ?? REPEAT_UNTIL_S[validators] ?? 0;
    return performance.now() - this.startedMs > until * 1000;
  }

  private tell(what: string): void {
    const seconds = Math.round((performance.now() - this.startedMs) / 1000);
    process.stderr.write(`${String(seconds).padStart(4)} s  ${what}\n`);
  }

  private figure(net: BenchNet): Figure {
    const { from, to, repetitions } = this.ranges[net.validators] as Range;
    const found: number[] = [];
    for (let i = 0; i < repetitions && !(i > 0 && this.isLate(net)); i++) {
      found.push(heightsPerSecond(this.net(net), from, to, this.marks.length < 2 ? this.mark : undefined));
      this.tell(`${net.validators} validators, ${net.crypto}: ${found.at(-1)?.toFixed(1)} heights/s`);
    }
    found.sort((a, b) => a - b);
    return {
      heightsPerSecond: rounded(medianOf(found)),
      least: rounded(found[0] ?? 0),
      most: rounded(found.at(-1) ?? 0),
      repetitions: found.length,
    };
  }

  private counted(validators: number, figures: ByCrypto<Figure>) {
    this.tell(`${validators} validators: what a height is made of`);
    const { from, to } = QUICK[validators] as Range;
    const found: Traffic = traffic(this.net({ ...PLAIN, validators }), from, to);
    const perMessage = ({ heightsPerSecond }: Figure): number =>
      rounded(1e6 / heightsPerSecond / found.channelMessagesPerHeight);
    return {
      deliveriesPerHeight: rounded(found.deliveriesPerHeight),
      channelMessagesPerHeight: rounded(found.channelMessagesPerHeight),
      voteArrivalsPerNode: Math.round(found.voteArrivalsPerNode * 100) / 100,
      microsecondsPerChannelMessage: { sim: perMessage(figures.sim), ed25519: perMessage(figures.ed25519) },
    };
  }

  private tenTransactions(crypto: 'sim' | 'ed25519'): number {
    this.tell(`ten transactions a block, ${crypto}`);
    const [from, to] = this.flags.quick ? [50, 250] : [200, 1200];
    return rounded(heightsPerSecond(this.net({ ...PLAIN, crypto, txs: 10 }), from, to));
  }

  /** Sampling costs some percent, so the sum is above that of the figures. */
  private stages(crypto: 'sim' | 'ed25519'): Record<string, number> {
    this.tell(`stages, ${crypto}`);
    const [from, heights] = this.flags.quick ? [100, 200] : [500, 1000];
    const run = new BenchRun(this.net({ ...PLAIN, crypto }));
    run.runTo(from);
    const sums = profileStages(() => run.runTo(from + heights));
    return Object.fromEntries(Object.entries(sums).map(([stage, us]) => [stage, rounded(us / heights)]));
  }

  private readonly mark = (run: BenchRun): void => {
    this.marks.push(held(run, collector()));
  };

  private heap() {
    const { from, to } = this.ranges[4] as Range;
    const [before, after] = this.marks as [Held, Held];
    const grown = (of: keyof Held): number => after[of] - before[of];
    return {
      heights: { from, to },
      heapBytes: { from: before.heapBytes, to: after.heapBytes },
      grownBytes: grown('heapBytes'),
      storesBytesGrown: grown('storesBytes'),
      storesEntriesGrown: grown('entries'),
    };
  }

  private async swarm() {
    const range = this.flags.quick ? SWARM_QUICK : SWARM;
    this.tell(`${range.seeds} seeds of the swarm`);
    const cores = availableParallelism();
    const { virtualToWall, ...swarm } = await measureSwarm({ ...range, cores, memo: this.flags.memo });
    return { virtualToWall, swarm };
  }

  private memory() {
    const job = this.flags.quick ? MEMORY_QUICK : MEMORY;
    this.tell(`${job.deliveries} deliveries among ${job.validators} validators`);
    return measureMemory({ ...job, memo: this.flags.memo });
  }

  private digestWithoutMemo(): 'equal' | 'different' {
    this.tell('the digest without memo');
    const heights = this.flags.quick ? 20 : 100;
    const digestOf = (crypto: 'sim' | 'ed25519', memo: boolean): string => {
      const run = new BenchRun({ ...PLAIN, crypto, memo });
      run.runTo(heights);
      return run.digest();
    };
    const same = CRYPTOS.every((crypto) => digestOf(crypto, true) === digestOf(crypto, false));
    return same ? 'equal' : 'different';
  }
}

const rounded = (value: number): number => Math.round(value * 10) / 10;

/** Collects garbage now; V8 offers it only to contexts made after the flag was set. */
function collector(): () => void {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  return () => {
    collect();
    collect();
  };
}

function linesOf(report: Report): string[] {
  const lines = ['heights per second (median; least to most)'];
  for (const [validators, { sim, ed25519 }] of Object.entries(report.spread)) {
    const mesh = Number(validators) > 10 ? 'mesh of degree 10' : 'full mesh';
    lines.push(
      `  ${validators.padStart(3)} validators, ${mesh.padEnd(17)}  ` +
        `sim-crypto ${figureText(sim)}   ed25519 ${figureText(ed25519)}`,
    );
  }
  const ten = report.heightsPerSecondWithTenTransactions;
  lines.push(`  with 10 transactions a block: sim-crypto ${ten.sim}, ed25519 ${ten.ed25519}`);
  for (const [validators, found] of Object.entries(report.trafficByValidators)) {
    const { sim, ed25519 } = found.microsecondsPerChannelMessage;
    lines.push(
      `a height of ${validators} validators: ${found.deliveriesPerHeight} deliveries, ` +
        `${found.channelMessagesPerHeight} channel messages of ${sim} us (ed25519 ${ed25519} us); ` +
        `a vote reaches a node ${found.voteArrivalsPerNode} times`,
    );
  }
  for (const crypto of CRYPTOS) {
    const stages = Object.entries(report.microsecondsPerHeightByStage[crypto]);
    lines.push(
      `microseconds per height, ${crypto}: ${stages.map(([stage, us]) => `${stage} ${us}`).join(', ')}`,
    );
  }
  const { heap } = report;
  const { from, to } = heap.heights;
  lines.push(
    `heap from height ${grouped(from)} to ${grouped(to)}: grew by ${bytesName(heap.grownBytes)}; ` +
      `a copy of what the stores took on meanwhile takes ${bytesName(heap.storesBytesGrown)} (${grouped(heap.storesEntriesGrown)} entries)`,
    ...swarmLines({ ...report.swarm, virtualToWall: report.virtualToWall }),
    memoryLine(report.memory),
    `digest without memo: ${report.digestWithoutMemo}`,
    machineLine(report.machine),
    `measured in ${report.seconds} s on Node ${report.node} ${report.nodeFlags.join(' ')}, ed25519 by ${report.ed25519By}${report.memo ? '' : ', without memo'}`,
  );
  return lines;
}

const figureText = ({ heightsPerSecond, least, most, repetitions }: Figure): string =>
  `${heightsPerSecond} (${least} to ${most}, ${repetitions} ${repetitions === 1 ? 'run' : 'runs'})`;
