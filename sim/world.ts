// A world: machines on a network under one agenda, their faults, and the oracles that watch. One heap, one thread, no promises.

import { type Gifts, nodeCast, ownerOf } from '../actors/node.ts';
import { type ActorName, type Effect, type NodeEvent, type PeerId, peerOfActor } from '../actors/turn.ts';
import { rememberLately } from '../protocol/lately.ts';
import { unreachable } from '../protocol/refusal.ts';
import { rememberingVerify, type Verify, verifySignature } from '../protocol/signatures.ts';
import { RunningDigest } from '../runtime/kernel/digest.ts';
import { Node, type Watcher } from '../runtime/kernel/node.ts';
import type { TurnRecord } from '../runtime/kernel/record.ts';
import { Agenda } from './agenda.ts';
import { addressOfMember, type Cast, configOf, type Edges, fullMesh, type Settings } from './cast.ts';
import type { Choices, Stream } from './choices.ts';
import { type ClockSettings, MachineClock } from './clock.ts';
import { Disk } from './disk.ts';
import type { CrashHow, DiskSettings } from './disk-door.ts';
import type { LinkSettings } from './links.ts';
import { Machine } from './machine.ts';
import { SimMail } from './mail.ts';
import { Network } from './network.ts';
import {
  type Oracle,
  type OracleMaker,
  type Report,
  type Violation,
  type ViolationWords,
  wordsOf,
} from './oracle.ts';
import { ed25519Key, SimSign, worldCrypto } from './sim-crypto.ts';
import { STEP } from './steps.ts';

export interface WorldOptions {
  readonly cast: Cast;
  readonly choices: Choices;
  readonly crypto: 'sim' | 'ed25519';
  readonly edges?: Edges;
  readonly settings?: Settings & { readonly app?: string };
  readonly links?: LinkSettings;
  readonly disk?: DiskSettings;
  /** Per machine; default: perfect. */
  readonly clocks?: (index: number) => Partial<ClockSettings>;
  readonly oracles?: readonly OracleMaker[];
  /** Names of the machines that lie; promises speak of all others. */
  readonly liars?: ReadonlySet<string>;
  /** Nodes that the play expects to halt by themselves (`anyone`, `everyone`: any), and a part of the reason that they give. */
  readonly halting?: readonly { readonly who: string; readonly because?: string }[];
  readonly application?: Gifts['application'];
  readonly memo?: boolean;
  /** Gets each turn as it happens: a recorder, a picture. */
  readonly onTurn?: (at: Machine, record: TurnRecord, world: World) => void;
  readonly onEvent?: (at: Machine, actor: ActorName, event: NodeEvent, world: World) => void;
}

/** With real ed25519, how many verified signatures nodes share: some forty heights of a hundred validators. To verify is pure, and the most expensive step of all. */
const SIGNATURES_REMEMBERED = 8_192;

export class World {
  readonly agenda: Agenda;
  readonly network: Network;
  readonly machines: readonly Machine[];
  readonly oracles: readonly Oracle[];
  readonly violations: Violation[] = [];
  /** The order of all turns, and the digest of every life that ended; see `readDigest`. */
  private readonly order = new RunningDigest();
  readonly choices: Choices;
  readonly chainId: string;
  private deliveriesOfEndedLives = 0;
  /** Called before each effect leaves: true crashes the node there. A play's or a swarm's crash plan. */
  crashHere: ((at: Machine, actor: ActorName, effect: Effect) => boolean) | null = null;
  /** Called when a node published something, after the oracles. */
  listeners: ((at: Machine, event: NodeEvent) => void)[] = [];
  /** Called when a node has begun a life. */
  starters: ((at: Machine) => void)[] = [];
  /** How often each thing worth counting happened, by name: see `WorldAbout.reached`. */
  readonly labels = new Map<string, number>();
  private readonly options: WorldOptions;
  readonly verify: Verify;
  private readonly byId = new Map<PeerId, Machine>();
  private readonly starts: Stream;

