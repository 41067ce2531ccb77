// Owns what happens to an envelope between two nodes: its delay, and whether it is lost, doubled, reordered
// or corrupted.

import type { Payload, PeerId } from '../actors/turn.ts';
import type { NetListener } from '../runtime/kernel/ports.ts';
import { type Agenda, type Handle, type Life, WORLD_LIFE } from './agenda.ts';
import type { Choices, Stream } from './choices.ts';
import { drawLatency, drawSpan, type Latency, MILLISECOND, type Span, span, uniform } from './latency.ts';

const MILLION = 1_000_000;
const SECOND_NS = 1_000_000_000;

/** One direction between two nodes. Chances are of an envelope, in a million. */
export interface LinkSettings {
  readonly latency: Latency;
  readonly lossPpm: number;
  /** A second copy, late by a drawn `straggle`. */
  readonly duplicatePpm: number;
  /** Late by a drawn `straggle`, so that others pass it. Without this fault a link keeps the order. */
  readonly reorderPpm: number;
  readonly straggle: Span;
  /** A bit of a payload flipped, or its end cut off, in a copy. */
  readonly corruptPpm: number;
  /** Zero: as many as wanted. */
  readonly bytesPerSecond: number;
}

export const CALM_LINK: LinkSettings = {
  latency: uniform(1 * MILLISECOND, 5 * MILLISECOND),
  lossPpm: 0,
  duplicatePpm: 0,
  reorderPpm: 0,
  straggle: span(1 * MILLISECOND, 500 * MILLISECOND),
  corruptPpm: 0,
  bytesPerSecond: 0,
};

/** What happened to envelopes and connections, over the whole network. */
export class NetCounters {
  sent = 0;
  delivered = 0;
  dropped = 0;
  duplicated = 0;
  reordered = 0;
  corrupted = 0;
  truncated = 0;
  /** Waited for bandwidth. */
  throttled = 0;
  /** Waited for a clog to end. */
  clogged = 0;
  /** Sent or on their way while the link was cut. */
  cut = 0;
  /** Sent to a peer that is not up. */
  unconnected = 0;
  /** Arrived at a node that has died or closed the connection meanwhile. */
  stray = 0;
  ruledDropped = 0;
  /** Liars said nothing instead. */
  keptBack = 0;
  ruledDelayed = 0;
  ruledRewritten = 0;
  opened = 0;
  closed = 0;
  dialsFailed = 0;
  /** Deaths that no peer could see. */
  unnoticed = 0;
}

/** A machine on the network; it may run no node at the moment. */
export interface Host {
  readonly peer: PeerId;
  readonly address: string;
  /** Of the node it runs; `WORLD_LIFE` when it runs none. */
  life: Life;
  listener: NetListener | null;
  readonly links: Map<PeerId, Link>;
  /** Connections of its last lives that others still believe in: nobody saw it die. */
  readonly unnoticed: { readonly link: Link; readonly session: number }[];
}

/** An envelope that a clog holds, itself or those before it. */
interface Held {
  readonly slot: number;
  readonly handle: Handle;
  /** When it comes, and when it would have come. */
  readonly at: number;
  readonly freeAt: number;
  /** It comes out of order anyway. */
  readonly isStray: boolean;
}

interface Farewell {
  readonly session: number;
  readonly handle: Handle;
  /** When it would come, were there no clog. */
  readonly freeAt: number;
}

/** From one host to another, and what the first believes of their connection. */
export class Link {
  readonly from: Host;
  readonly to: Host;
  /** The other direction; set once, when both are made. */
  back: Link;
  settings: LinkSettings;
  isCut = false;
  /** `heal` leaves this cut alone. */
  isCutForEver = false;
  /**
   * The connection that `from` believes open: their number, 0 for none. An envelope arrives only where the
   * same one is believed in.
   */
  session = 0;
  isDialling = false;
  /** Envelopes keep their order: none arrives before this. */
  lastAt = 0;
  /** The line is busy with earlier bytes until then. */
  busyUntil = 0;
  /** Nothing arrives before this. */
  cloggedUntil = 0;
  /** What clogs have held up, in the order sent. */
  held: Held[] = [];
  /** As `lastAt`, of those that no clog holds. */
  lastFreeAt = 0;
  /** The last of what a rule made late arrives then: by that time it is news of long ago. */
  lateUntil = 0;
  /** The same, without clogs. */
  lateFreeUntil = 0;
  /** `from` has hung up, and the other side hears of it; null: it has not yet. */
  farewell: Farewell | null = null;

  constructor(from: Host, to: Host, settings: LinkSettings) {
    this.from = from;
    this.to = to;
    this.back = this;
    this.settings = settings;
  }

  get isBroken(): boolean {
    return this.isCut || this.back.isCut;
  }
}

/** What a rule decides of one envelope before chance does. */
export type Ruling =
  | 'pass'
  | 'drop'
  /** A liar keeps it to itself. */
  | 'silence'
  /** Chance does not touch these; they come after so much time, out of order if need be. */
  | { readonly delayNs: number; readonly payloads: readonly Payload[]; readonly done: number }
  /** These instead (a liar's, or a part of them); chance goes on from there. `done` is of `DONE`. */
  | { readonly payloads: readonly Payload[]; readonly done: number };

