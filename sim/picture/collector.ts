// Watches one run and keeps what a picture of it needs: envelopes, what happened on each lane, what the play
// did. It changes nothing: the run has the same digest with it and without.

import type { NodeEvent, Payload } from '../../actors/turn.ts';
import { hexOf } from '../../protocol/bytes.ts';
import { must } from '../../protocol/refusal.ts';
import { hexFor } from '../addresses.ts';
import { DONE, type EnvelopeWatch, type Link, type Stopped } from '../links.ts';
import type { Machine } from '../machine.ts';
import type { Happening } from '../scenario/witness.ts';
import type { Backstage, Verdict } from '../verdict.ts';
import { type Columns, columns, merged, steps } from './columns.ts';
import { Lanes } from './lanes.ts';
import {
  ENDS,
  type EndName,
  MARKS,
  type MarkName,
  MESSAGE_KINDS,
  type Omitted,
  PICTURE_FORMAT,
  type Picture,
} from './picture.ts';
import { Blocks, SaidTable, Texts } from './said.ts';
import { Troubles } from './troubles.ts';

export interface PictureLimits {
  /** Envelopes kept, the newest; as many of chatter, and as many marks on lanes. */
  readonly most?: number;
}

/** Some minutes of a small network under load: a page of some megabytes, which opens within a second. */
const MOST = 50_000;
const NOTHING = -1;

const ENVELOPE_COLUMNS = ['nth', 'from', 'to', 'atNs', 'tookNs', 'end', 'done', 'said', 'became'] as const;
const MARK_COLUMNS = ['node', 'atNs', 'what', 'height', 'round', 'block', 'more'] as const;

const endOf = (name: EndName): number => ENDS.indexOf(name);
const END_OF_STOPPED: Readonly<Record<Stopped, number>> = {
  lost: endOf('lost'),
  cut: endOf('cut at once'),
  ruled: endOf('ruled out'),
  kept: endOf('kept back'),
};
const END_OF_ARRIVAL = {
  heard: endOf('heard'),
  cut: endOf('cut on the way'),
  stray: endOf('nobody there'),
} as const;
const ON_THE_WAY = endOf('on the way');

type Envelopes = Columns<(typeof ENVELOPE_COLUMNS)[number]>;
interface Arrow {
  readonly list: Envelopes;
  readonly number: number;
  readonly sentAt: number;
}

interface Place {
  readonly height: bigint;
  readonly round: number;
  readonly hash: Uint8Array | null;
}

export class PictureCollector implements EnvelopeWatch {
  private readonly texts = new Texts();
  private readonly blocks = new Blocks();
  private readonly talk: Envelopes;
  private readonly chatter: Envelopes;
  private envelopes = 0;
  private readonly marks: Columns<(typeof MARK_COLUMNS)[number]>;
  private readonly lanes = new Lanes();
  private readonly inSlot: Arrow[] = [];
  private readonly cuts: { atNs: number; lines: (readonly [number, number])[] }[] = [];
  private readonly indexOf = new Map<string, number>();
  private backstage: Backstage | null = null;
  private said: SaidTable | null = null;
  private troubles: Troubles | null = null;
  /** An action was told of and the lines that it cut were not looked at yet: it was about to begin. */
  private isCutNews = false;
  private cutNewsAt = 0;
  private given: { link: Link; parcel: number; payloads: readonly Payload[] } | null = null;

  constructor({ most = MOST }: PictureLimits = {}) {
    this.talk = columns(ENVELOPE_COLUMNS, most);
    this.chatter = columns(ENVELOPE_COLUMNS, most);
    this.marks = columns(MARK_COLUMNS, most, (row) => this.lanes.pass(row));
  }

