// Accountability (SIMULATION invariant 9), the part that a running chain shows: only liars are punished, each lie once, by evidence that
// proves it, and a double vote that one honest node could prove does not go unpunished.

import { equalBlockId } from '../../protocol/block-id.ts';
import { hexOf } from '../../protocol/bytes.ts';
import { evidenceIdentity } from '../../protocol/hashes.ts';
import {
  type Block,
  type DuplicateVoteEvidence,
  type Evidence,
  type Header,
  PRECOMMIT,
  type Vote,
} from '../../protocol/types.ts';
import type { Machine } from '../machine.ts';
import type { Oracle, OracleMaker } from '../oracle.ts';
import { STEP } from '../steps.ts';
import { countedUntil } from './between-heights.ts';
import { type GhostChain, isTrueVote } from './ghost.ts';
import { Greeted } from './greeted.ts';
import { isOfConsensus, messagesIn } from './messages.ts';
import { PerMachine } from './per-machine.ts';
import { hexFor } from './votes.ts';

/** Blocks that may pass until a proven double vote is punished. */
const BLOCKS_UNTIL_PUNISHED = 8n;
/** Where nobody knows the parameters. */
const NEVER = { maxAgeBlocks: 1n << 62n, maxAgeNs: 1n << 62n };
/** Heights in which votes are compared. */
const HEIGHTS_COMPARED = 4;

/** A double vote whose two halves reached a node while it could count them. */
interface Proven {
  readonly by: Machine;
  readonly life: number;
  /** How many batches its disk had lost when it said that it holds the evidence; null: it has not said so. */
  storedAt: number | null;
  /** From this block on it is expected. */
  since: bigint;
  readonly address: string;
  readonly height: bigint;
  /** Whose, and of which step: each is punished. */
  readonly place: string;
}

const placeOf = (address: string, { height, round, type }: Vote): string =>
  `${address}/${height}/${round}/${type}`;

