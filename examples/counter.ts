// An application: it counts transactions. It keeps nothing on disk: a node that restarts has forgotten, says
// so (`info`: height 0), and is told all blocks again.
import * as sim from 'rehearsal/sim';

export class Counter implements sim.Application {
  readonly name: string = 'my-counter';
  protected count = 0;
  private height = 0n;

  answer({ type, value }: sim.AbciRequest): sim.AbciResponse {
    const about = { data: '', version: '1', appVersion: 1n, lastBlockHeight: this.height };
    switch (type) {
      case 'info':
        return { type, value: { ...about, lastBlockAppHash: this.digest() } };
      case 'init-chain':
        return { type, value: { validators: [], appHash: this.digest() } };
      case 'query':
        return { type, value: { ...sim.PLAIN_QUERY, value: this.digest() } };
      case 'check-tx':
        return { type, value: sim.PLAIN_RESULT };
      case 'prepare-proposal':
        return sim.txsThatFit(value);
      case 'process-proposal':
        return sim.ACCEPT;
      case 'finalize-block': {
        this.height = value.height;
        this.count += value.txs.length;
        const txResults = value.txs.map(() => sim.PLAIN_RESULT);
        return { type, value: { events: [], txResults, validatorUpdates: [], appHash: this.digest() } };
      }
      case 'commit':
        return sim.COMMITTED;
    }
  }
  drainWrites = () => [];
  restore = () => undefined;
  digest = () => new TextEncoder().encode(`count ${this.count}`);
  digestFromScratch = () => this.digest();
}