  /** To be given to a run as `watch.backstage`. One collector, one run. */
  readonly open = (backstage: Backstage): void => {
    must(this.backstage === null, 'one collector watches one run');
    this.backstage = backstage;
    const { world, stage, witness, ghost } = backstage;
    const addresses = new Map(world.machines.map((at) => [hexFor(at), at.index]));
    for (const { member, index } of world.machines) this.indexOf.set(member.id, index);
    const signerOf = (address: string): number => addresses.get(address) ?? NOTHING;
    const proposerOf = (height: bigint, round: number): string => ghost.set(height)?.atRound(round) ?? '';
    this.said = new SaidTable(this.texts, this.blocks, signerOf, proposerOf);
    this.troubles = new Troubles(world.machines.map(({ name }) => name));
    this.lanes.begin(world.machines.length, (index) => this.texts.list[index] ?? '');
    stage.watchers.push({
      acts: (action) => {
        this.troubles?.acts(action, this.now);
        this.lookAtCuts();
        this.isCutNews = true;
        this.cutNewsAt = this.now;
      },
      paused: (machine, isPaused) => this.troubles?.paused(machine.index, isPaused, this.now),
    });
    witness.listeners.push((happening) => this.happens(happening));
    world.listeners.push((at, event) => this.published(at, event));
    world.network.carrier.watch = this;
  };

  private get now(): number {
    return this.backstage?.world.agenda.now ?? 0;
  }

  // --- envelopes -------------------------------------------------------------------------------------------

  sent(link: Link, payloads: readonly Payload[]): void {
    this.lookAtCuts();
    this.given = { link, parcel: this.parcelOf(payloads), payloads };
  }

  private parcelOf(payloads: readonly Payload[]): number {
    return this.said?.parcel(payloads) ?? NOTHING;
  }

  stopped(why: Stopped): void {
    this.arrow(0, END_OF_STOPPED[why], 0, NOTHING);
  }

  leaves(slot: number, atNs: number, payloads: readonly Payload[], done: number): void {
    const became = payloads === this.given?.payloads ? NOTHING : this.parcelOf(payloads);
    const arrow = this.arrow(atNs - this.now, ON_THE_WAY, done, became);
    if (arrow) this.inSlot[slot] = arrow;
  }

  freed(slot: number, atNs: number): void {
    const arrow = this.inSlot[slot];
    arrow?.list.set(arrow.number, 'tookNs', atNs - arrow.sentAt);
  }

  arrives(slot: number, how: 'heard' | 'cut' | 'stray'): void {
    this.lookAtCuts();
    const arrow = this.inSlot[slot];
    arrow?.list.set(arrow.number, 'end', END_OF_ARRIVAL[how]);
  }

  private arrow(tookNs: number, end: number, done: number, became: number): Arrow | null {
    const { given } = this;
    if (!given) return null;
    const from = this.indexOf.get(given.link.from.peer) ?? NOTHING;
    const to = this.indexOf.get(given.link.to.peer) ?? NOTHING;
    const list = this.said?.isChatter(given.parcel) ? this.chatter : this.talk;
    const row = { nth: this.envelopes++, from, to, atNs: this.now, tookNs, end, done };
    return { list, number: list.add({ ...row, said: given.parcel, became }), sentAt: this.now };
  }

  /** Lines are cut as an action is carried out, which is after we were told of it. */
  private lookAtCuts(): void {
    if (!this.isCutNews || !this.backstage) return;
    this.isCutNews = false;
    const lines: (readonly [number, number])[] = [];
    for (const { from, to, isCut } of this.backstage.world.network.links()) {
      if (isCut) lines.push([this.indexOf.get(from.peer) ?? 0, this.indexOf.get(to.peer) ?? 0]);
    }
    const before = this.cuts.at(-1)?.lines ?? [];
    if (before.join() === lines.join()) return;
    this.cuts.push({ atNs: this.cutNewsAt, lines });
  }

  // --- lanes -----------------------------------------------------------------------------------------------

  private mark(at: Machine, what: MarkName, where: Partial<Place>, more: number): void {
    const { height = BigInt(NOTHING), round = NOTHING, hash = null } = where;
    this.marks.add({
      node: at.index,
      atNs: this.now,
      what: MARKS.indexOf(what),
      height: Number(height),
      round,
      block: hash === null ? NOTHING : this.blocks.of(hash, height),
      more,
    });
  }

