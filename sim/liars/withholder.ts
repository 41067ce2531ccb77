// The withholder: its victims hear neither its own votes nor any proposal or block part from it. Others do.

import { CHANNEL_DATA } from '../../protocol/messages.ts';
import { consensusMessage } from '../oracles/ghost/messages.ts';
import { isItsPlace, type Liar, type LiarKit, type Lie, Remembered } from './liar.ts';
import { aboutOwnVotes } from './own-votes.ts';

export const withholder: Liar = (kit) => {
  const votes = aboutOwnVotes(kit, 'lie: silence', () => []);
  if (kit.words.votes !== undefined) return votes;
  const blocks = aboutBlocks(kit);
  return (to, payloads) => {
    const first = votes(to, payloads);
    return blocks(to, first ?? payloads) ?? first;
  };
};

function aboutBlocks(kit: LiarKit): Lie {
  const isWithheld = new Remembered<boolean>();
  const withholds = (height: bigint, round: number): boolean =>
    isWithheld.get(`${height}/${round}`, () => {
      if (!isItsPlace(kit.words, height, round) || !kit.lies()) return false;
      kit.count('lie: silence');
      return true;
    });
  return (to, payloads) => {
    if (!kit.victims.has(to)) return null;
    const said = payloads.filter((payload) => {
      const message = payload.channel === CHANNEL_DATA ? consensusMessage(payload) : null;
      if (message?.type === 'proposal') return !withholds(message.proposal.height, message.proposal.round);
      return message?.type !== 'block-part' || !withholds(message.height, message.round);
    });
    return said.length === payloads.length ? null : said;
  };
}
