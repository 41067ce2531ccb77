// Owns the network of a world: who is on it, which connections stand, who is cut off from whom. Envelopes go
// through sim/links.ts.

import type { Payload, PeerId } from '../actors/turn.ts';
import { must, unreachable } from '../protocol/refusal.ts';
import type { Net, NetListener } from '../runtime/kernel/ports.ts';
import { type Agenda, type Handle, type Life, WORLD_LIFE } from './agenda.ts';
import type { Choices, Stream } from './choices.ts';
import { drawSpan, SECOND, type Span, span } from './latency.ts';
import {
  CALM_LINK,
  Carrier,
  type Host,
  Link,
  type LinkSettings,
  type NetCounters,
  type SendRule,
} from './links.ts';

export interface NetworkSettings {
  /** A dial that nobody answers fails after this. */
  readonly dialTimeoutNs: number;
  /** How long until a peer notices that a node has died; or, where no death was to be seen, that it is another life. */
  readonly notice: Span;
}

export const USUAL_NETWORK: NetworkSettings = {
  dialTimeoutNs: 3 * SECOND,
  notice: span(0, 5 * SECOND),
};

export class Network {
  settings: NetworkSettings;
  readonly carrier: Carrier;
  private readonly agenda: Agenda;
  private readonly notices: Stream;
  private readonly defaults: LinkSettings;
  private readonly hosts = new Map<PeerId, Host>();
  private readonly addresses = new Map<string, Host>();
  private sessions = 0;

  constructor(
    agenda: Agenda,
    choices: Choices,
    links: LinkSettings = CALM_LINK,
    settings: NetworkSettings = USUAL_NETWORK,
  ) {
    this.agenda = agenda;
    this.settings = settings;
    this.defaults = links;
    this.carrier = new Carrier(agenda, choices);
    this.notices = choices.stream('net/notice');
  }

  get counters(): NetCounters {
    return this.carrier.counters;
  }

  /** Asked of every envelope before chance is; null for none. */
  set rule(rule: SendRule | null) {
    this.carrier.rule = rule;
  }

  /** A machine joins, with links to and from all others. */
  addHost(peer: PeerId, address: string): void {
    must(!this.hosts.has(peer) && !this.addresses.has(address), 'a host joins once, under its own address');
    const host: Host = { peer, address, life: WORLD_LIFE, listener: null, links: new Map(), unnoticed: [] };
    for (const other of this.hosts.values()) {
      const link = new Link(host, other, this.defaults);
      link.back = new Link(other, host, this.defaults);
      link.back.back = link;
      host.links.set(other.peer, link);
      other.links.set(peer, link.back);
    }
    this.hosts.set(peer, host);
    this.addresses.set(address, host);
  }

  private host(peer: PeerId): Host {
    return this.hosts.get(peer) ?? unreachable(`no host of peer ${peer} on this network`);
  }

  link(from: PeerId, to: PeerId): Link {
    return this.host(from).links.get(to) ?? unreachable(`no link from ${from} to ${to}`);
  }

  *links(): Iterable<Link> {
    for (const host of this.hosts.values()) yield* host.links.values();
  }

  /** The net port of a node that begins on this host. */
  start(peer: PeerId, life: Life): Net {
    const host = this.host(peer);
    must(host.life === WORLD_LIFE, 'one node a host');
    host.life = life;
    for (const { link, session } of host.unnoticed.splice(0)) {
      if (link.session === session) this.noticeLater(link);
    }
    return new SimNet(this, host);
  }

  /**
   * The node on this host died: its peers notice later. `unnoticed`: its machine lost its power, or its wire; they
   * go on believing in it until one runs there again, which knows of no such connection.
   */
  crash(peer: PeerId, death: 'noticed' | 'unnoticed' = 'noticed'): void {
    const host = this.host(peer);
    host.life = WORLD_LIFE;
    host.listener = null;
    if (death === 'unnoticed') this.counters.unnoticed++;
    for (const link of host.links.values()) {
      link.session = 0;
      link.isDialling = false;
      const { back } = link;
      if (back.session === 0) continue;
      if (death === 'noticed') this.noticeLater(back);
      else host.unnoticed.push({ link: back, session: back.session });
    }
  }

  private noticeLater(link: Link): void {
    this.endAt(this.agenda.now + drawSpan(this.notices, this.settings.notice), link);
  }

  /** What `from` believes of this connection ends then, if it still stands. */
  private endAt(at: number, link: Link): Handle {
    const { session } = link;
    return this.agenda.at(at, () => this.end(link, session), 0, link.from.life);
  }

  private end(link: Link, session: number): void {
    if (session === 0 || link.session !== session) return;
    link.session = 0;
    this.counters.closed++;
    link.from.listener?.down(link.to.peer);
  }

  /** Both ends of a connection are reset, and notice at once. */
  reset(a: PeerId, b: PeerId): void {
    const link = this.link(a, b);
    this.endAt(this.agenda.now, link);
    this.endAt(this.agenda.now, link.back);
  }

  close(link: Link): void {
    if (link.session === 0) return;
    this.endAt(this.agenda.now, link);
    if (link.back.session !== link.session) return;
    if (link.isBroken) this.noticeLater(link.back);
    else this.bidFarewell(link);
  }

  /** It keeps its place in the order of what was sent before it. */
  private bidFarewell(link: Link): void {
    const arrives = this.agenda.now + this.carrier.drawLatency(link);
    const freeAt = Math.max(arrives, link.lastFreeAt + 1);
    const at = Math.max(arrives, link.lastAt + 1);
    link.lastAt = at;
    if (at === freeAt) link.lastFreeAt = at;
    link.farewell = { session: link.back.session, handle: this.endAt(at, link.back), freeAt };
  }