  constructor(options: WorldOptions) {
    const { cast, choices } = options;
    this.options = options;
    this.choices = choices;
    this.chainId = cast.chainId;
    this.agenda = new Agenda(choices.stream('agenda/tie'));
    this.network = new Network(this.agenda, choices, options.links);
    this.network.carrier.onCorrupted = (payload) => {
      for (const oracle of this.oracles) oracle.corrupted?.(payload);
    };
    this.starts = choices.stream('world/start');
    const memo = options.memo ?? true;
    rememberLately(memo);
    const crypto = worldCrypto(memo ? 'remember' : 'forget');
    const real = memo ? rememberingVerify(verifySignature, SIGNATURES_REMEMBERED) : verifySignature;
    this.verify = options.crypto === 'sim' ? crypto.verify : real;
    const edges = options.edges ?? fullMesh(cast.members.length);
    this.machines = cast.members.map((member, index) => {
      const config = configOf(cast, index, edges, { ...options.settings, crypto: options.crypto });
      const disk = new Disk(this.agenda, choices, member.name, options.disk);
      const clock = new MachineClock(this.agenda, {
        epochNs: cast.epochNs,
        skewNs: 0n,
        driftPpm: 0,
        ...options.clocks?.(index),
      });
      const key =
        member.seed && (options.crypto === 'sim' ? crypto.key(member.seed) : ed25519Key(member.seed));
      const machine = new Machine(index, config, member, disk, clock, key);
      machine.height = cast.initialHeight - 1n;
      this.network.addHost(member.id, addressOfMember(member));
      this.byId.set(member.id, machine);
      return machine;
    });
    const liars = options.liars ?? new Set<string>();
    const honest = this.machines.map(({ name }) => !liars.has(name));
    this.oracles = (options.oracles ?? []).map((make) => {
      const report: Report = (what, at, height, promise) =>
        this.violate(wordsOf(oracle.name, what, promise), at, height);
      const oracle: Oracle = make(report, {
        chainId: cast.chainId,
        machines: this.machines,
        now: () => this.agenda.now,
        isHonest: liars.size === 0 ? () => true : ({ index }) => honest[index] === true,
        mayHalt: ({ name }, reason) =>
          (options.halting ?? []).some(
            ({ who, because = '' }) => [name, 'anyone', 'everyone'].includes(who) && reason.includes(because),
          ),
        verify: this.verify,
        reached: (label) => void this.labels.set(label, (this.labels.get(label) ?? 0) + 1),
      });
      return oracle;
    });
    this.listenToArrivals();
  }

  private listenToArrivals(): void {
    const listening = this.oracles.filter(({ heard }) => heard);
    if (listening.length === 0) return;
    this.network.carrier.arrivals.push((from, to, payloads) => {
      const machine = this.byId.get(to);
      if (!machine) return;
      for (let i = 0; i < listening.length; i++) listening[i]?.heard?.(machine, from, payloads);
    });
  }

  private violate(words: ViolationWords, at: Machine | null, height: bigint, thrown?: unknown): void {
    const { oracle, what } = words;
    if (this.violations.some((each) => each.oracle === oracle && each.what === what)) return;
    const where = { node: at?.name ?? '', atNs: this.agenda.now, height };
    this.violations.push({ ...words, ...where, ...(thrown !== undefined && { thrown }) });
  }

  machine(name: string): Machine {
    return this.machines.find((each) => each.name === name) ?? unreachable(`no machine ${name} in this cast`);
  }

  machineOf(peer: PeerId): Machine | undefined {
    return this.byId.get(peer);
  }

  // --- lives -----------------------------------------------------------------------------------------------------------

  /** Every node starts within the first tenth of a second. */
  startAll(): void {
    for (const machine of this.machines) {
      this.agenda.after(this.starts.draw(100_000_000), () => this.startNode(machine));
    }
  }

  startNode(machine: Machine): void {
    if (machine.node) return;
    const life = this.agenda.beginLife();
    const { choices, agenda } = this;
    const disk = machine.disk.open(life, () => this.crash(machine, 'drawn'));
    const label = `node/${machine.name}/`;
    const gifts: Gifts = {
      verify: this.verify,
      ...(this.options.application && { application: this.options.application }),
    };
    const cast = nodeCast(machine.config, gifts);
    const sign = new SimSign(agenda, life, choices.stream(`${label}sign`), machine.key ?? NO_KEY, machine);
    const random = choices.stream(`${label}draw`);
    const node = new Node({
      id: machine.member.id,
      logics: cast.logics,
      spawn: cast.spawn,
      ownerOf,
      watcher: this.watcherOf(machine),
      ports: {
        clock: machine.clock.open(life),
        random,
        net: this.network.start(machine.member.id, life),
        mail: new SimMail(agenda, life, choices.stream(`${label}mail`), machine),
        sign,
        log: disk.log,
        store: disk.store,
      },
    });
    machine.node = node;
    machine.life = life;
    machine.lives++;
    machine.mode = 'handshake';
    machine.halted = null;
    this.mark(1, machine);
    for (const oracle of this.oracles) oracle.started?.(machine);
    node.start();
    for (const tell of this.starters) tell(machine);
  }

  /** The machine loses its power now; the disk keeps what was durable, and of the rest what is drawn. */
  crash(machine: Machine, how: CrashHow, death: 'noticed' | 'unnoticed' = 'noticed'): void {
    const { node } = machine;
    if (!node) return;
    this.deliveriesOfEndedLives += node.deliveries;
    this.order.add(node.digest.read());
    node.halt();
    machine.node = null;
    machine.crashes++;
    machine.mode = 'down';
    machine.answersUntilNs = 0;
    this.agenda.endLife(machine.life);
    machine.clock.crash();
    this.network.crash(machine.member.id, death);
    machine.disk.crash(how);
    this.mark(2, machine);
    for (const oracle of this.oracles) oracle.crashed?.(machine);
  }

