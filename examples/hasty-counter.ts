// The same counter with a bug: it counts a block when it is proposed, too. Whoever missed a proposal, or
// processed one twice, has another count than the others.
import type { AbciRequest, AbciResponse } from 'rehearsal/sim';
import { Counter } from './counter.ts';

export class HastyCounter extends Counter {
  override readonly name = 'hasty-counter';

  override answer(request: AbciRequest): AbciResponse {
    if (request.type === 'process-proposal') this.count += request.value.txs.length;
    return super.answer(request);
  }
}
