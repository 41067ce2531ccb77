// Owns the way of pending things to durability: at most one flush under way, which covers all that was there
// when it began.

import type { Agenda, Life } from './agenda.ts';

/** What a flusher makes durable. Counts are of all things ever, so that they only grow. */
export interface Flushable {
  /** How many things were written so far. */
  written(): number;
  /** The flush has taken its time: the first `upTo` things are durable now. */
  flushed(upTo: number): void;
}

/** Answered calls are let go of this many at a time. */
const TOLD_KEPT_MAX = 64;

export class Flusher {
  private readonly agenda: Agenda;
  private readonly life: Life;
  private readonly target: Flushable;
  private readonly drawLatency: () => number;
  private isUnderWay = false;
  private upTo = 0;
  // Who waits, and for how many things, in order: `told` of them were answered.
  private readonly waiting: (() => void)[] = [];
  private readonly waitingFor: number[] = [];
  private told = 0;

  constructor(agenda: Agenda, life: Life, target: Flushable, drawLatency: () => number) {
    this.agenda = agenda;
    this.life = life;
    this.target = target;
    this.drawLatency = drawLatency;
  }

  /** `done` is called when all that is written by now is durable; calls finish in order. */
  ask(done: () => void): void {
    this.waiting.push(done);
    this.waitingFor.push(this.target.written());
    this.start();
  }

  /** Begins a flush, unless one is under way. */
  start(): void {
    if (this.isUnderWay) return;
    this.isUnderWay = true;
    this.upTo = this.target.written();
    this.agenda.after(this.drawLatency(), this.finish, 0, this.life);
  }

  private readonly finish = (): void => {
    this.target.flushed(this.upTo);
    const { waiting, waitingFor, agenda, life } = this;
    while (this.told < waiting.length) {
      // A crash at one of the disk's points, or in what an answer set off, silences the rest.
      if ((waitingFor[this.told] as number) > this.upTo || agenda.isOver(life)) break;
      (waiting[this.told++] as () => void)();
    }
    const isIdle = this.told === waiting.length;
    if (isIdle) {
      // Mostly one: setting a length costs more than taking it out.
      for (; this.told > 0; this.told--) {
        waiting.pop();
        waitingFor.pop();
      }
    } else if (this.told > TOLD_KEPT_MAX) {
      waiting.splice(0, this.told);
      waitingFor.splice(0, this.told);
      this.told = 0;
    }
    this.isUnderWay = false;
    if (!isIdle && !agenda.isOver(life)) this.start();
  };
}