  /** Lives and deaths are part of the digest. */
  private mark(kind: number, machine: Machine): void {
    this.order.addU32(kind);
    this.order.addU32(machine.index);
  }

  submit(machine: Machine, tx: Uint8Array): void {
    if (!machine.node) return;
    for (const oracle of this.oracles) oracle.submitted?.(machine, tx);
    // A copy: whoever made it may fill the same buffer again, and a pool keeps what it was given (`slice` of a Buffer copies nothing).
    machine.node.post('mempool', { type: 'submit', tx: new Uint8Array(tx) });
  }

  private readonly watching = new Map<Effect['type'], readonly Oracle[]>();
  private readonly reading = new Map<NodeEvent['type'], readonly Oracle[]>();

  /** Who is told of such an effect. */
  whoWatches(type: Effect['type']): readonly Oracle[] {
    let watching = this.watching.get(type);
    if (!watching) {
      watching = this.oracles.filter(
        ({ leaving, effects }) => leaving && (!effects || effects.includes(type)),
      );
      this.watching.set(type, watching);
    }
    return watching;
  }

  private whoReads(type: NodeEvent['type']): readonly Oracle[] {
    const reading = this.oracles.filter(
      ({ published, events }) => published && (!events || events.includes(type)),
    );
    this.reading.set(type, reading);
    return reading;
  }

  // --- watching ----------------------------------------------------------------------------------------------------------

  private watcherOf(machine: Machine): Watcher {
    const { onTurn, onEvent } = this.options;
    return {
      turn: (_node, record) => {
        this.order.addU32(machine.index);
        onTurn?.(machine, record, this);
      },
      published: (_node, actor, event) => {
        note(machine, event);
        const reading = this.reading.get(event.type) ?? this.whoReads(event.type);
        for (let i = 0; i < reading.length; i++) reading[i]?.published?.(machine, actor, event);
        onEvent?.(machine, actor, event, this);
        for (let i = 0; i < this.listeners.length; i++) this.listeners[i]?.(machine, event);
      },
      leaving: (_node, actor, effect) => {
        if (this.crashHere?.(machine, actor, effect)) {
          this.crash(machine, 'drawn');
          return true;
        }
        const watching = this.whoWatches(effect.type);
        for (let i = 0; i < watching.length; i++) watching[i]?.leaving?.(machine, actor, effect);
        return false;
      },
      bug: (_node, actor, error) => {
        const what = error instanceof Error ? error.message : String(error);
        this.violate(wordsOf('hygiene', `${actor} threw: ${what}`), machine, machine.height, error);
      },
      // A peer may be gone before what was said to it comes; all others live as long as their node.
      lost: (_node, actor) => {
        if (peerOfActor(actor) === null)
          this.violate(
            wordsOf('hygiene', `there is mail for ${actor}, and no such actor`),
            machine,
            machine.height,
          );
      },
    };
  }

  // --- time --------------------------------------------------------------------------------------------------------------

  /**
   * The world's digest, 32 bytes: over all turns, in order. What each turn was is in its node's digest already, so this one covers which
   * node took each turn, and every node's digest at the end of each life and now.
   */
  readDigest(): Uint8Array {
    const whole = new RunningDigest();
    whole.add(this.order.read());
    for (const { node } of this.machines) if (node) whole.add(node.digest.read());
    return whole.read();
  }

  /** Over all nodes and lives. */
  get deliveries(): number {
    return this.machines.reduce(
      (sum, machine) => sum + (machine.node?.deliveries ?? 0),
      this.deliveriesOfEndedLives,
    );
  }

  /** Until `done`, the end of the agenda, `untilNs` (what is due by then happens, and nothing later), or a violation. True: `done` said so. */
  run(done: () => boolean, untilNs: number): boolean {
    const { agenda } = this;
    while (this.violations.length === 0) {
      if (done()) return true;
      const nextAt = agenda.nextAt();
      if (nextAt > untilNs) {
        if (nextAt < Infinity) agenda.runUntil(untilNs);
        break;
      }
      agenda.next();
    }
    return done();
  }

  end(): void {
    for (const oracle of this.oracles) oracle.ended?.();
  }
}

const NO_KEY = {
  publicKey: new Uint8Array(32),
  sign: (): Uint8Array => unreachable('a full node signs nothing'),
};

function note(machine: Machine, event: NodeEvent): void {
  if (event.type === 'step') {
    machine.round = event.round;
    machine.step = event.step;
  } else if (event.type === 'committed') machine.height = event.height;
  else if (event.type === 'mode') {
    machine.mode = event.mode;
    // A life begins, or a height without a step before it: the round of another life or height is no longer true.
    machine.round = 0;
    machine.step = STEP.newHeight;
    // Who died between its new state and the word of it never says that it committed this height.
    if (event.height > machine.height) machine.height = event.height;
  } else if (event.type === 'halted') machine.halted = event.what;
}