export type SendRule = (from: PeerId, to: PeerId, payloads: readonly Payload[]) => Ruling;

/** What was done to an envelope that arrives, as bits of a number. */
export const DONE = {
  /** A rule took a part of it out. */
  trimmed: 1,
  late: 2,
  corrupted: 4,
  reordered: 8,
  copied: 16,
  clogged: 32,
  lied: 64,
} as const;
/** These come out of order. */
const STRAY = DONE.late | DONE.reordered | DONE.copied;

/** Why an envelope never leaves: by chance, because the line is cut, because a rule says so, because a liar keeps it. */
export type Stopped = 'lost' | 'cut' | 'ruled' | 'kept';

/** Sees the way of every envelope; a picture does. */
export interface EnvelopeWatch {
  /** A node gave it to the link. What follows, until the next one is given, is about this one. */
  sent(link: Link, payloads: readonly Payload[]): void;
  stopped(why: Stopped): void;
  /** On its way, in this slot: to arrive then, with these payloads. `done` is of `DONE`. */
  leaves(slot: number, atNs: number, payloads: readonly Payload[], done: number): void;
  /** The clog that it waits for is over: it arrives then. */
  freed(slot: number, atNs: number): void;
  arrives(slot: number, how: 'heard' | 'cut' | 'stray'): void;
}

/** Carries envelopes over links, on the agenda. */
export class Carrier {
  /** Asked of every envelope that leaves over an open connection, once for each receiver. */
  rule: SendRule | null = null;
  /** Told of every envelope that reaches a node, before the node is. */
  readonly arrivals: ((from: PeerId, to: PeerId, payloads: readonly Payload[]) => void)[] = [];
  /** Told of every payload that a link changed: a corrupt transaction may still be one. */
  onCorrupted: ((payload: Payload) => void) | null = null;
  watch: EnvelopeWatch | null = null;
  readonly counters = new NetCounters();
  private readonly agenda: Agenda;
  private readonly latencies: Stream;
  private readonly losses: Stream;
  private readonly duplicates: Stream;
  private readonly reorders: Stream;
  private readonly corruptions: Stream;

  // Envelopes on their way, by slot.
  private readonly onLink: (Link | null)[] = [];
  private readonly inside: (readonly Payload[])[] = [];
  private readonly sessions: number[] = [];
  private readonly vacant: number[] = [];

  constructor(agenda: Agenda, choices: Choices) {
    this.agenda = agenda;
    this.latencies = choices.stream('net/latency');
    this.losses = choices.stream('net/loss');
    this.duplicates = choices.stream('net/duplicate');
    this.reorders = choices.stream('net/reorder');
    this.corruptions = choices.stream('net/corrupt');
  }

  drawLatency(link: Link): number {
    return drawLatency(this.latencies, link.settings.latency);
  }

  /** One envelope, over a link whose sender believes in a connection. */
  send(link: Link, payloads: readonly Payload[]): void {
    const { counters, rule } = this;
    counters.sent++;
    this.watch?.sent(link, payloads);
    if (rule === null) {
      this.chance(link, payloads, 0);
      return;
    }
    const ruling = rule(link.from.peer, link.to.peer, payloads);
    if (ruling === 'pass') this.chance(link, payloads, 0);
    else if (ruling === 'drop') {
      counters.ruledDropped++;
      this.watch?.stopped('ruled');
    } else if (ruling === 'silence') {
      counters.keptBack++;
      this.watch?.stopped('kept');
    } else if ('delayNs' in ruling) {
      if (this.isStopped(link)) return;
      counters.ruledDelayed++;
      const due = this.agenda.now + ruling.delayNs;
      const at = Math.max(due, link.cloggedUntil);
      if (at > due) counters.clogged++;
      link.lateUntil = Math.max(link.lateUntil, at);
      link.lateFreeUntil = Math.max(link.lateFreeUntil, due);
      const done = ruling.done | DONE.late | (at > due ? DONE.clogged : 0);
      this.deliverAt(at, due, link, ruling.payloads, done);
    } else {
      counters.ruledRewritten++;
      this.chance(link, ruling.payloads, ruling.done);
    }
  }

  /** Nothing leaves over a line that is cut. */
  private isStopped(link: Link): boolean {
    if (!link.isCut) return false;
    this.counters.cut++;
    this.watch?.stopped('cut');
    return true;
  }