  /** What a clog held goes on, and the farewell behind it. */
  private free(link: Link): void {
    this.carrier.free(link);
    const { farewell, back } = link;
    if (farewell === null || back.session !== farewell.session) return;
    if (!this.agenda.cancel(farewell.handle)) return;
    const at = Math.max(this.agenda.now, farewell.freeAt, link.lastAt + 1);
    link.lastAt = at;
    link.lastFreeAt = at;
    link.farewell = { ...farewell, handle: this.endAt(at, back) };
  }

  dial(host: Host, peer: PeerId, address: string): void {
    const link = host.links.get(peer);
    const startedAt = this.agenda.now;
    if (!link || this.addresses.get(address) !== link.to) {
      this.failDial(host, peer, null, startedAt, `no node ${peer} at ${address}`);
      return;
    }
    // One connection per peer: what stands, or is being dialled, answers for this dial too.
    if (link.session !== 0 || link.isDialling) return;
    link.isDialling = true;
    this.agenda.after(this.carrier.drawLatency(link), () => this.knock(link, startedAt), 0, host.life);
  }

  private failDial(host: Host, peer: PeerId, link: Link | null, startedAt: number, because: string): void {
    const at = Math.max(startedAt + this.settings.dialTimeoutNs, this.agenda.now);
    const fail = (): void => {
      if (link !== null) {
        link.isDialling = false;
        if (link.session !== 0) return; // meanwhile they have reached us
      }
      this.counters.dialsFailed++;
      host.listener?.dialFailed(peer, because);
    };
    this.agenda.at(at, fail, 0, host.life);
  }

  /** The dial reaches the other host. */
  private knock(link: Link, startedAt: number): void {
    const { from, to, back } = link;
    if (link.session !== 0) {
      link.isDialling = false; // they have reached us first
      return;
    }
    if (link.isBroken || to.listener === null) {
      const because = `${to.peer} at ${to.address} did not answer within ${this.settings.dialTimeoutNs} ns`;
      this.failDial(from, to.peer, link, startedAt, because);
      return;
    }
    // The answerer may still believe in a connection to a node that has died since.
    this.end(back, back.session);
    const session = ++this.sessions;
    back.session = session;
    const openAt = this.agenda.now + this.carrier.drawLatency(back);
    // What the answerer says is heard after it has answered.
    back.lastAt = Math.max(back.lastAt, openAt);
    back.lastFreeAt = Math.max(back.lastFreeAt, openAt);
    this.agenda.at(openAt, () => this.answered(link, session, startedAt), 0, from.life);
    this.counters.opened++;
    to.listener.up(from.peer);
  }

  /** The answer reaches the dialler. */
  private answered(link: Link, session: number, startedAt: number): void {
    if (link.back.session !== session || link.isBroken) {
      if (link.back.session === session) this.noticeLater(link.back);
      this.failDial(link.from, link.to.peer, link, startedAt, `${link.to.peer} answered and was gone`);
      return;
    }
    link.isDialling = false;
    link.session = session;
    link.from.listener?.up(link.to.peer);
  }

  /**
   * Envelopes from one to the other are lost in silence; connections stay. `for-ever`: not even `heal` mends
   * it.
   */
  cut(from: PeerId, to: PeerId, how: 'until-healed' | 'for-ever' = 'until-healed'): void {
    const link = this.link(from, to);
    link.isCut = true;
    if (how === 'for-ever') link.isCutForEver = true;
  }

  mend(from: PeerId, to: PeerId): void {
    const link = this.link(from, to);
    link.isCut = false;
    link.isCutForEver = false;
  }

  /**
   * Cuts all links between the groups, both ways; hosts that no group names are one more group. Earlier cuts
   * stay.
   */
  partition(groups: readonly (readonly PeerId[])[], how: 'until-healed' | 'for-ever' = 'until-healed'): void {
    const groupOf = (peer: PeerId): number => groups.findIndex((group) => group.includes(peer));
    for (const { from, to } of this.links()) {
      if (groupOf(from.peer) !== groupOf(to.peer)) this.cut(from.peer, to.peer, how);
    }
  }

  /** Mends all cuts but those for ever, and ends all clogs. */
  heal(): void {
    for (const link of this.links()) {
      link.isCut = link.isCutForEver;
      this.free(link);
    }
  }

  /** What is sent meanwhile arrives at the end of it, in order; when it is healed, then. */
  clog(from: PeerId, to: PeerId, untilNs: number): void {
    this.carrier.clog(this.link(from, to), untilNs);
  }

  /** The same settings for every link, those of hosts that join later not included. */
  setLinks(settings: LinkSettings): void {
    for (const link of this.links()) link.settings = settings;
  }
}

/** The net port of one life. */
class SimNet implements Net {
  private readonly network: Network;
  private readonly host: Host;
  private readonly life: Life;

  constructor(network: Network, host: Host) {
    this.network = network;
    this.host = host;
    this.life = host.life;
  }

  /** A turn that is still running when its node dies has nobody left to speak for. */
  private get isOver(): boolean {
    return this.host.life !== this.life;
  }

  listen(listener: NetListener): void {
    if (!this.isOver) this.host.listener = listener;
  }

  dial(peer: PeerId, address: string): void {
    if (!this.isOver) this.network.dial(this.host, peer, address);
  }

  send(to: readonly PeerId[], payloads: readonly Payload[]): void {
    const { host, network } = this;
    if (this.isOver) return;
    for (const peer of to) {
      const link = host.links.get(peer);
      if (link !== undefined && link.session !== 0) network.carrier.send(link, payloads);
      else network.counters.unconnected++;
    }
  }

  close(peer: PeerId): void {
    const link = this.host.links.get(peer);
    if (link && !this.isOver) this.network.close(link);
  }
}
