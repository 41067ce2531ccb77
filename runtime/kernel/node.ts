// One node: its actors (each an xstate actor), their mailboxes, one turn at a time, and the order in which effects leave. The same code in both worlds.

import {
  type ActorName,
  type AnyLogic,
  type Boot,
  type Effect,
  type LocalMessage,
  type NodeCast,
  type NodeEvent,
  type Payload,
  type PeerId,
  peerActorOf,
} from '../../actors/turn.ts';
import { must } from '../../protocol/refusal.ts';
import type { Codec, Writer } from '../../protocol/words.ts';
import { Cell } from './cell.ts';
import { RunningDigest } from './digest.ts';
import { writeEffect } from './effects.ts';
import { type OwnerOf, sharesOf } from './owners.ts';
import type { Ports, Timer } from './ports.ts';
import { KIND, LastTurn, OneTurn, type TurnRecord, writeBoot, writeInput } from './record.ts';

export interface Watcher {
  /** After a turn, before its effects are released. */
  turn?(node: Node, record: TurnRecord): void;
  published?(node: Node, actor: ActorName, event: NodeEvent): void;
  /** Each effect, just before it leaves; true: the node crashed here and nothing more leaves. */
  leaving?(node: Node, actor: ActorName, effect: Effect): boolean;
  /** A bug in an actor: the node has stopped. */
  bug?(node: Node, actor: ActorName, error: unknown): void;
  /** Mail for an actor that is not there. */
  lost?(node: Node, actor: ActorName): void;
}

export interface NodeOptions extends NodeCast {
  readonly id: PeerId;
  readonly ports: Ports;
  readonly watcher: Watcher;
  /** Which actor owns a channel of the wire. */
  readonly ownerOf: OwnerOf;
}

export class Node {
  readonly id: PeerId;
  readonly digest = new RunningDigest();
  /** Deliveries so far: envelopes, local answers and timers that started a turn. */
  deliveries = 0;
  isAlive = true;
  bug: unknown = null;
  private readonly options: NodeOptions;
  private readonly ports: Ports;
  private readonly cells = new Map<ActorName, Cell>();
  private readonly turn = new OneTurn();
  private readonly record = new LastTurn();
  private readonly drawSource: (bound: number) => number;
  /** While paused, what would have happened waits here, in order. */
  private backlog: (() => void)[] | null = null;

  constructor(options: NodeOptions) {
    this.id = options.id;
    this.options = options;
    this.ports = options.ports;
    this.drawSource = (bound) => this.ports.random.draw(bound);
  }

  /** Reads the disk and starts every actor, in the order given. */
  start(): void {
    for (const logic of this.options.logics) this.startActor(logic, 'boot');
    if (!this.isAlive) return;
    this.ports.net.listen({
      up: (peer) => this.soon(() => this.peerUp(peer)),
      down: (peer) => this.soon(() => this.peerDown(peer)),
      heard: (peer, payloads) => this.heardNow(peer, payloads),
      dialFailed: (peer, because) => this.deliver('dialer', { type: 'dial-failed', peer, because }),
    });
  }

  /** Now, or when the pause ends. */
  private soon(happens: () => void): void {
    if (!this.isAlive) return;
    if (this.backlog) this.backlog.push(happens);
    else happens();
  }

  /** The process is stopped and not dead (SIGSTOP, a long collection): the world goes on, and waits for it. */
  pause(): void {
    this.backlog ??= [];
  }

  get isPaused(): boolean {
    return this.backlog !== null;
  }

  unpause(): void {
    const waiting = this.backlog ?? [];
    this.backlog = null;
    for (let i = 0; i < waiting.length; i++) this.soon(waiting[i] as () => void);
  }

  /** A crash, or the end. The disk stays as it is. */
  halt(): void {
    this.isAlive = false;
    for (const cell of this.cells.values()) cell.halt();
  }

  has(actor: ActorName): boolean {
    return this.cells.has(actor);
  }

  get actors(): readonly ActorName[] {
    return [...this.cells.keys()];
  }

  /** For tests, inspectors, pictures and oracles; never for actors. */
  peek<State>(actor: ActorName): State | undefined {
    return this.cells.get(actor)?.state as State | undefined;
  }

  /** Timers that it keeps for its actors: those that are to come due. */
  timersKept = (): number => [...this.cells.values()].reduce((sum, { timers }) => sum + timers.size, 0);

  wordsOf = (actor: ActorName): Codec<LocalMessage> | undefined => this.cells.get(actor)?.logic.words;

  // --- actors ----------------------------------------------------------------------------------------------------

