// Why a node does not go on: the votes that its next step waits for, how many of them it has, and what became of the others. Counted from
// what was sent and delivered, with the oracles' arithmetic.

import { hexFor } from '../addresses.ts';
import type { Chronicle, WordKind } from '../chronicle.ts';
import type { Machine } from '../machine.ts';
import { isQuorum } from '../oracles/ghost/ghost.ts';
import type { NodeName } from '../scenario/play.ts';
import { STEP, STEP_TEXT } from '../steps.ts';

const HASH_SHOWN = 4;
const blockName = (about: string): string => (about === '' ? 'nil' : about.slice(0, HASH_SHOWN));

type VoteKind = Extract<WordKind, 'prevotes' | 'precommits'>;

interface Voter {
  readonly name: NodeName;
  readonly power: bigint;
}

/** A node and the height that it works on. */
interface Place {
  readonly chronicle: Chronicle;
  readonly machine: Machine;
  readonly node: NodeName;
  readonly height: number;
  readonly voters: readonly Voter[];
  readonly total: bigint;
}

/** One line, or two when it is also near a decision. */
export function stallLines(chronicle: Chronicle, machine: Machine): string[] {
  const node = machine.name as NodeName;
  if (!machine.isUp) return [`${node} is down since height ${machine.height}`];
  const height = Number(machine.height) + 1;
  const head = `${node} h${height} r${machine.round} ${STEP_TEXT[machine.step] ?? 'new height'}`;
  if (machine.halted !== null) return [`${head}: it has halted: ${machine.halted}`];
  if (machine.mode !== 'consensus') return [`${node} takes no part: its mode is ${machine.mode}`];
  const place = placeOf(chronicle, machine, node, height);
  if (!place) return [`${head}: the validators of this height are not known`];
  const { round, step } = machine;
  const lines: string[] = [];
  const near = nearestDecision(place);
  if (near) lines.push(near.line);
  if (step === STEP.prevote || step === STEP.prevoteWait) lines.push(anyVotes(place, 'prevotes', round));
  else if (step === STEP.precommit) {
    // When all that it has are for one block, the same votes would decide, which says more.
    const isNear = near?.round === round && near.has === votersOf(place, 'precommits', round).length;
    if (!isNear) lines.push(anyVotes(place, 'precommits', round));
  } else if (step === STEP.newHeight) lines.push('it waits to begin the height');
  else if (step === STEP.newRound) lines.push('it waits for a transaction');
  else if (step !== STEP.commit) lines.push(`it waits for the proposal of round ${round}`);
  return [...new Set(lines)].map((line) => `${head}: ${line}`);
}

function placeOf(chronicle: Chronicle, machine: Machine, node: NodeName, height: number): Place | null {
  const set = chronicle.set(height);
  if (!set) return null;
  const voters = chronicle.machines.flatMap((each): Voter[] => {
    const power = each.member.publicKey ? set.powerOf(hexFor(each)) : 0n;
    return power > 0n ? [{ name: each.name as NodeName, power }] : [];
  });
  return { chronicle, machine, node, height, voters, total: set.total };
}

interface Said {
  readonly by: NodeName;
  readonly about: string;
}

/** The votes of a round that a node has: its own, and those that reached it. */
function votesOf({ chronicle, node, height }: Place, kind: VoteKind, round: number): Said[] {
  const own = chronicle.deeds.flatMap(({ node: by, does, about, ...deed }): Said[] =>
    by === node && does === kind && deed.height === height && deed.round === round && about !== null
      ? [{ by, about }]
      : [],
  );
  const heard = chronicle.heard.flatMap(({ to, by, about, ...word }): Said[] =>
    to === node && word.kind === kind && word.height === height && word.round === round && by !== ''
      ? [{ by, about }]
      : [],
  );
  return [...own, ...heard];
}

interface NearDecision {
  readonly line: string;
  readonly round: number;
  /** How many precommits for the block it has. */
  readonly has: number;
}

