// Follows a play's directives: waits for each trigger, lets the stage act, and keeps the claims. Knows what
// has not happened yet.

import { MILLISECOND } from '../latency.ts';
import type { Machine } from '../machine.ts';
import type { World } from '../world.ts';
import type { Action, Claim, Condition, Deed, Directive, Scenario, StateOf } from './play.ts';
import type { Happening, Witness } from './witness.ts';

/** A condition being watched: `everyone` needs to have done it, each once, and then once more. */
class Watch {
  readonly condition: Condition;
  private readonly done = new Set<Machine>();

  constructor(condition: Condition) {
    this.condition = condition;
  }

  see(happening: Happening, cast: readonly Machine[]): boolean {
    const { who } = this.condition;
    if (who === 'anyone' || who === happening.node.name) return true;
    if (who !== 'everyone') return false;
    this.done.add(happening.node);
    if (!cast.every((machine) => this.done.has(machine))) return false;
    this.done.clear();
    return true;
  }
}

export interface Broken {
  readonly what: string;
  readonly at: Machine | null;
  /** Of which height that is which somebody did; undefined: something was not done. */
  readonly done?: bigint;
}

interface Never {
  readonly condition: Condition;
  readonly during: StateOf | undefined;
  /** It is so, since something happened last. */
  isSo: boolean;
  /** As anything happened, it was so. */
  wasSo: boolean;
}

type State = StateOf['is'];
const OF_A_LIFE: readonly State[] = ['up', 'down', 'in-consensus', 'syncing', 'halted', 'locked-on'];
/** What a node is no more, or has become, when it is told that it did this. */
const CHANGED_BY: Partial<Readonly<Record<Deed, readonly State[]>>> = {
  starts: OF_A_LIFE,
  crashes: OF_A_LIFE,
  joins: ['in-consensus', 'syncing'],
  halts: ['halted'],
  locks: ['locked-on'],
  decides: ['locked-on', 'of-power', 'weaker-than'],
};

/** Directives by their time: those of one moment in the order of the play. */
function byTime(act: readonly Directive[]): ReadonlyMap<number, readonly number[]> {
  const times = new Map<number, number[]>();
  for (const [index, directive] of act.entries()) {
    if (!('atMs' in directive)) continue;
    const indexes = times.get(directive.atMs);
    if (indexes) indexes.push(index);
    else times.set(directive.atMs, [index]);
  }
  return times;
}

export interface ScriptParts {
  readonly play: Scenario;
  readonly world: World;
  readonly witness: Witness;
  readonly addressByName: (name: string) => string;
  /** Whose doings `everyone` means. */
  readonly honest: readonly Machine[];
  readonly perform: (action: Action) => void;
  readonly broken: (broken: Broken) => void;
}

export class Script {
  private readonly parts: ScriptParts;
  /** By place: a play may name one directive twice. */
  private readonly fired = new Set<number>();
  /** Of those the ones that chaos was over before. */
  private readonly skipped = new Set<number>();
  /** The directives that wait for something to happen: one for each that began a chain by its time. */
  private readonly waiting = new Set<{ readonly watch: Watch; readonly index: number }>();
  /** The directives that go on waiting for something to happen again. */
  private readonly standing: { readonly watch: Watch; readonly index: number; firedAt: number }[] = [];
  private readonly sometimes: { readonly watch: Watch; readonly claim: Claim }[] = [];
  private readonly nevers: Never[] = [];
  private isChaosOver = false;
  /** When the last directive fired, each for the first time. */
  lastFiredAt = 0;

  constructor(parts: ScriptParts) {
    this.parts = parts;
    const { act, holds } = parts.play;
    for (const claim of holds) {
      if ('never' in claim)
        this.nevers.push({ condition: claim.never, during: claim.while, isSo: false, wasSo: false });
      else if ('sometime' in claim) this.sometimes.push({ watch: new Watch(claim.sometime), claim });
    }
    for (const [atMs, indexes] of byTime(act))
      parts.world.agenda.at(atMs * MILLISECOND, () => {
        for (const index of indexes) this.fire(index);
      });
    this.armAfter(-1);
    parts.witness.listeners.push((happening) => this.see(happening));
    parts.witness.quietly.push(() => {
      for (const claim of this.nevers) this.refresh(claim);
    });
  }

