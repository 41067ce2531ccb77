// Accountability (SIMULATION invariant 9), the part that a running chain shows: only liars are punished, each
// lie once, and a double vote that one honest node could prove does not go unpunished.

import { hexOf } from '../../protocol/bytes.ts';
import { evidenceIdentity } from '../../protocol/hashes.ts';
import type { Block, Evidence, Vote } from '../../protocol/types.ts';
import type { Machine } from '../machine.ts';
import type { Oracle, OracleMaker } from '../oracle.ts';
import { CONSENSUS_CHANNELS, consensusMessage, type GhostChain, isTrueVote } from './ghost.ts';
import { Greeted } from './greeted.ts';
import { addressFor } from './votes.ts';

/** Blocks that may pass until a proven double vote is punished. */
const BLOCKS_UNTIL_PUNISHED = 8n;
/** Heights in which votes are compared. */
const HEIGHTS_COMPARED = 4;

/** A double vote whose two halves reached a node while it could count them. */
interface Proven {
  readonly by: Machine;
  readonly life: number;
  readonly address: string;
  readonly height: bigint;
}

export const evidenceOracle =
  (ghost: GhostChain): OracleMaker =>
  (report, about): Oracle => {
    const punished = new Set<string>();
    const guilty = new Set<string>();
    const votes = new Map<Machine, Map<number, Map<string, Vote>>>();
    let proven: Proven[] = [];
    const honest = new Map(
      about.machines.filter(about.isHonest).map((machine) => [hexOf(addressFor(machine)), machine.name]),
    );

    const accused = (evidence: Evidence): readonly string[] =>
      evidence.kind === 'duplicate-vote'
        ? [hexOf(evidence.voteA.validatorAddress)]
        : evidence.byzantineValidators.map(({ address }) => hexOf(address));

    const inBlock = (at: Machine, { header, evidence }: Block): void => {
      const { height } = header;
      for (const each of evidence) {
        const id = hexOf(evidenceIdentity(each));
        if (punished.has(id)) report(`evidence of block ${height} was in a block before`, at, height);
        punished.add(id);
        for (const address of accused(each)) {
          const name = honest.get(address);
          if (name) report(`framing: block ${height} punishes ${name}, who never lied`, at, height);
          if (each.kind === 'duplicate-vote') guilty.add(`${address}/${each.voteA.height}`);
        }
      }
      proven = proven.filter((each) => {
        if (guilty.has(`${each.address}/${each.height}`)) return false;
        if (each.by.lives !== each.life || each.by.mode !== 'consensus') return false; // its memory is gone
        if (height <= each.height + BLOCKS_UNTIL_PUNISHED) return true;
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
    /** It counts votes of the height and round that it stands in; what comes in a pause waits, and may come too late. */
    const counts = (at: Machine, vote: Vote): boolean =>
      at.mode === 'consensus' &&
      at.node?.isPaused === false &&
      vote.height === at.height + 1n &&
      vote.round === at.round;

    const hears = (at: Machine, vote: Vote): void => {
      if (!about.isHonest(at) || !counts(at, vote)) return;
      const address = hexOf(vote.validatorAddress);
      if (honest.has(address)) return;
      let heights = votes.get(at);
      if (!heights) {
        heights = new Map();
        votes.set(at, heights);
      }
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
      if (before) proven.push({ by: at, life: at.lives, address, height: vote.height });
      else known.set(key, vote);
    };

    return {
      name: 'evidence',
      effects: [],
      started: (at) => greeted.starts(at),
      published(at, _actor, event) {
        if (event.type === 'peer') greeted.greets(at, event.peer, event.up, about.now());
      },
      heard(at, from, payloads) {
        if (honest.size === about.machines.length || !greeted.hears(at, from, about.now())) return;
        for (const { channel, bytes } of payloads) {
          if (!CONSENSUS_CHANNELS.includes(channel)) continue;
          const message = consensusMessage(bytes);
          if (!message) return;
          if (message.type === 'vote') hears(at, message.vote);
        }
      },
    };
  };
