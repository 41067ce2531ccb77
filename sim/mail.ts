// Owns the local hops of one node: every letter between two of its actors arrives once, in order, after a
// drawn moment; what a slow application is asked, when it has come to it.

import type { Mail } from '../runtime/kernel/ports.ts';
import type { Agenda, Life } from './agenda.ts';
import type { Stream } from './choices.ts';
import { drawSpan, MICROSECOND, type Span, span } from './latency.ts';

export const HOP: Span = span(MICROSECOND, 20 * MICROSECOND);

/**
 * How long an application takes for each answer, in nanoseconds, one after the other: to the validator, about proposals, blocks and what it
 * asks at a start, and to the pool, about transactions. Neither waits for the other, as on the connections of an ABCI application.
 */
export interface Answering {
  readonly blocksNs: number;
  readonly checksNs: number;
}

export const AT_ONCE: Answering = { blocksNs: 0, checksNs: 0 };

/** The machine's: it may change while the node runs. */
interface Pace {
  readonly answering: Answering;
  /** When its last answer about a block is out. */
  answersUntilNs: number;
}

/** From one actor to another. */
interface Lane {
  lastAt: number;
}

export class SimMail implements Mail {
  private readonly agenda: Agenda;
  private readonly life: Life;
  private readonly stream: Stream;
  private readonly pace: Pace;
  private readonly hop: Span;
  /** By receiver, then by sender: two look-ups cost less than a joined name. */
  private readonly lanes = new Map<string, Map<string, Lane>>();

  constructor(
    agenda: Agenda,
    life: Life,
    stream: Stream,
    pace: Pace = { answering: AT_ONCE, answersUntilNs: 0 },
    hop: Span = HOP,
  ) {
    this.agenda = agenda;
    this.life = life;
    this.stream = stream;
    this.pace = pace;
    this.hop = hop;
  }

  carry(from: string, to: string, deliver: () => void): void {
    const lane = this.lane(from, to);
    const { agenda } = this;
    const isBlocks = to === 'app' && from === 'validator';
    const { blocksNs, checksNs } = this.pace.answering;
    const takesNs = isBlocks ? blocksNs : to === 'app' ? checksNs : 0;
    const hopNs = drawSpan(this.stream, this.hop);
    // A nanosecond apart, so that neither the draw nor a tie-break can turn two letters round.
    if (takesNs === 0) lane.lastAt = Math.max(agenda.now + hopNs, lane.lastAt + 1);
    else lane.lastAt = Math.max(agenda.now, lane.lastAt) + takesNs + hopNs;
    if (takesNs > 0 && isBlocks) this.pace.answersUntilNs = lane.lastAt;
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
