// `nodecli chaos`: a real cluster whose nodes are killed at drawn moments and their logs cut; afterwards
// stores and recordings are read, and nothing may be lost.

import { randomInt } from 'node:crypto';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { filter, firstValueFrom, fromEvent, map, merge, timer } from 'rxjs';
import { sha256 } from '#platform';
import { byteKey, concatBytes } from '../../../protocol/bytes.ts';
import { parseGenesis } from '../../../protocol/json/index.ts';
import { isRefusal } from '../../../protocol/refusal.ts';
import { Choices, type Stream } from '../../../sim/choices.ts';
import { SetupError } from '../../host/disk/files.ts';
import { homesFound, readHome } from '../../host/home/home.ts';
import { Cluster, type ClusterEvent, type ClusterNode } from '../cluster/cluster.ts';
import { ClusterLoad, loadOf } from '../cluster/load.ts';
import { asCliErrors, leftOf, openNetwork, VALIDATORS_MAX } from '../cluster/run.ts';
import { Interrupted, TwoStepEnd } from '../interrupt.ts';
import { CliError, countOf, EXIT, type Exit, seedOf } from '../usage.ts';
import { type Damage, damageLogs } from './damage.ts';
import { Agreement, Problems, Signatures } from './facts.ts';
import { checkStores, NO_STORE_FACTS } from './stores.ts';
import { type ChaosTable, chaosTable, type Killed } from './table.ts';
import { checkTrace } from './traces.ts';

export interface ChaosFlags {
  readonly validators: string;
  readonly kills: string;
  readonly blocks: string;
  readonly load: string;
  readonly back: string;
  readonly seed?: string;
  readonly home?: string;
  readonly basePort?: string;
}

/** Nodes report the same height this far apart, at most, when nobody is behind. */
const LEVEL_MS = 700;
/** A cluster that makes no height for this long is stuck. */
const STALL_MS_MAX = 60_000;
/** Heights before the first kill and after the last, so that all begin and end whole. */
const HEIGHTS_AROUND = 3;
/** A killed node stays down at most so long: sometimes its peers notice, sometimes not. */
const DOWN_MS_MAX = 1_500;
/** Some are killed a second time while they start, shake hands with the application or fetch blocks. */
const AGAIN_MS_MAX = 2_500;

/** Of each node: they are planned before the first. */
const KILLS_MAX = 10_000;

interface Kill {
  readonly node: ClusterNode;
  /** Not before some node is at this height, and then so many milliseconds later. */
  readonly height: bigint;
  readonly delayMs: number;
  readonly downMs: number;
  /** Killed once more so long after its restart, most likely before it is back; null: not. */
  readonly againMs: number | null;
}

export async function chaosRun(flags: ChaosFlags): Promise<Exit> {
  const validators = countOf(flags.validators, '--validators', 4, VALIDATORS_MAX);
  const kills = countOf(flags.kills, '--kills', 1, KILLS_MAX);
  const blocks = countOf(flags.blocks, '--blocks', 2 * HEIGHTS_AROUND + 1);
  const perSecond = loadOf(flags.load);
  const backSeconds = countOf(flags.back, '--back', 1);
  const seed = seedOf(flags.seed ?? String(randomInt(2 ** 32)));
  const network = await asCliErrors(() => {
    if (flags.home !== undefined && homesFound(flags.home) > 0)
      throw new CliError(
        `${flags.home} holds a network already: chaos begins with a new one, name another folder`,
      );
    return openNetwork(validators, flags);
  });
  const traces = join(network.folder, 'traces');
  const cluster = new Cluster(network.homes, traces);
  print(`${network.about[0]}`);
  print(`seed ${seed}: ${kills} kills of each, ${blocks} heights, ${perSecond} transactions a second`);
  const interrupt = new TwoStepEnd(() => cluster.killAll());
  const asked = { perSecond, blocks, backMs: backSeconds * 1_000, end: interrupt.signal };
  const chaos = new Chaos(cluster, asked, chainIdOf(network.homes));
  try {
    await chaos.run(kills, new Choices({ seed }, 'forget').stream('chaos'));
  } catch (error) {
    if (!(error instanceof Interrupted)) throw error;
    print(`interrupted; the network stays in ${network.folder}`);
    return error.exit;
  } finally {
    await chaos.end();
    interrupt.close();
  }
  const refused = cluster.nodes.find(({ wasRefused }) => wasRefused);
  if (refused && chaos.problems.count === 0) {
    const left = leftOf(network, cluster.nodes, EXIT.usage);
    if (left !== null) print(left);
    throw new CliError(`${refused.name}: ${refused.fatal}`);
  }
  const table = await chaos.judge();
  for (const line of chaosTable(table)) print(line);
  if (table.problems.count > 0) print(`the network and its recordings stay in ${network.folder}`);
  else if (network.isTemporary) rmSync(network.folder, { recursive: true, force: true });
  return table.problems.count === 0 ? EXIT.holds : EXIT.violated;
}

const print = (line: string): void => void process.stdout.write(`${line}\n`);