  private happens(happening: Happening): void {
    const { node, does, step, against, because } = happening;
    if (does === 'joins' || does === 'halts') return; // the mode says it, or the node
    if (does === 'crashes') this.troubles?.paused(node.index, false, this.now);
    const more =
      does === 'enters'
        ? step
        : does === 'starts'
          ? node.lives
          : does === 'punishes'
            ? this.texts.of(this.nameOf(against))
            : does === 'drops'
              ? this.texts.of(`${against}: ${because}`)
              : NOTHING;
    this.mark(node, does, happening, more);
  }

  private nameOf(address: string): string {
    const machine = this.backstage?.world.machines.find((each) => hexFor(each) === address);
    return machine?.name ?? address;
  }

  private published(at: Machine, event: NodeEvent): void {
    switch (event.type) {
      case 'mode':
        return this.mark(at, 'mode', {}, this.texts.of(event.mode));
      case 'warning':
        return this.mark(at, 'warns', {}, this.texts.of(event.what));
      case 'refused':
        return this.mark(at, 'warns', { height: event.height }, this.texts.of(event.because));
      case 'halted':
        return this.mark(at, 'halts', {}, this.texts.of(event.what));
      case 'evidence': {
        const accused = this.texts.of(this.nameOf(hexOf(event.validator)));
        return this.mark(at, 'accuses', { height: event.height }, accused);
      }
      default:
    }
  }

  // --- the picture -----------------------------------------------------------------------------------------

  /** After the run. `verdict` may name another line to reproduce it than the run's own. */
  picture(verdict: Verdict): Picture {
    const { backstage, said } = this;
    if (!backstage || !said)
      throw new Error('this collector watched no run: give its `open` as watch.backstage');
    this.lookAtCuts();
    const omitted = [omittedOf('messages', this.talk), omittedOf('chatter', this.chatter)];
    omitted.push(omittedOf('events', this.marks));
    const { atNs: sentAt, nth: _, ...arrows } = merged(this.talk.read(), this.chatter.read(), 'nth');
    const { atNs: markedAt, ...marks } = this.marks.read();
    const { world, play } = backstage;
    const endNs = verdict.virtualNs;
    return {
      format: PICTURE_FORMAT,
      names: { kinds: MESSAGE_KINDS, ends: ENDS, marks: MARKS, done: DONE },
      about: aboutOf(verdict, play.title),
      nodes: world.machines.map(({ name, member }) => ({
        name,
        role: member.power > 0n ? 'validator' : member.publicKey ? 'candidate' : 'full node',
        power: String(member.power),
        lies: play.liars.some(({ node }) => node === name),
      })),
      blocks: this.blocks.list,
      texts: this.texts.list,
      messages: said.messages,
      parcels: said.parcels,
      arrows: { ...arrows, afterNs: steps(sentAt) },
      marks: { ...marks, afterNs: steps(markedAt) },
      troubles: this.troubles?.read(endNs) ?? [],
      cuts: this.cuts,
      violations: verdict.violations.map(({ oracle, what, node, atNs, height }) => {
        const at = world.machines.findIndex(({ name }) => name === node);
        return { oracle, what, node: at, atNs, height: Number(height) };
      }),
      before: this.lanes.before,
      omitted: omitted.filter(({ count }) => count > 0),
    };
  }
}

function omittedOf(what: Omitted['what'], rows: Columns<'atNs'>): Omitted {
  const first = rows.read().atNs[0] ?? 0; // reading lets go of what is too much: count after it
  return { what, count: rows.dropped, untilNs: first };
}

const aboutOf = (verdict: Verdict, title: string): Picture['about'] => ({
  scenario: verdict.scenario,
  title,
  seed: verdict.seed,
  crypto: verdict.crypto,
  holds: verdict.holds,
  digest: verdict.digest,
  again: verdict.again,
  endNs: verdict.virtualNs,
  heights: Number(verdict.heights),
  deliveries: verdict.deliveries,
  faults: verdict.faults,
});
