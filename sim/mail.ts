// Owns the local hops of one node: every letter between two of its actors arrives once, in order, after a
// drawn moment.

import type { Mail } from '../runtime/kernel/ports.ts';
import type { Stream } from './choices.ts';
import type { Agenda, Life } from './heap.ts';
import { drawSpan, MICROSECOND, type Span, span } from './latency.ts';

export const HOP: Span = span(MICROSECOND, 20 * MICROSECOND);

/** From one actor to another. */
interface Lane {
  lastAt: number;
}

export class SimMail implements Mail {
  private readonly agenda: Agenda;
  private readonly life: Life;
  private readonly stream: Stream;
  private readonly hop: Span;
  /** By receiver, then by sender: two look-ups cost less than a joined name. */
  private readonly lanes = new Map<string, Map<string, Lane>>();

  constructor(agenda: Agenda, life: Life, stream: Stream, hop: Span = HOP) {
    this.agenda = agenda;
    this.life = life;
    this.stream = stream;
    this.hop = hop;
  }

  carry(from: string, to: string, deliver: () => void): void {
    const lane = this.lane(from, to);
    const { agenda } = this;
    // A nanosecond apart, so that neither the draw nor a tie-break can turn two letters round.
    lane.lastAt = Math.max(agenda.now + drawSpan(this.stream, this.hop), lane.lastAt + 1);
    agenda.at(lane.lastAt, deliver, 0, this.life);
  }

  private lane(from: string, to: string): Lane {
    let senders = this.lanes.get(to);
    if (!senders) {
      senders = new Map();
      this.lanes.set(to, senders);
    }
    let lane = senders.get(from);
    if (!lane) {
      lane = { lastAt: 0 };
      senders.set(from, lane);
    }
    return lane;
  }
}