  get isDone(): boolean {
    return this.fired.size === this.parts.play.act.length;
  }

  /** What has to happen yet for the claims to be true, other than how things stand at the end. */
  get isFulfilled(): boolean {
    return this.sometimes.length === 0;
  }

  /** The directive after this one, if it waits for that. */
  private armAfter(index: number): void {
    const next = this.parts.play.act[index + 1];
    if (!next || 'atMs' in next) return;
    if ('when' in next) this.await(next, index + 1);
    else if ('whenever' in next) {
      if (!this.standing.some((order) => order.index === index + 1)) this.stand(next, index + 1);
    } else {
      const comes = this.byTheClock(index + 1);
      this.parts.world.agenda.after(next.afterMs * MILLISECOND, comes);
    }
  }

  /** One standing order does not wait for another. */
  private stand(directive: Extract<Directive, { whenever: Condition }>, index: number): void {
    this.standing.push({ watch: new Watch(directive.whenever), index, firedAt: -1 });
    const next = this.parts.play.act[index + 1];
    if (next && 'whenever' in next) this.stand(next, index + 1);
  }

  /** What the clock brings that was set before chaos ended does not come after it. */
  private byTheClock(index: number): () => void {
    const wasOver = this.isChaosOver;
    return () => {
      if (this.isChaosOver && !wasOver) this.skip(index);
      else this.fire(index);
    };
  }

  /** It does not come, nor does anything that waits for it: up to the next directive that has a time of its own, or belongs to a standing order that has begun. */
  private skip(index: number): void {
    const { act } = this.parts.play;
    for (let i = index; i < act.length && !this.fired.has(i); i++) {
      if (i > index && 'atMs' in (act[i] as Directive)) return;
      this.skipped.add(i);
      this.fired.add(i);
    }
  }

  private await(directive: Extract<Directive, { when: Condition }>, index: number): void {
    const waiting = { watch: new Watch(directive.when), index };
    this.waiting.add(waiting);
    if (directive.latestMs === undefined) return;
    const { agenda } = this.parts.world;
    const comes = this.byTheClock(index);
    agenda.at(Math.max(agenda.now, directive.latestMs * MILLISECOND), () => {
      if (this.waiting.delete(waiting)) comes();
    });
  }

  private fire(index: number): void {
    const { act } = this.parts.play;
    const directive = act[index] as Directive;
    const isFirst = !this.fired.has(index);
    if (!isFirst && !('whenever' in directive)) return; // chaos was over before its time came
    this.fired.add(index);
    if (directive.actions.some((action) => action.do === 'core')) this.endChaos();
    if (isFirst) this.lastFiredAt = this.parts.world.agenda.now;
    for (const action of directive.actions) this.parts.perform(action);
    if (isFirst) this.armAfter(index);
  }

  /** What the clock was still to bring does not come, and what came again and again does not any more. */
  private endChaos(): void {
    this.isChaosOver = true;
    for (const [index, directive] of this.parts.play.act.entries())
      if ('atMs' in directive && !this.fired.has(index)) this.skip(index);
    for (const { index } of this.standing.splice(0)) if (!this.fired.has(index)) this.skip(index);
  }

  private see(happening: Happening): void {
    const { witness, honest, addressByName } = this.parts;
    const isIt = (condition: Condition): boolean => witness.matches(happening, condition, addressByName);
    for (const claim of this.nevers) {
      const { condition } = claim;
      const isSo = this.isSoAsIt(happening, claim);
      if (isSo) claim.wasSo = true;
      const isWho = condition.who === 'anyone' || condition.who === happening.node.name;
      if (isSo && isWho && isIt(condition))
        this.parts.broken({ what: neverText(claim), at: happening.node, done: happening.height });
    }
    for (let i = this.sometimes.length - 1; i >= 0; i--) {
      const { watch } = this.sometimes[i] as { watch: Watch };
      if (isIt(watch.condition) && watch.see(happening, honest)) this.sometimes.splice(i, 1);
    }
    const { now } = this.parts.world.agenda;
    const { length } = this.standing; // what one of them begins waits for what comes after
    for (let i = 0; i < length && i < this.standing.length; i++) {
      const order = this.standing[i] as (typeof this.standing)[number];
      if (order.firedAt === now || !isIt(order.watch.condition)) continue;
      if (!order.watch.see(happening, honest)) continue;
      order.firedAt = now;
      this.fire(order.index);
    }
    for (const waiting of [...this.waiting]) {
      if (!isIt(waiting.watch.condition) || !waiting.watch.see(happening, honest)) continue;
      if (this.waiting.delete(waiting)) this.fire(waiting.index);
    }
  }

