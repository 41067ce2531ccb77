// Owns the way of pending things to durability: at most one flush under way, which covers all that was there
// when it began.

import type { Agenda, Life } from './heap.ts';

/** What a flusher makes durable. Counts are of all things ever, so that they only grow. */
export interface Flushable {
  /** How many things were written so far. */
  written(): number;
  /** The flush has taken its time: the first `upTo` things are durable now. */
  flushed(upTo: number): void;
}

export class Flusher {
  private readonly agenda: Agenda;
  private readonly life: Life;
  private readonly target: Flushable;
  private readonly drawLatency: () => number;
  private isUnderWay = false;
  private upTo = 0;
  private waiting: { readonly upTo: number; readonly done: () => void }[] = [];

  constructor(agenda: Agenda, life: Life, target: Flushable, drawLatency: () => number) {
    this.agenda = agenda;
    this.life = life;
    this.target = target;
    this.drawLatency = drawLatency;
  }

  /** `done` is called when all that is written by now is durable; calls finish in order. */
  ask(done: () => void): void {
    this.waiting.push({ upTo: this.target.written(), done });
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
    const { waiting, agenda, life } = this;
    let told = 0;
    while (told < waiting.length) {
      const next = waiting[told] as { readonly upTo: number; readonly done: () => void };
      // A crash at one of the disk's points, or in what an answer set off, silences the rest.
      if (next.upTo > this.upTo || agenda.isOver(life)) break;
      told++;
      next.done();
    }
    waiting.splice(0, told);
    this.isUnderWay = false;
    if (waiting.length > 0 && !agenda.isOver(life)) this.start();
  };
}
