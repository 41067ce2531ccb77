// An application of one's own: `+3 anything` adds 3 to a number. It keeps nothing on disk: a node that restarts has
// forgotten, says so (`info`: height 0), and is told all blocks again.
import { ACCEPT, type Application, COMMITTED, PLAIN_QUERY, PLAIN_RESULT, txsThatFit } from 'rehearsal/sim';

export class Counter implements Application {
  readonly name: string = 'adding-counter';
  protected sum = 0;
  private height = 0n;

  answer(request: Parameters<Application['answer']>[0]): ReturnType<Application['answer']> {
    const hash = this.digest();
    switch (request.type) {
      case 'info': {
        const own = { data: '', version: '1', appVersion: 1n };
        return { type: 'info', value: { ...own, lastBlockHeight: this.height, lastBlockAppHash: hash } };
      }
      case 'init-chain':
        return { type: 'init-chain', value: { validators: [], appHash: hash } };
      case 'query':
        return { type: 'query', value: { ...PLAIN_QUERY, value: hash } };
      case 'check-tx':
        return { type: 'check-tx', value: { ...PLAIN_RESULT, code: amountOf(request.value.tx) > 0 ? 0 : 1 } };
      case 'prepare-proposal':
        return txsThatFit(request.value);
      case 'process-proposal':
        return ACCEPT;
      case 'finalize-block': {
        const { txs, height } = request.value;
        this.height = height;
        this.apply(txs);
        const txResults = txs.map(() => PLAIN_RESULT);
        const value = { events: [], txResults, validatorUpdates: [], appHash: this.digest() };
        return { type: 'finalize-block', value };
      }
      case 'commit':
        return COMMITTED;
    }
  }
  protected apply(txs: readonly Uint8Array[]): void {
    for (const tx of txs) this.sum += amountOf(tx);
  }
  drainWrites = () => [];
  restore = () => undefined;
  digest = () => new TextEncoder().encode(`sum ${this.sum}`);
  digestFromScratch = () => this.digest();
}

export const amountOf = (tx: Uint8Array): number =>
  Number(/^[+]([0-9]{1,9}) /.exec(new TextDecoder().decode(tx))?.[1] ?? 0);
