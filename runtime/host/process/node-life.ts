// One life of a node on this machine: its home read, its ports opened, its actors wired to them by the
// kernel, and everything closed at the end.

import { sha256 } from '#platform';
import type { MempoolState } from '../../../actors/mempool.ts';
import { configValue, nodeCast, ownerOf } from '../../../actors/node.ts';
import type { ActorName, NodeEvent } from '../../../actors/turn.ts';
import type { ValidatorState } from '../../../actors/validator/state.ts';
import { blockKey, GENESIS_KEY } from '../../../machines/chain/keys.ts';
import { parseGenesis } from '../../../protocol/json/index.ts';
import { isRefusal } from '../../../protocol/refusal.ts';
import { rememberingVerify, verifySignature } from '../../../protocol/signatures.ts';
import { EMPTY_BYTES } from '../../../protocol/types.ts';
import { decodeBlock } from '../../../protocol/wire/index.ts';
import { Node, type Watcher } from '../../kernel/node.ts';
import type { Repair } from '../disk/log.ts';
import { openRecorder, type Recorder } from '../disk/recorder.ts';
import { storeIn } from '../home/data-folder.ts';
import { type NodeHome, readHome, withGenesisOf } from '../home/home.ts';
import { whyAlone } from '../home/reach.ts';
import { exportSignState, importSignState } from '../home/sign-state.ts';
import { type HostPorts, hostPorts } from '../ports.ts';
import { Lines } from './lines.ts';
import type { FromNode, NodeStatus } from './process-words.ts';

/** A peer that is up says who it is before this is over: CometBFT's handshake_timeout. */
const GREETING_MS = 20_000;

export interface LifeOptions {
  readonly home: string;
  /** The trace's file; null: nothing is recorded. */
  readonly record: string | null;
  /** The commit that the trace names. */
  readonly commit: string;
  /** A line for the person who runs the node. */
  readonly say: (line: string) => void;
  /** What the cluster hears. */
  readonly tell: (word: FromNode) => void;
  /** The node cannot go on; `isBug`: an actor threw. */
  readonly ended: (because: string, isBug: boolean) => void;
  /** The process is asked to stop, also before the life has begun. */
  readonly signal?: AbortSignal;
  /** Its folder is another process' now: the node does nothing more, and nothing may be closed. */
  readonly lost: (because: string) => void;
}

export class NodeLife {
  private readonly options: LifeOptions;
  private readonly home: NodeHome;
  private readonly ports: HostPorts;
  private readonly recorder: Recorder | null;
  private readonly node: Node;
  private readonly lines: Lines;
  private height = 0n;
  private round = 0;
  private step = 0;
  private mode = 'handshake';
  private lastRssBytes = 0;
  private readonly peers = new Set<string>();
  private isOver = false;
  /** Its application has a past of which no block is here. */
  private readonly hasLostChain: boolean;

  /** Refuses (SetupError) a home, a port or a trace that cannot be used. */
  static async begin(options: LifeOptions): Promise<NodeLife> {
    const found = readHome(options.home);
    const { validatorKey } = found;
    const onRepair = (repair: Repair): void => options.say(repairText(repair));
    let life: NodeLife | null = null;
    const ports = await hostPorts({
      home: options.home,
      seed: validatorKey.seed,
      peer: found.config.id,
      listen: found.config.listenAddress,
      onRepair,
      onWatch: options.say,
      ...(options.signal && { signal: options.signal }),
      greetingMs: GREETING_MS,
      inboundMax: found.inbound.most,
      known: found.inbound.always,
      onTurnedAway: (from, because) => life?.sayIf(life.lines.turnedAway(from, because)),
      onDialFailed: (to, because) => life?.sayIf(life.lines.dialFailed(to, because)),
      onFatal: (error) => options.ended(error.message, false),
      onLost: (error) => {
        life?.abandon();
        options.lost(error.message);
      },
    });
    let recorder: Recorder | null = null;
    try {
      const home = withGenesisOf(ports.store('chain').get(GENESIS_KEY), found, (what) =>
        options.say(`warning: ${what}`),
      );
      const alone = whyAlone(home);
      if (alone !== null) options.say(`warning: ${alone}`);
      await importSignState(ports.log('privval'), home.signState);
      if (options.record !== null) {
        const node = configValue(home.config);
        recorder = openRecorder(options.record, node, options.commit, options.home, onRepair);
      }
      life = new NodeLife(options, home, ports, recorder);
      return life;
    } catch (error) {
      recorder?.close();
      await ports.close();
      throw error;
    }
  }

  private constructor(options: LifeOptions, home: NodeHome, ports: HostPorts, recorder: Recorder | null) {
    this.options = options;
    this.home = home;
    this.lines = new Lines(new Set(home.config.peers.map(({ peer }) => peer)));
    this.ports = ports;
    this.recorder = recorder;
    this.hasLostChain =
      ports.store('chain').get(GENESIS_KEY) === undefined &&
      ports.store('app').range(EMPTY_BYTES, EMPTY_BYTES, 1).length > 0;
    const { config } = home;
    const cast = nodeCast(config, { verify: rememberingVerify(verifySignature) });
    this.node = new Node({ id: config.id, ...cast, ownerOf, ports, watcher: this.watcher });
  }

  /** When its chain begins, by the wall clock. */
  get genesisMs(): number {
    const genesis = parseGenesis(this.home.config.genesis);
    return isRefusal(genesis) ? 0 : Math.ceil(Number(genesis.genesisTimeNs) / 1e6);
  }