/** Of all rounds, the block that lacks the least power of precommits. */
function nearestDecision(place: Place): NearDecision | null {
  let best: { readonly round: number; readonly about: string; readonly by: NodeName[]; sum: bigint } | null =
    null;
  for (let round = 0; round <= place.machine.round; round++) {
    const votes = votesOf(place, 'precommits', round).filter(({ about }) => about !== '');
    for (const about of new Set(votes.map((vote) => vote.about))) {
      const by = [...new Set(votes.filter((vote) => vote.about === about).map((vote) => vote.by))];
      const sum = powerOf(place, by);
      if (!best || sum > best.sum) best = { round, about, by, sum };
    }
  }
  if (!best) return null;
  const { round, about, by, sum } = best;
  const whole = `the precommits for ${blockName(about)} of round ${round}`;
  const which = `for ${blockName(about)} of round ${round}`;
  const line = isQuorum(sum, place.total)
    ? `it has two thirds of ${whole}, and lacks the block`
    : short(place, 'precommits', round, which, by, 'would decide');
  return { line, round, has: by.length };
}

const votersOf = (place: Place, kind: VoteKind, round: number): NodeName[] => [
  ...new Set(votesOf(place, kind, round).map((vote) => vote.by)),
];

/** Two thirds of any votes of the round: with them the node waits no longer than a timeout. */
function anyVotes(place: Place, kind: VoteKind, round: number): string {
  const by = votersOf(place, kind, round);
  if (isQuorum(powerOf(place, by), place.total))
    return `it has the ${kind} of more than two thirds, and they do not agree`;
  return short(place, kind, round, `of round ${round}`, by, 'would move it on');
}

const powerOf = ({ voters }: Place, names: readonly NodeName[]): bigint =>
  voters.reduce((sum, { name, power }) => (names.includes(name) ? sum + power : sum), 0n);

/** "1 more precommit for 8f3a from v1 or v3 would decide (has v0, v2; 667 of 1000 needed)". */
function short(
  place: Place,
  kind: VoteKind,
  round: number,
  which: string,
  has: readonly NodeName[],
  would: string,
): string {
  const { total } = place;
  const missing = missingOf(place, has, votersOf(place, kind, round));
  const needed = (total + total) / 3n + 1n;
  const enough = missing.filter(({ power }) => isQuorum(powerOf(place, has) + power, total));
  const candidates = (enough.length > 0 ? enough : missing).map(({ name }) => name);
  const from = enough.length > 0 ? candidates.join(' or ') : `among ${candidates.join(', ')}`;
  const count = fewest(place, has, missing);
  const more = `${count} more ${count === 1 ? kind.slice(0, -1) : kind} ${which}`;
  const hasText = has.length > 0 ? `has ${[...has].sort().join(', ')}` : 'has none';
  const fates = candidates.map((name) => `${name} ${fateOf(place, name, kind, round)}`).join('; ');
  return `${more} from ${from} ${would} (${hasText}; ${needed} of ${total} needed). ${fates}`;
}

/** Who has not spoken yet; and if all of those are too few, also who has, for another block. */
function missingOf(place: Place, has: readonly NodeName[], heard: readonly NodeName[]): readonly Voter[] {
  const others = place.voters.filter(({ name }) => !has.includes(name));
  const silent = others.filter(({ name }) => !heard.includes(name));
  const names = [...has, ...silent.map(({ name }) => name)];
  return isQuorum(powerOf(place, names), place.total) ? silent : others;
}

/** How many of those missing suffice at best. */
function fewest(place: Place, has: readonly NodeName[], missing: readonly Voter[]): number {
  let sum = powerOf(place, has);
  let count = 0;
  for (const { power } of [...missing].sort((a, b) => Number(b.power - a.power))) {
    if (isQuorum(sum, place.total)) break;
    sum += power;
    count++;
  }
  return count;
}

/** What became of a vote that would help: most often a node does not have it. */
function fateOf(place: Place, name: NodeName, kind: VoteKind, round: number): string {
  const { chronicle, height } = place;
  const heard = votesOf(place, kind, round).find(({ by }) => by === name);
  if (heard) return `said ${blockName(heard.about)}`;
  const said = chronicle.deeds.find(
    (deed) => deed.node === name && deed.does === kind && deed.height === height && deed.round === round,
  );
  if (said) return `said ${blockName(said.about ?? '')}, and it did not arrive`;
  const machine = chronicle.machines.find((each) => each.name === name);
  if (!machine?.isUp) return 'is down';
  if (machine.mode !== 'consensus') return `takes no part (${machine.mode})`;
  return `has said nothing there (it stands at ${machine.height + 1n}/${machine.round})`;
}
