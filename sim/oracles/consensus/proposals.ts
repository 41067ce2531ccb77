// Proposals: an honest key never signs two for one height and round, over its whole life, crashes included; and
// what an honest node proposes no honest node finds wrong: the rules are the same for all, and so is the state that they look at. What differs is
// clocks: a block that is far ahead of one's own is not prevoted without a polka (decision 0010).

import type { Payload } from '../../../actors/turn.ts';
import { concatBytes, equalBytes } from '../../../protocol/bytes.ts';
import { isRefusal } from '../../../protocol/refusal.ts';
import type { Proposal, Vote } from '../../../protocol/types.ts';
import { decodeBlock } from '../../../protocol/wire/index.ts';
import { hexFor } from '../../addresses.ts';
import type { Machine } from '../../machine.ts';
import type { Oracle, OracleMaker } from '../../oracle.ts';
import { PREVOTE } from '../canonical/numbers.ts';
import { type GhostChain, isTrueProposal } from '../ghost/ghost.ts';
import { messagesIn } from '../ghost/messages.ts';
import { PerMachine } from '../ghost/per-machine.ts';

/** Whose proposals are remembered: a restart is over within a few heights. */
const HEIGHTS_REMEMBERED = 64;
/** Who is further behind is given what was decided; blocks are large. */
const HEIGHTS_JUDGED = 4n;

interface Made {
  readonly hash: Uint8Array;
  readonly by: Machine;
  readonly height: bigint;
  readonly round: number;
  /** When it was proposed, by its proposer's clock: its block is no later than that. */
  readonly atNs: bigint;
  /** The proposal, and what parts of its block went with it. */
  readonly payloads: readonly Payload[];
}

/** Of its block; null: not all parts went with the proposal. */
function timeOf({ payloads }: Made): bigint | null {
  const parts: Uint8Array[] = [];
  for (const message of messagesIn(payloads))
    if (message?.type === 'block-part') parts[message.part.index] = message.part.bytes;
  const block = decodeBlock(concatBytes(...parts.filter((part) => part)));
  return isRefusal(block) ? null : block.header.timeNs;
}

export const proposalOracle =
  (ghost: GhostChain): OracleMaker =>
  (report, about): Oracle => {
    /** By height, oldest first. */
    const proposed = new PerMachine(() => new Map<number, Proposal[]>());
    /** What honest nodes proposed of their own, of the last few heights. */
    let blocks: Made[] = [];
    const madeOf = (hash: Uint8Array): Made | undefined =>
      blocks.findLast((each) => equalBytes(each.hash, hash));
    ghost.onBlock.push((_at, { header }) => {
      const isOld = ({ height }: Made): boolean => height + HEIGHTS_JUDGED <= header.height;
      if (blocks.some(isOld)) blocks = blocks.filter((each) => !isOld(each));
    });

    const check = (at: Machine, proposal: Proposal, payloads: readonly Payload[]): void => {
      const { height, round } = proposal;
      const set = ghost.set(height);
      // Gossip repeats the proposals of others: only its own turn counts.
      if (set?.atRound(round) !== hexFor(at)) return;
      const heights = proposed.of(at);
      let own = heights.get(Number(height));
      if (!own) {
        own = [];
        heights.set(Number(height), own);
        for (const old of heights.keys()) {
          if (old > Number(height) - HEIGHTS_REMEMBERED) break;
          heights.delete(old);
        }
      }
      const before = own.find((each) => each.round === round);
      if (before && equalBytes(before.signature, proposal.signature)) return;
      if (before) report(`${at.name} signed two proposals for ${height}/${round}`, at, height);
      if (!isTrueProposal(about, set, proposal))
        report(`${at.name} signed something else than what it proposes at ${height}/${round}`, at, height);
      own.push(proposal);
      if (proposal.polRound >= 0) return;
      const { hash } = proposal.blockId;
      blocks.push({ hash, by: at, height, round, atNs: proposal.timeNs, payloads });
    };

    /** It asks for its signature: what the clock says now, it knew. */
    const votes = (at: Machine, { type, height, round, blockId }: Vote): void => {
      if (type !== PREVOTE || blockId.hash.length === 0) return;
      const latest = at.clock.wallNs() + at.config.consensus.blockTimeToleranceNs;
      const made = madeOf(blockId.hash);
      if (!made || made.atNs < latest || made.by === at) return;
      if (made.height !== height || made.round !== round || (timeOf(made) ?? 0n) < latest) return;
      report(`${at.name} prevotes a block that is far ahead of its clock, without a polka`, at, height);
    };

    return {
      name: 'proposals',
      effects: ['send', 'tell'],
      events: ['refused'],
      leaving(at, _actor, effect) {
        if (!about.isHonest(at)) return;
        if (effect.type === 'tell' && effect.message.type === 'sign-vote') votes(at, effect.message.vote);
        if (effect.type !== 'send') return;
        for (const message of messagesIn(effect.payloads))
          if (message?.type === 'proposal') check(at, message.proposal, effect.payloads);
      },
      published(at, _actor, event) {
        if (event.type !== 'refused' || !about.isHonest(at)) return;
        const made = madeOf(event.hash);
        // Liars hold the median of the clocks back, and no block can be later than the one before (decision 0010).
        const beforeNs = ghost.timeNs(event.height - 1n) ?? ghost.genesisTimeNs;
        if (!made || (timeOf(made) ?? beforeNs + 1n) <= beforeNs) return;
        const { by } = made;
        report(`${at.name} refuses what ${by.name} proposed: ${event.because}`, at, event.height);
      },
    };
  };