  /** An actor that throws at its start ends the life at once (`bug`): it was never up. */
  start(): void {
    this.options.say(`listens on ${this.ports.address}`);
    this.node.start();
    if (!this.node.isAlive) return;
    const height = this.node.peek<ValidatorState>('validator')?.chain.lastBlockHeight ?? 0n;
    this.height = height;
    this.options.tell({ type: 'up', height });
  }

  submit(txs: readonly Uint8Array[]): void {
    if (!this.node.isAlive) return;
    for (const tx of txs) this.node.post('mempool', { type: 'submit', tx });
  }

  status(): NodeStatus {
    const { user, system } = process.cpuUsage();
    return {
      height: this.height,
      round: this.round,
      step: this.step,
      mode: this.mode,
      peers: this.peers.size,
      pool: this.node.peek<MempoolState>('mempool')?.pool.size ?? 0,
      cpuMs: Math.round((user + system) / 1_000),
      rssBytes: this.rssBytes(),
      deliveries: this.node.deliveries,
    };
  }

  /** It is read from a file, so without a free descriptor it is what it was: a figure is not worth a node. */
  private rssBytes(): number {
    try {
      this.lastRssBytes = process.memoryUsage.rss();
    } catch {}
    return this.lastRssBytes;
  }

  /** How to look at what led to a bug, when a trace was written: the kernel records the guilty turn, too. */
  get replayHint(): string | null {
    const { recorder } = this;
    if (!recorder) return null;
    const last = recorder.records - 1;
    const { path } = recorder;
    return `record ${last} of ${path} is the guilty turn; before it: nodecli sim replay ${path} --at ${last - 1}`;
  }

  /** Nothing leaves it any more, to the disk neither. */
  private abandon(): void {
    this.isOver = true;
    this.node.halt();
  }

  /** In peace: what was written becomes durable, and the key's last signature stands in its file. */
  async end(): Promise<void> {
    if (this.isOver) return;
    this.isOver = true;
    this.node.halt();
    // Whatever fails, what stands behind it is closed: the logs hold more than the file that could not be written.
    try {
      exportSignState(this.ports.log('privval'), this.home.paths.signState);
    } finally {
      try {
        await this.ports.close();
      } finally {
        this.recorder?.close();
      }
    }
  }

  // --- watching --------------------------------------------------------------------------------------------

  private readonly watcher: Watcher = {
    turn: (node, { input }) => this.recorder?.write(input, node.digest.read()),
    published: (_node, _actor, event) => this.onEvent(event),
    leaving: (_node, _actor, effect) => {
      if (effect.type === 'score' && effect.drop) this.sayIf(this.lines.cutOff(effect.peer, effect.because));
      return false;
    },
    bug: (_node, actor, error) => this.onBug(actor, error),
  };

  private sayIf(line: string | null): void {
    if (line !== null) this.options.say(line);
  }

  private onBug(actor: ActorName, error: unknown): void {
    const what = error instanceof Error ? (error.stack ?? error.message) : String(error);
    this.options.ended(`a bug in the actor ${actor}: ${what}`, true);
  }

  private onEvent(event: NodeEvent): void {
    this.sayIf(this.lines.of(event));
    switch (event.type) {
      case 'step':
        this.round = event.round;
        this.step = event.step;
        return;
      case 'committed':
        return this.onCommitted(event);
      case 'applied':
        return this.options.tell({ type: 'applied', height: event.height, stateDigest: event.stateDigest });
      case 'mode':
        this.mode = event.mode;
        return;
      case 'peer':
        if (event.up) {
          this.peers.add(event.peer);
          this.ports.net.greeted(event.peer);
        } else this.peers.delete(event.peer);
        return;
      case 'halted':
        return this.options.ended(`the node halted: ${event.what}. ${this.dataHint}`, false);
    }
  }

  /** Of what the node halted over: where it lies, and what to do where that is known. */
  private get dataHint(): string {
    const { data } = this.home.paths;
    if (!this.hasLostChain || this.mode !== 'handshake') return `The node's data is in ${data}`;
    return (
      `${storeIn(data, 'chain')} was lost: it held nothing when the node began, and ${storeIn(data, 'app')} did. Restore it ` +
      `from a copy; or, where peers have the chain, remove ${storeIn(data, 'app')}, too, and the node fetches the blocks again. ` +
      'Keep privval.log: without it this key might sign twice'
    );
  }

  private onCommitted(event: Extract<NodeEvent, { type: 'committed' }>): void {
    const { height, round, hash, appHash, stateDigest } = event;
    this.height = height;
    const txs = event.txs === 0 ? [] : this.txHashes(height);
    this.options.tell({ type: 'committed', height, round, hash, appHash, stateDigest, txs });
  }

  private txHashes(height: bigint): Uint8Array[] {
    const bytes = this.ports.store('chain').get(blockKey(height));
    const block = bytes && decodeBlock(bytes);
    return !block || isRefusal(block) ? [] : block.txs.map(sha256);
  }
}

const repairText = ({ path, offset, bytesCut, savedAs, corruption }: Repair): string =>
  `repaired ${path}: cut ${bytesCut} bytes at byte ${offset}` +
  (savedAs === '' ? '' : `, kept as ${savedAs}`) +
  (corruption ? '; this is more than a torn write, check the disk' : '');
