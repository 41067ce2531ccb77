// What an oracle of one's own may read in a letter between the actors of a node: what the application is asked, and what it answers.

import type { AppMail, MempoolMail, ValidatorMail } from '../../actors/mail.ts';
import type { Effect } from '../../actors/turn.ts';
import type { AbciRequest, AbciResponse } from '../../protocol/abci.ts';

/** Of an effect that `leaving` is told of: what the application of this node is asked (`finalize-block` has the transactions of a block). Null: it is something else. */
export function requestIn(effect: Effect): AbciRequest | null {
  if (effect.type !== 'tell' || effect.to !== 'app') return null;
  const letter = effect.message as AppMail;
  return letter.type === 'request' ? letter.request : null;
}

/** What the application of this node answers, within one life in the order in which it is asked. Null: it is something else. */
export function responseIn(effect: Effect): AbciResponse | null {
  if (effect.type !== 'tell') return null;
  const letter = effect.message as MempoolMail | ValidatorMail;
  return letter.type === 'answer' ? letter.response : null;
}