  /** What a deed makes of a state is not what the state was as it happened. */
  private isSoAsIt({ does, node }: Happening, claim: Never): boolean {
    const { during } = claim;
    if (!during) return true;
    const before = claim.isSo;
    this.refresh(claim);
    const isOfNode = node.name === during.who || during.is === 'of-power' || during.is === 'weaker-than';
    return isOfNode && CHANGED_BY[does]?.includes(during.is) ? before : claim.isSo;
  }

  private refresh(claim: Never): void {
    const { during } = claim;
    if (during) claim.isSo = this.parts.witness.isSo(during, this.parts.world.machine(during.who));
  }

  /** Directives that did not come, and claims that hold for want of a chance: their height did not come, or their time. */
  *idle(heightMax: bigint): Generator<string> {
    for (const index of this.skipped)
      yield `no directive ${index + 1}, chaos was over: ${triggerText(this.parts.play.act[index] as Directive)}`;
    for (const claim of this.nevers) {
      const { condition, wasSo } = claim;
      if (BigInt(condition.height ?? 0) > heightMax + 1n)
        yield `no height ${condition.height} for "${neverText(claim)}": the furthest is ${heightMax}`;
      else if (!wasSo) yield `no time at which it was so for "${neverText(claim)}"`;
    }
  }

  /** Everything that was promised and is not so: asked once, at the end. */
  *unkept(): Generator<Broken> {
    const { play, witness, world } = this.parts;
    const missing = play.act.findIndex((_, index) => !this.fired.has(index));
    if (missing >= 0) {
      const directive = play.act[missing] as Directive;
      yield { what: `directive ${missing + 1} never fired: ${triggerText(directive)}`, at: null };
    }
    for (const { claim } of this.sometimes) {
      if ('sometime' in claim) yield { what: `never happened: ${conditionText(claim.sometime)}`, at: null };
    }
    for (const claim of play.holds) {
      if (!('finally' in claim)) continue;
      const machine = world.machine(claim.finally.who);
      if (!witness.isSo(claim.finally, machine)) {
        yield { what: `not so at the end: ${stateText(claim.finally)}`, at: machine };
      }
    }
  }
}

// --- in words ----------------------------------------------------------------------------------------------

export function conditionText(condition: Condition): string {
  const { who, does, height, round, block, step, against, because } = condition;
  const what = block === undefined ? '' : block === 'nil' ? ' nil' : ` block ${block}`;
  const where = [
    height === undefined ? '' : ` height ${height}`,
    round === undefined ? '' : ` in round ${round}`,
    step === undefined ? '' : ` ${step}`,
    against === undefined ? '' : ` ${against}`,
    because === undefined ? '' : ` (${because})`,
  ].join('');
  return `${who} ${does}${what}${where}`;
}

const neverText = ({ condition, during }: Never): string =>
  `never: ${conditionText(condition)}${during ? ` while ${stateText(during)}` : ''}`;

export function stateText(state: StateOf): string {
  if (state.is === 'locked-on') return `${state.who} is locked on block ${state.block}`;
  if (state.is === 'of-power') return `${state.who} has power ${state.power}`;
  if (state.is === 'weaker-than') return `${state.who} has less power than ${state.power}`;
  return `${state.who} is ${state.is.replace('-', ' ')}`;
}

const triggerText = (directive: Directive): string =>
  'atMs' in directive
    ? `at ${directive.atMs} ms`
    : 'afterMs' in directive
      ? `${directive.afterMs} ms after the one before`
      : 'when' in directive
        ? `when ${conditionText(directive.when)}`
        : `whenever ${conditionText(directive.whenever)}`;
