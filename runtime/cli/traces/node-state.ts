// A validator's state in words: where it stands, what it has locked, and the votes that it has counted.

import type { ValidatorState } from '../../../actors/validator/state.ts';
import type { Round } from '../../../machines/consensus/rounds.ts';
import type { VoteTally } from '../../../machines/consensus/votes.ts';
import type { BlockId } from '../../../protocol/types.ts';
import { blockName, type Names, shortHash } from '../telling.ts';

/** `peeked`: what a replay holds for the actor `validator`; undefined before it was started. */
export function stateLines(peeked: unknown, names: Names): string[] {
  if (peeked === undefined) return ['its validator has not started yet'];
  const v = peeked as ValidatorState;
  const { consensus, chain } = v;
  const lines = [
    `mode ${v.mode}, last block ${chain.lastBlockHeight}, app hash ${shortHash(chain.appHash) || '(empty)'}`,
  ];
  const isBegun = (consensus as Partial<typeof consensus> | null)?.rounds !== undefined;
  if (!isBegun || v.mode === 'handshake' || v.mode === 'sync') return lines;
  const step = `height ${consensus.height}, round ${consensus.round}, step ${consensus.step}`;
  lines.push(
    step,
    `locked ${locked(consensus.lockedRound, consensus.lockedId)}, valid ${locked(consensus.validRound, consensus.validId)}`,
  );
  if (consensus.decision)
    lines.push(`decided ${blockName(consensus.decision.id)} in round ${consensus.decision.round}`);
  const rounds = [...consensus.rounds.all()].sort((a, b) => a.round - b.round);
  for (const round of rounds) lines.push(...roundLines(round, names));
  return lines;
}

const locked = (round: number, id: BlockId | null): string =>
  id === null ? 'nothing' : `${blockName(id)} in round ${round}`;

function roundLines(round: Round, names: Names): string[] {
  const proposals = round.proposals.map(({ blockId }) => blockName(blockId));
  return [
    `round ${round.round}: proposals ${proposals.length === 0 ? 'none' : proposals.join(', ')}`,
    `  prevotes   ${tallyText(round.prevotes, names)}`,
    `  precommits ${tallyText(round.precommits, names)}`,
  ];
}

function tallyText(tally: VoteTally, names: Names): string {
  const votes = tally.votes.flatMap((vote, index) => {
    if (!vote) return [];
    const validator = tally.validators.validators[index];
    const who = validator ? names.byAddress(validator.address) : `validator ${index}`;
    return [`${who} ${blockName(vote.blockId)}`];
  });
  const power = `${tally.sumAny} of ${tally.validators.powerTotal}`;
  const quorum = tally.twoThirds === null ? '' : `, +2/3 for ${blockName(tally.twoThirds)}`;
  return votes.length === 0 ? 'none' : `${votes.join(', ')} (power ${power}${quorum})`;
}