  /** `done` says what a rule has made of it already. */
  private chance(link: Link, sent: readonly Payload[], done: number): void {
    const { counters, agenda } = this;
    const { settings } = link;
    if (this.isStopped(link)) return;
    if (this.losses.chance(settings.lossPpm, MILLION)) {
      counters.dropped++;
      this.watch?.stopped('lost');
      return;
    }
    let all = done;
    let at = agenda.now + drawLatency(this.latencies, settings.latency);
    if (settings.bytesPerSecond > 0) at += this.queueFor(link, sent);
    const freeAt = Math.max(at, link.lastFreeAt + 1);
    if (link.cloggedUntil > at) {
      counters.clogged++;
      at = link.cloggedUntil;
      all |= DONE.clogged;
    }
    const payloads = this.corruptions.chance(settings.corruptPpm, MILLION) ? this.corrupt(sent) : sent;
    if (payloads !== sent) all |= DONE.corrupted;
    if (at <= link.lastAt) at = link.lastAt + 1;
    if (this.reorders.chance(settings.reorderPpm, MILLION)) {
      counters.reordered++;
      const late = drawSpan(this.reorders, settings.straggle);
      this.deliverAt(at + late, freeAt + late, link, payloads, all | DONE.reordered);
    } else {
      link.lastAt = at;
      if (at === freeAt) link.lastFreeAt = at;
      this.deliverAt(at, freeAt, link, payloads, all);
    }
    if (this.duplicates.chance(settings.duplicatePpm, MILLION)) {
      counters.duplicated++;
      const late = 1 + drawSpan(this.duplicates, settings.straggle);
      this.deliverAt(at + late, freeAt + late, link, payloads, all | DONE.copied);
    }
  }

  /** The time until the line has carried these bytes, those before them included. */
  private queueFor(link: Link, payloads: readonly Payload[]): number {
    const { now } = this.agenda;
    let size = 0;
    for (const { bytes } of payloads) size += bytes.length;
    if (link.busyUntil > now) this.counters.throttled++;
    link.busyUntil =
      Math.max(link.busyUntil, now) + Math.ceil((size * SECOND_NS) / link.settings.bytesPerSecond);
    return link.busyUntil - now;
  }

  /** Changes a copy of one payload: the others, and other receivers, share the sender's buffers. */
  private corrupt(payloads: readonly Payload[]): readonly Payload[] {
    const { corruptions, counters } = this;
    const solid = payloads.filter(({ bytes }) => bytes.length > 0);
    if (solid.length === 0) return payloads;
    const victim = corruptions.pick(solid);
    const { length } = victim.bytes;
    let bytes: Uint8Array;
    if (corruptions.chance(1, 4)) {
      counters.truncated++;
      bytes = victim.bytes.slice(0, length - 1 - corruptions.draw(length));
    } else {
      counters.corrupted++;
      bytes = victim.bytes.slice();
      const at = corruptions.draw(length);
      bytes[at] = (bytes[at] as number) ^ (1 << corruptions.draw(8));
    }
    const changed = { channel: victim.channel, bytes };
    this.onCorrupted?.(changed);
    return payloads.map((payload) => (payload === victim ? changed : payload));
  }

  /** It would come at `freeAt`, were there no clog. */
  private deliverAt(
    at: number,
    freeAt: number,
    link: Link,
    payloads: readonly Payload[],
    done: number,
  ): void {
    const slot = this.vacant.pop() ?? this.onLink.length;
    this.onLink[slot] = link;
    this.inside[slot] = payloads;
    this.sessions[slot] = link.session;
    this.watch?.leaves(slot, at, payloads, done);
    const handle = this.agenda.at(at, this.arrive, slot, WORLD_LIFE);
    if (at !== freeAt) link.held.push({ slot, handle, at, freeAt, isStray: (done & STRAY) !== 0 });
  }

  clog(link: Link, untilNs: number): void {
    link.cloggedUntil = untilNs;
    link.held = link.held.filter(({ at }) => at >= this.agenda.now);
  }

  /** The clog is over before its time: what it holds goes on, in order, and comes when it would have come, or now. */
  free(link: Link): void {
    const { agenda } = this;
    link.cloggedUntil = 0;
    const { held } = link;
    link.held = [];
    let last = 0;
    for (const { slot, handle, freeAt, isStray } of held) {
      if (!agenda.cancel(handle)) continue; // it has come
      const at = Math.max(agenda.now, freeAt, isStray ? 0 : last + 1);
      if (!isStray) last = at;
      this.watch?.freed(slot, at);
      agenda.at(at, this.arrive, slot, WORLD_LIFE);
    }
    link.lastFreeAt = Math.max(link.lastFreeAt, last);
    link.lastAt = link.lastFreeAt;
    link.lateUntil = link.lateFreeUntil;
  }

  private readonly arrive = (slot: number): void => {
    const link = this.onLink[slot] as Link;
    const payloads = this.inside[slot] as readonly Payload[];
    const session = this.sessions[slot] as number;
    this.onLink[slot] = null;
    this.inside[slot] = NO_PAYLOADS;
    this.vacant.push(slot);
    const { counters } = this;
    const how = link.isCut ? 'cut' : link.back.session === session ? 'heard' : 'stray';
    this.watch?.arrives(slot, how);
    if (how === 'cut') counters.cut++;
    else if (how === 'stray') counters.stray++;
    else {
      counters.delivered++;
      for (let i = 0; i < this.arrivals.length; i++)
        this.arrivals[i]?.(link.from.peer, link.to.peer, payloads);
      link.to.listener?.heard(link.from.peer, payloads);
    }
  };
}

const NO_PAYLOADS: readonly Payload[] = [];