  private startActor(logic: AnyLogic, kind: 'boot' | 'spawn'): void {
    if (!this.isAlive) return; // the node crashed in an effect of an earlier actor
    must(!this.cells.has(logic.name), `actor ${logic.name} lives already`);
    const boot: Boot = {
      logs: logic.reads.logs.map((name) => this.ports.log(name).read()),
      stores: logic.reads.stores.map(({ store, from, to, last }) =>
        this.ports.store(store).range(from, to, last ?? Number.MAX_SAFE_INTEGER, last ? 'last' : 'first'),
      ),
    };
    this.beginTurn();
    const started = this.begun(logic, boot);
    writeBoot(this.beginRecord(), kind, logic.name, this.turn, boot);
    this.record.inputEnds();
    if (!started) return this.onBug(kind, logic.name);
    const cell = new Cell(logic, started.state, this.turn, {
      resume: (rested) => this.resume(rested),
      bug: (error) => {
        this.bug = caught(error);
      },
    });
    this.cells.set(logic.name, cell);
    this.endTurn(cell, kind, started.effects);
  }

  /** Null: a bug, kept in `bug`. Turns have xstate to catch theirs; a start has nobody. */
  private begun(logic: AnyLogic, boot: Boot): ReturnType<AnyLogic['start']> | null {
    try {
      return logic.start(boot, this.turn);
    } catch (error) {
      this.bug = caught(error);
      return null;
    }
  }

  /** The guilty turn is the last that is recorded, without effects: a replay of the trace throws where we threw. */
  private onBug(kind: TurnRecord['kind'], actor: ActorName): void {
    this.seal(kind, actor);
    this.halt();
    this.options.watcher.bug?.(this, actor, this.bug);
  }

  private stopActor(actor: ActorName): void {
    if (!this.isAlive) return;
    const cell = this.cells.get(actor);
    if (!cell) return;
    cell.stop();
    this.cells.delete(actor);
    const w = this.beginRecord();
    w.u8(KIND.stop);
    w.text(actor);
    this.record.inputEnds();
    this.seal('stop', actor);
  }

  // --- turns -----------------------------------------------------------------------------------------------------

  private beginTurn(): void {
    const { clock } = this.ports;
    this.turn.begin(clock.wallNs(), clock.monoNs(), this.drawSource);
  }

  /** One message, one turn, one ordered list of effects. */
  deliver(actor: ActorName, message: LocalMessage): void {
    if (!this.isAlive) return;
    if (this.backlog) return this.deliverLater(actor, message);
    const cell = this.cells.get(actor);
    if (!cell) {
      this.options.watcher.lost?.(this, actor);
      return;
    }
    this.deliveries++;
    this.beginTurn();
    const effects = cell.receive(message);
    writeInput(this.beginRecord(), actor, this.turn, cell.logic.words, message);
    this.record.inputEnds();
    if (this.bug !== null) return this.onBug('turn', actor);
    this.endTurn(cell, 'turn', effects);
  }

  /** False: what the actor wants to say has no bytes (an application of others may answer anything). */
  private wrote(effects: readonly Effect[]): boolean {
    const w = this.record.written();
    const { length } = w;
    try {
      for (let i = 0; i < effects.length; i++) writeEffect(w, effects[i] as Effect, this.wordsOf);
      return true;
    } catch (error) {
      w.length = length;
      this.bug = caught(error);
      return false;
    }
  }

  private deliverLater(actor: ActorName, message: LocalMessage): void {
    this.backlog?.push(() => this.deliver(actor, message));
  }

  private endTurn(cell: Cell, kind: 'boot' | 'turn' | 'spawn', effects: readonly Effect[]): void {
    if (!this.wrote(effects)) return this.onBug(kind, cell.logic.name);
    this.seal(kind, cell.logic.name);
    this.release(cell, effects);
  }

  /** A turn is encoded where it is hashed: in its node's digest. */
  private beginRecord(): Writer {
    const writer = this.digest.open();
    this.record.begin(writer);
    return writer;
  }

  private seal(kind: TurnRecord['kind'], actor: ActorName): void {
    const { record } = this;
    record.effectsEnd();
    record.kind = kind;
    record.actor = actor;
    this.options.watcher.turn?.(this, record);
  }

  // --- effects ---------------------------------------------------------------------------------------------------

  private release(cell: Cell, effects: readonly Effect[]): void {
    if (cell.isHeld) {
      for (const effect of effects) cell.held.push(effect);
      return;
    }
    for (let i = 0; i < effects.length; i++) {
      const effect = effects[i] as Effect;
      if (!this.isAlive) return; // the node died inside the effect before this one: nothing more leaves it
      if (this.options.watcher.leaving?.(this, cell.logic.name, effect)) return;
      if (!this.perform(cell, effect)) continue;
      cell.held = effects.slice(i + 1);
      return;
    }
  }