export const evidenceOracle =
  (ghost: GhostChain): OracleMaker =>
  (report, about): Oracle => {
    const punished = new Set<string>();
    const guilty = new Set<string>();
    const votes = new PerMachine(() => new Map<number, Map<string, Vote>>());
    let proven: Proven[] = [];
    const honest = new Map(
      about.machines.filter(about.isHonest).map((machine) => [hexFor(machine), machine.name]),
    );

    const accused = (evidence: Evidence): readonly string[] =>
      evidence.kind === 'duplicate-vote'
        ? [hexOf(evidence.voteA.validatorAddress)]
        : evidence.byzantineValidators.map(({ address }) => hexOf(address));

    /** What is wrong with it; null: nothing, or nobody knows that height any more. */
    const flaw = ({ voteA, voteB, ...claim }: DuplicateVoteEvidence): string | null => {
      if (voteA.height !== voteB.height || voteA.round !== voteB.round || voteA.type !== voteB.type)
        return 'its votes are of two steps';
      if (equalBlockId(voteA.blockId, voteB.blockId)) return 'its votes are for the same block';
      const set = ghost.set(voteA.height);
      const timeNs = ghost.timeNs(voteA.height);
      if (!set || timeNs === undefined) return null;
      const power = set.powerOf(hexOf(voteA.validatorAddress));
      if (claim.timeNs !== timeNs) return 'its time is not that of the block of its height';
      if (claim.validatorPower !== power || claim.powerTotal !== set.total)
        return 'its powers are not those of its height';
      const isSigned = [voteA, voteB].every((vote) => isTrueVote(about, set, vote));
      return isSigned ? null : 'its votes are not signed by who is accused';
    };

    /** With its memory, or with what its disk has lost since. */
    const isForgotten = ({ by, life, storedAt }: Proven): boolean =>
      storedAt === null
        ? by.lives !== life || by.mode !== 'consensus'
        : by.disk.counters.batchesLost !== storedAt;

    /** By the parameters in force, from the block before this one on. */
    const isExpired = ({ height }: Proven, header: Header): boolean => {
      const { maxAgeBlocks, maxAgeNs } = ghost.params(header.height)?.evidence ?? NEVER;
      const timeNs = ghost.timeNs(height) ?? header.timeNs;
      return header.height - height >= maxAgeBlocks && header.timeNs - timeNs >= maxAgeNs;
    };

    const inBlock = (at: Machine, { header, evidence }: Block): void => {
      const { height } = header;
      for (const each of evidence) {
        const id = hexOf(evidenceIdentity(each));
        if (punished.has(id)) report(`evidence of block ${height} was in a block before`, at, height);
        punished.add(id);
        const wrong = each.kind === 'duplicate-vote' ? flaw(each) : null;
        if (wrong) report(`block ${height} punishes by evidence that proves nothing: ${wrong}`, at, height);
        for (const address of accused(each)) {
          const name = honest.get(address);
          if (name) report(`framing: block ${height} punishes ${name}, who never lied`, at, height);
          if (each.kind === 'duplicate-vote') guilty.add(placeOf(address, each.voteA));
        }
      }
      proven = proven.filter((each) => {
        if (guilty.has(each.place)) return false;
        if (isForgotten(each) || isExpired(each, header)) return false;
        if (each.by.mode !== 'consensus') each.since = height;
        if (height <= each.since + BLOCKS_UNTIL_PUNISHED) return true;
        const who = each.address.slice(0, 12);
        report(
          `${each.by.name} heard ${who} vote twice at ${each.height}; nobody was punished`,
          each.by,
          height,
        );
        return false;
      });
    };
    ghost.onBlock.push(inBlock);

    const greeted = new Greeted();
    /** In which round a node decided its last height, in this life. */
    const decidedIn = new Map<Machine, number>();
    /** Double votes that came between two heights: it is clear later whether they came in time. */
    let late: { readonly proven: Proven; readonly atNs: number }[] = [];

    /** It counts votes of the height and round that it stands in; what comes in a pause waits, and may come too late. */
    const counts = (at: Machine, vote: Vote): boolean =>
      at.mode === 'consensus' &&
      at.node?.isPaused === false &&
      (vote.height === at.height + 1n ? vote.round === at.round : isLate(at, vote));

    /** Between two heights it counts the precommits of the round that decided the last one, too. */
    const isLate = (at: Machine, { type, height, round }: Vote): boolean =>
      type === PRECOMMIT && height === at.height && at.step === STEP.newHeight && round === decidedIn.get(at);

    /** A round begins at a node: what came well before was counted. */
    const begins = (at: Machine): void => {
      if (late.length === 0) return;
      const until = countedUntil(at, about.now());
      for (const each of late)
        if (each.proven.by === at && until !== null && each.atNs <= until) proven.push(each.proven);
      late = late.filter((each) => each.proven.by !== at);
    };

    const hears = (at: Machine, vote: Vote): void => {
      if (!about.isHonest(at) || !counts(at, vote)) return;
      const address = hexOf(vote.validatorAddress);
      if (honest.has(address)) return;
      const heights = votes.of(at);
      const height = Number(vote.height);
      let known = heights.get(height);
      if (!known) {
        known = new Map();
        heights.set(height, known);
        heights.delete(height - HEIGHTS_COMPARED);
      }
      const key = `${address}/${vote.round}/${vote.type}`;
      const before = known.get(key);
      if (before && hexOf(before.blockId.hash) === hexOf(vote.blockId.hash)) return;
      const set = ghost.set(vote.height);
      if (!set || !isTrueVote(about, set, vote)) return;
      if (!before) {
        known.set(key, vote);
        return;
      }
      const found = {
        by: at,
        life: at.lives,
        storedAt: null,
        since: vote.height,
        address,
        height: vote.height,
        place: placeOf(address, vote),
      };
      if (vote.height > at.height) proven.push(found);
      else late.push({ proven: found, atNs: about.now() });
    };

    return {
      name: 'evidence',
      effects: [],
      started(at) {
        greeted.starts(at);
        decidedIn.delete(at);
        late = late.filter((each) => each.proven.by !== at);
      },
      published(at, _actor, event) {
        if (event.type === 'committed') decidedIn.set(at, event.round);
        else if (event.type === 'step' && event.step === STEP.newRound) begins(at);
        else if (event.type === 'evidence') {
          const address = hexOf(event.validator);
          const stored = proven.find(
            (each) =>
              each.by === at &&
              each.height === event.height &&
              each.address === address &&
              each.storedAt === null,
          );
          if (stored) stored.storedAt = at.disk.counters.batchesLost;
        } else if (event.type === 'peer') greeted.greets(at, event.peer, event.up, about.now());
      },
      heard(at, from, payloads) {
        if (honest.size === about.machines.length || !greeted.hears(at, from, about.now())) return;
        const messages = messagesIn(payloads);
        for (let i = 0; i < messages.length; i++) {
          const message = messages[i];
          if (message?.type === 'vote') hears(at, message.vote);
          else if (!message && isOfConsensus(payloads[i]?.channel ?? 0)) return;
        }
      },
    };
  };
