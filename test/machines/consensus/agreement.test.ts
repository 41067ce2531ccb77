// Three honest machines and one that says anything to anybody, in every order that the choices name: two blocks are never decided.
// The same search must find a disagreement when the honest forget their locks; else it looks nowhere.

import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { Said } from '../../../machines/consensus/said.ts';
import { PRECOMMIT, PREVOTE, type VoteType } from '../../../protocol/types.ts';
import { both, type Fact, nameOf, onlyProposal, parts, proposerOf, Seat, started, voteOf } from './seat.ts';

const ROUNDS_MAX = 4;

/** Bytes that decide everything; when they are used up, the run is over. */
class Bytes {
  private at = 0;
  private readonly bytes: Uint8Array;
  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
  }
  get isOver(): boolean {
    return this.at >= this.bytes.length;
  }
  below(bound: number): number {
    return (this.bytes[this.at++] ?? 0) % bound;
  }
  of<T>(list: readonly T[]): T {
    return list[this.below(list.length)] as T;
  }
}

class Table {
  readonly honest: Seat[];
  private readonly liar: number;
  private readonly inbox = new Map<Seat, Fact[]>();
  private readonly timers = new Map<Seat, Fact[]>();
  private readonly names: string[] = [];
  private readonly decisions = new Map<Seat, string>();
  private readonly choices: Bytes;
  private readonly forgetLocks: boolean;

  constructor(bytes: Uint8Array, forgetLocks: boolean) {
    this.choices = new Bytes(bytes);
    this.forgetLocks = forgetLocks;
    this.liar = this.choices.below(4);
    this.honest = [0, 1, 2, 3].filter((index) => index !== this.liar).map((me) => new Seat({ me }));
    for (const seat of this.honest) {
      this.inbox.set(seat, []);
      this.timers.set(seat, []);
      seat.heard = (said) => this.hears(seat, said);
    }
    for (const seat of this.honest) seat.tell(started);
  }

  private hears(seat: Seat, said: Said): void {
    if (said.say === 'vote') {
      const { vote, round, blockId } = said;
      this.toOthers(seat, ({ consensus }) => {
        consensus.onVote(voteOf(vote, nameOf(blockId), round, seat.me), `peer ${seat.me}`);
      });
    } else if (said.say === 'propose') {
      const name = said.valid ? nameOf(said.valid.id) : `${seat.me} in ${said.round}`;
      this.propose(name, said.round, said.polRound, [seat], true);
      this.propose(
        name,
        said.round,
        said.polRound,
        this.honest.filter((each) => each !== seat),
        false,
      );
    } else if (said.say === 'wait') {
      this.timers.get(seat)?.push(({ consensus }) => consensus.onTimeout(said.step, 1n, said.round));
    } else if (said.say === 'execute') this.decisions.set(seat, nameOf(said.entry.id));
  }

  private propose(name: string, round: number, pol: number, to: readonly Seat[], first: boolean): void {
    if (!this.names.includes(name)) this.names.push(name);
    const fact = both(onlyProposal(name, round, pol), parts(name));
    for (const seat of to) {
      if (first) this.inbox.get(seat)?.unshift(fact);
      else this.inbox.get(seat)?.push(fact);
    }
  }

  private toOthers(from: Seat, fact: Fact): void {
    for (const seat of this.honest) if (seat !== from) this.inbox.get(seat)?.push(fact);
  }

  private lie(seat: Seat): void {
    const { choices } = this;
    const { consensus } = seat;
    const round = Math.max(0, consensus.round - choices.below(2));
    if (proposerOf(round) === this.liar && choices.below(2) === 0) {
      const isOld = this.names.length > 0 && choices.below(2) === 0;
      const name = isOld ? choices.of(this.names) : `liar ${choices.below(2)} in ${round}`;
      return this.propose(name, round, isOld && round > 0 ? choices.below(round) : -1, [seat], true);
    }
    const type: VoteType = choices.below(2) === 0 ? PREVOTE : PRECOMMIT;
    const named = consensus.rounds.get(round)?.proposals[0]?.blockId;
    const name = named && choices.below(4) > 0 ? nameOf(named) : choices.of(['nil', ...this.names]);
    seat.tell(({ consensus: c }) => c.onVote(voteOf(type, name, round, this.liar), 'liar'));
  }

  private step(): void {
    const { choices } = this;
    const seat = choices.of(this.honest);
    if (seat.consensus.round >= ROUNDS_MAX) return;
    const does = choices.below(8);
    const pending = (does < 5 ? this.inbox : this.timers).get(seat) ?? [];
    if (does >= 6 || pending.length === 0) this.lie(seat);
    else {
      // Mostly in order, and sometimes anything.
      const [fact] = pending.splice(choices.below(4) > 0 ? 0 : choices.below(pending.length), 1);
      if (fact) seat.tell(fact);
    }
    if (!this.forgetLocks) return;
    seat.consensus.lockedRound = -1;
    seat.consensus.lockedId = null;
  }

  /** What was decided, each block once. */
  run(): string[] {
    while (!this.choices.isOver) this.step();
    return [...new Set(this.decisions.values())];
  }
}

const choices = fc.uint8Array({ minLength: 900, maxLength: 900 });

it('no two blocks are decided, whatever one of four says and in whatever order', () => {
  let decided = 0;
  fc.assert(
    fc.property(choices, (bytes) => {
      const blocks = new Table(bytes, false).run();
      decided += blocks.length;
      expect(blocks.length).toBeLessThanOrEqual(1);
    }),
    { numRuns: 5_000, seed: 1807_04938, endOnFailure: true },
  );
  expect(decided).toBeGreaterThan(1_000); // runs that decide nothing prove nothing
});

it('the same search finds the disagreement when locks are forgotten', () => {
  const found = fc.check(
    fc.property(choices, (bytes) => new Table(bytes, true).run().length <= 1),
    { numRuns: 5_000, seed: 1807_04938, endOnFailure: true },
  );
  expect(found.failed).toBe(true);
});