function chainIdOf(homes: readonly string[]): string {
  const genesis = parseGenesis(readHome(homes[0] as string).config.genesis);
  return isRefusal(genesis) ? '' : genesis.chainId;
}

interface Asked {
  readonly perSecond: number;
  readonly blocks: number;
  /** A restarted node must be at its peers' height this soon. */
  readonly backMs: number;
  /** Aborted by an interrupt: from then on nothing is started and nothing waited for. */
  readonly end: AbortSignal;
}

class Chaos {
  private readonly cluster: Cluster;
  private readonly backMsMax: number;
  private readonly interruption: AbortSignal;
  private readonly load: ClusterLoad;
  private readonly blocks: bigint;
  readonly problems = new Problems();
  private readonly agreement = new Agreement(this.problems);
  private readonly signatures: Signatures;
  /** Height of each transaction that any node reported as committed. */
  private readonly txs = new Map<string, bigint>();
  private readonly reported = new Map<ClusterNode, bigint>();
  private readonly killed: Killed[] = [];
  private readonly startedMs = performance.now();
  private ranMs = 0;
  private isStuck = false;

  constructor(cluster: Cluster, { perSecond, blocks, backMs, end }: Asked, chainId: string) {
    this.cluster = cluster;
    this.blocks = BigInt(blocks);
    this.backMsMax = backMs;
    this.interruption = end;
    this.signatures = new Signatures(this.problems, chainId);
    this.load = new ClusterLoad(cluster, perSecond);
    cluster.events.subscribe((event) => this.hear(event));
  }

  private hear(event: ClusterEvent): void {
    const { node } = event;
    const who = `${node.name} (live)`;
    switch (event.type) {
      case 'committed': {
        const { height, txs } = event;
        this.agreement.claim('block', height, event.hash, who);
        this.agreement.claim('app hash', height, event.appHash, who);
        this.agreement.claim('state digest', height, event.stateDigest, who);
        this.agreement.claim('transactions', height, sha256(concatBytes(...txs)), who);
        for (const hash of txs) this.txs.set(byteKey(hash), height);
        this.reported.set(node, height);
        return;
      }
      case 'applied':
        return this.agreement.claim('application digest', event.height, event.stateDigest, who);
      case 'exited':
        if (!event.isOurs && !node.wasRefused)
          this.problems.add(`${node.name} died by itself: ${node.fatal ?? event.how}`);
        return;
      case 'line':
        if (/bug|halted|damaged|more than a torn/.test(event.text)) print(`${node.name} | ${event.text}`);
    }
  }

  // --- the run ---------------------------------------------------------------------------------------------

  /** Throws `Interrupted` at once when it is. */
  async run(kills: number, chance: Stream): Promise<void> {
    this.cluster.startAll();
    await this.until(() => this.cluster.nodes.every(({ height }) => height >= 1n), 'the first height');
    this.load.start();
    for (const kill of this.plan(kills, chance)) {
      if (this.isBroken) return;
      await this.until(() => this.top >= kill.height, `height ${kill.height}`);
      await this.pause(kill.delayMs);
      if (!this.isBroken) await this.killAndRestart(kill, chance);
    }
    const all = this.cluster.nodes;
    await this.until(
      () => all.every(({ height }) => height >= this.blocks),
      `height ${this.blocks} everywhere`,
    );
    this.load.stop();
    const last = this.top + 1n;
    await this.until(() => all.every(({ height }) => height >= last), 'the last height');
  }

  async end(): Promise<void> {
    this.load.stop();
    this.ranMs = performance.now() - this.startedMs;
    await this.cluster.stopAll();
  }

  /** A death of its own, or no progress: nothing more is to be waited for. */
  private get isBroken(): boolean {
    return this.isStuck || this.cluster.nodes.some(({ fatal }) => fatal !== null);
  }

  private get top(): bigint {
    return this.cluster.nodes.reduce((most, { height }) => (height > most ? height : most), 0n);
  }

  /**
   * Each node so often, in a drawn order, spread over the heights: at any moment, or around those when most
   * happens.
   */
  private plan(kills: number, chance: Stream): Kill[] {
    const { nodes } = this.cluster;
    const order = chance.shuffle(Array.from({ length: kills * nodes.length }, (_, i) => i % nodes.length));
    const room = Number(this.blocks) - 2 * HEIGHTS_AROUND;
    return order.map((index, i) => {
      const at =
        HEIGHTS_AROUND + Math.floor((room * (i * 1_000 + chance.draw(1_000))) / (order.length * 1_000));
      return {
        node: nodes[index] as ClusterNode,
        height: BigInt(at),
        delayMs: delayMs(chance),
        downMs: chance.draw(DOWN_MS_MAX),
        againMs: chance.chance(1, 4) ? chance.draw(AGAIN_MS_MAX) : null,
      };
    });
  }

