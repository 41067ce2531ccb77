// The same counter with a bug: it adds when a block is proposed, not when one is decided. Who missed a proposal, or
// saw one that was not decided, has another sum than the others.
import type { Application } from 'rehearsal/sim';
import { Counter } from './counter.ts';

export class HastyCounter extends Counter {
  override readonly name = 'hasty-counter';

  override answer(request: Parameters<Application['answer']>[0]): ReturnType<Application['answer']> {
    if (request.type === 'process-proposal') super.apply(request.value.txs);
    return super.answer(request);
  }
  protected override apply(): void {}
}
