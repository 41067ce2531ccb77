// What two thirds of precommits that a node has heard decided, in whatever round: those whom it is with may have left that round without them, and may
// have the block that it lacks.

import type { BlockId, Vote } from '../../../protocol/types.ts';
import type { Machine } from '../../machine.ts';
import { equalBlockId } from '../canonical/block-id.ts';
import { PRECOMMIT } from '../canonical/numbers.ts';
import type { GhostSet } from '../ghost/ghost.ts';
import type { Holder, Thing } from '../ghost/holdings.ts';
import { PerMachine } from '../ghost/per-machine.ts';

interface Tally {
  readonly round: number;
  readonly id: BlockId;
  readonly voters: Set<number>;
  power: bigint;
}

interface Decision {
  readonly round: number;
  readonly sinceNs: number;
}

/** One node at one height. */
class Counted {
  height = 0n;
  readonly tallies: Tally[] = [];
  readonly decisions: Decision[] = [];

  moveTo(height: bigint): void {
    if (height === this.height) return;
    this.height = height;
    this.tallies.length = 0;
    this.decisions.length = 0;
  }

  tallyOf({ round, blockId: id }: Vote): Tally {
    const known = this.tallies.find((each) => each.round === round && equalBlockId(each.id, id));
    if (known) return known;
    const tally: Tally = { round, id, voters: new Set(), power: 0n };
    this.tallies.push(tally);
    return tally;
  }
}

export class Decisions {
  private readonly counted = new PerMachine(() => new Counted());

  starts(at: Machine): void {
    this.counted.delete(at);
  }

  /** Of somebody honest, true, and of the height that the node is at. */
  counts(at: Machine, set: GhostSet | undefined, vote: Vote, nowNs: number): void {
    if (!set || vote.type !== PRECOMMIT || vote.blockId.hash.length === 0) return;
    const mine = this.counted.of(at);
    mine.moveTo(vote.height);
    const tally = mine.tallyOf(vote);
    const { voters } = tally;
    if (voters.size === voters.add(vote.validatorIndex).size) return;
    const before = tally.power;
    tally.power += set.members[vote.validatorIndex]?.power ?? 0n;
    const needed = set.total * 2n;
    if (before * 3n <= needed && tally.power * 3n > needed)
      mine.decisions.push({ round: vote.round, sinceNs: nowNs });
  }

  /** Since when a vote of the round that decided is to be offered to who is in whatever round; null: it is not. */
  owedSince(at: Machine, holder: Holder, thing: Thing, sinceNs: number): number | null {
    const mine = typeof thing === 'string' ? undefined : this.counted.get(at);
    // Where two rounds have decided nobody knows which was the first for the node.
    if (!mine || mine.height !== holder.height || mine.decisions.length !== 1) return null;
    const [decision] = mine.decisions;
    return decision ? holder.owedIn(decision.round, thing, Math.max(sinceNs, decision.sinceNs)) : null;
  }
}