  private resume(cell: Cell): void {
    if (!this.isAlive) return;
    if (this.backlog) {
      this.backlog.push(() => this.resume(cell));
      return;
    }
    cell.isHeld = false;
    const held = cell.held;
    cell.held = [];
    this.release(cell, held);
  }

  /** True: what follows must wait until this is durable. */
  private perform(cell: Cell, effect: Effect): boolean {
    const { ports } = this;
    const name = cell.logic.name;
    switch (effect.type) {
      case 'append':
        ports.log(effect.log).append(effect.record);
        return false;
      case 'sync':
        cell.isHeld = true;
        ports.log(effect.log).sync(cell.resume);
        return true;
      case 'trim':
        ports.log(effect.log).trim(effect.keep);
        return false;
      case 'store':
        if (!effect.durable) {
          ports.store(effect.store).write(effect.writes);
          return false;
        }
        cell.isHeld = true;
        ports.store(effect.store).write(effect.writes, cell.resume);
        return true;
      case 'load': {
        const found = ports.store(effect.store).range(effect.from, effect.to, effect.limit, effect.which);
        this.mail(`store:${effect.store}`, name, { type: 'loaded', tag: effect.tag, found });
        return false;
      }
      case 'sign':
        this.sign(name, effect.bytes, effect.tag);
        return false;
      case 'send':
        ports.net.send(effect.to, effect.payloads);
        return false;
      case 'tell':
        this.mail(name, effect.to, effect.message);
        return false;
      case 'schedule':
        this.schedule(cell, effect.timer, effect.afterNs);
        return false;
      case 'cancel':
        cell.timers.get(effect.timer)?.cancel();
        cell.timers.delete(effect.timer);
        return false;
      case 'publish':
        this.options.watcher.published?.(this, name, effect.event);
        return false;
      case 'score':
        if (effect.drop) ports.net.close(effect.peer);
        return false;
      case 'dial':
        ports.net.dial(effect.peer, effect.address);
        return false;
      case 'spawn':
        this.startActor(this.options.spawn(effect.actor), 'spawn');
        return false;
      case 'stop':
        this.stopActor(effect.actor);
        return false;
    }
  }

  // Effects that are answered later have methods of their own: a closure in `perform` would be allocated for every effect.

  private sign(name: ActorName, bytes: Uint8Array, tag: number): void {
    this.ports.sign.sign(bytes, (signature) => this.deliver(name, { type: 'signature', tag, signature }));
  }

  private schedule(cell: Cell, id: string, afterNs: bigint): void {
    cell.timers.get(id)?.cancel();
    const timer: Timer = this.ports.clock.after(afterNs, () => this.comesDue(cell, id, timer));
    cell.timers.set(id, timer);
  }

  /** In a pause it waits with all else, and what comes before it may still cancel it. */
  private comesDue(cell: Cell, id: string, timer: Timer): void {
    if (this.backlog) return void this.backlog.push(() => this.comesDue(cell, id, timer));
    if (cell.timers.get(id) !== timer) return;
    cell.timers.delete(id);
    this.deliver(cell.logic.name, { type: 'timer', timer: id });
  }

  private mail(from: ActorName, to: ActorName, message: LocalMessage): void {
    this.ports.mail.carry(from, to, () => this.deliver(to, message));
  }

  /** Mail from outside the actors: a transaction submitted by a play, a load or an RPC session. */
  post(to: ActorName, message: LocalMessage): void {
    this.mail('outside', to, message);
  }

  // --- the net ---------------------------------------------------------------------------------------------------

  private peerUp(peer: PeerId): void {
    const actor = peerActorOf(peer);
    if (!this.cells.has(actor)) this.startActor(this.options.spawn(actor), 'spawn');
    this.deliver(actor, { type: 'connected' });
    this.deliver('dialer', { type: 'up', peer });
  }

  private peerDown(peer: PeerId): void {
    const actor = peerActorOf(peer);
    if (!this.cells.has(actor)) return;
    this.deliver(actor, { type: 'disconnected' });
    this.stopActor(actor);
    this.deliver('dialer', { type: 'down', peer });
  }

  private heardNow(peer: PeerId, payloads: readonly Payload[]): void {
    if (!this.isAlive) return;
    if (this.backlog) this.heardLater(peer, payloads);
    else this.heard(peer, payloads);
  }

  private heardLater(peer: PeerId, payloads: readonly Payload[]): void {
    this.backlog?.push(() => this.heardNow(peer, payloads));
  }

  private heard(peer: PeerId, payloads: readonly Payload[]): void {
    for (const share of sharesOf(peer, payloads, this.options.ownerOf))
      this.deliver(share.owner, { type: 'heard', peer, payloads: share.payloads });
  }
}

/** Null says that there is no bug, so who throws null gets an Error. */
const caught = (error: unknown): unknown => error ?? new Error(`it threw ${String(error)}`);
