// Proposals (SIMULATION invariant 4): an honest key never signs two for one height and round, over its whole
// life, crashes included.

import { equalBytes, hexOf } from '../../protocol/bytes.ts';
import { CHANNEL_DATA } from '../../protocol/messages.ts';
import type { Proposal } from '../../protocol/types.ts';
import type { Machine } from '../machine.ts';
import type { Oracle, OracleMaker } from '../oracle.ts';
import { consensusMessage, type GhostChain } from './ghost.ts';
import { addressFor } from './votes.ts';

/** Proposals of each node that are remembered: a restart is over within a few heights. */
const REMEMBERED = 64;

export const proposalUniqueness =
  (ghost: GhostChain): OracleMaker =>
  (report, about): Oracle => {
    const proposed = new Map<Machine, Proposal[]>();

    const check = (at: Machine, proposal: Proposal): void => {
      let own = proposed.get(at);
      if (!own) {
        own = [];
        proposed.set(at, own);
      }
      const { height, round } = proposal;
      const before = own.find((each) => each.height === height && each.round === round);
      if (before && equalBytes(before.signature, proposal.signature)) return;
      // Gossip repeats the proposals of others: only its own turn counts.
      if (ghost.set(height)?.atRound(round) !== hexOf(addressFor(at))) return;
      if (before) report(`${at.name} signed two proposals for ${height}/${round}`, at, height);
      own.push(proposal);
      if (own.length > REMEMBERED) own.shift();
    };

    return {
      name: 'proposal-uniqueness',
      effects: ['send'],
      leaving(at, _actor, effect) {
        if (effect.type !== 'send' || !about.isHonest(at)) return;
        for (const { channel, bytes } of effect.payloads) {
          const message = channel === CHANNEL_DATA ? consensusMessage(bytes) : null;
          if (message?.type === 'proposal') check(at, message.proposal);
        }
      },
    };
  };