  private async killAndRestart({ node, downMs, againMs }: Kill, chance: Stream): Promise<void> {
    const { cluster } = this;
    let damage = await this.strike(node, downMs, chance);
    if (againMs !== null) {
      cluster.start(node);
      await this.pause(againMs);
      const more = await this.strike(node, downMs, chance);
      damage = { cut: damage.cut + more.cut, torn: damage.torn + more.torn };
    }
    const back = await this.restart(node);
    if (!back) return;
    const { backMs, withThemMs } = back;
    const kills = againMs === null ? 1 : 2;
    this.killed.push({ node, kills, damage, backMs, withThemMs });
    const seconds = (ms: number): string => `${(ms / 1_000).toFixed(1)} s`;
    print(
      `${node.name} killed${kills === 1 ? '' : ' twice'} at height ${back.height}, ` +
        `${damage.cut} bytes of logs cut, ` +
        `down ${seconds(downMs)}, back after ${seconds(backMs)}, with its peers after ${seconds(withThemMs)}`,
    );
    if (backMs > this.backMsMax) {
      this.problems.add(`${node.name} needed ${Math.round(backMs)} ms to be at its peers' height`);
    }
  }

  private async strike(node: ClusterNode, downMs: number, chance: Stream): Promise<Damage> {
    await this.cluster.kill(node);
    const damage = damageLogs(node.home, chance);
    await this.pause(downMs);
    return damage;
  }

  /** Null: it did not come back. */
  private async restart(
    node: ClusterNode,
  ): Promise<(Pick<Killed, 'backMs' | 'withThemMs'> & { height: bigint }) | null> {
    const { cluster } = this;
    const others = cluster.nodes.filter((other) => other !== node);
    const peersTop = (): bigint => others.reduce((most, { height }) => (height > most ? height : most), 0n);
    const { height } = node;
    const startedMs = performance.now();
    const since = (): number => performance.now() - startedMs;
    let isUp = false;
    let backMs: number | null = null;
    let behindSinceMs = 0;
    let withThemMs: number | null = null;
    const watching = cluster.events.subscribe((event) => {
      if (event.node === node && event.type === 'up') isUp = true;
      const isLevel = isUp && node.height >= peersTop();
      if (!isLevel) {
        behindSinceMs = Math.min(behindSinceMs, since());
        return;
      }
      // A peer may report a height a moment before us: that is not being behind.
      if (backMs === null || since() - behindSinceMs > LEVEL_MS) backMs = since();
      behindSinceMs = Number.POSITIVE_INFINITY;
      if (event.node === node && event.type === 'committed') withThemMs ??= since();
    });
    cluster.start(node);
    await this.until(() => withThemMs !== null, `${node.name} to come back`);
    watching.unsubscribe();
    return withThemMs === null ? null : { height, backMs: backMs ?? withThemMs, withThemMs };
  }

  private async pause(ms: number): Promise<void> {
    const signal = this.interruption;
    await sleep(ms, undefined, { signal }).catch(() => {}); // its error would not say who ended it
    signal.throwIfAborted();
  }

  /** False: the cluster makes no heights any more, or a node died. */
  private async until(isSo: () => boolean, what: string): Promise<boolean> {
    while (!isSo() && !this.isBroken) {
      const before = this.top;
      const changed = this.cluster.events.pipe(filter(() => isSo() || this.isBroken || this.top > before));
      const stuck = timer(STALL_MS_MAX).pipe(map(() => 'stuck' as const));
      const answer = await firstValueFrom(merge(changed, stuck, fromEvent(this.interruption, 'abort')));
      this.interruption.throwIfAborted();
      if (answer !== 'stuck') continue;
      this.isStuck = true;
      this.problems.add(`stuck: no height after ${before} in ${STALL_MS_MAX / 1_000} s, waiting for ${what}`);
      return false;
    }
    return isSo();
  }

  // --- the judgement ---------------------------------------------------------------------------------------

  async judge(): Promise<ChaosTable> {
    const { problems, agreement, signatures, cluster, killed } = this;
    const facts = { problems, agreement, signatures };
    const rows: ChaosTable['rows'][number][] = [];
    for (const node of cluster.nodes) {
      const { name, home } = node;
      const reported = { name, home, height: this.reported.get(node) ?? 0n };
      const store = await checkStores(reported, this.txs, facts).catch((error: unknown) => {
        if (!(error instanceof SetupError)) throw error;
        problems.add(`the stores of ${name} cannot be read: ${error.message}`);
        return NO_STORE_FACTS;
      });
      const trace = checkTrace(name, node.record as string, facts);
      // A life may be killed between its record and its word to us, not the other way round.
      if (trace.lives < node.lives) {
        problems.add(`the recording of ${name} holds ${trace.lives} lives of ${node.lives}`);
      }
      rows.push({ node, store, trace, killed: killed.filter((kill) => kill.node === node) });
    }
    return {
      rows,
      problems,
      ranMs: this.ranMs,
      sent: this.load.sent,
      committed: this.load.committed,
      reported: this.txs.size,
      claims: agreement.claims,
      signatures: signatures.count,
    };
  }
}

/**
 * After the first report of a height: any moment of the next one, that of its commit, or that of its votes
 * (timeout_commit is 1 s).
 */
function delayMs(chance: Stream): number {
  const kind = chance.draw(3);
  if (kind === 0) return chance.draw(1_100);
  return kind === 1 ? chance.draw(15) : 980 + chance.draw(80);
}
