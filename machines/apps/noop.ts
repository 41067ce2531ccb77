// The application that agrees to everything and keeps nothing (spec 7.4): after a restart the node replays
// every block to it.

import type { AbciRequest, AbciResponse } from '../../protocol/abci.ts';
import { EMPTY_BYTES } from '../../protocol/types.ts';
import type { Application, PairWrite } from './application.ts';
import { ACCEPT, COMMITTED, PLAIN_QUERY, PLAIN_RESULT, txsThatFit } from './base.ts';

const STATELESS_DIGEST = new Uint8Array(32);

export class Noop implements Application {
  readonly name = 'noop';

  answer(request: AbciRequest): AbciResponse {
    switch (request.type) {
      case 'info':
        return {
          type: 'info',
          value: {
            data: '',
            version: '',
            appVersion: 0n,
            lastBlockHeight: 0n,
            lastBlockAppHash: EMPTY_BYTES,
          },
        };
      case 'init-chain':
        return { type: 'init-chain', value: { validators: [], appHash: EMPTY_BYTES } };
      case 'query':
        return { type: 'query', value: PLAIN_QUERY };
      case 'check-tx':
        return { type: 'check-tx', value: PLAIN_RESULT };
      case 'prepare-proposal':
        return txsThatFit(request.value);
      case 'process-proposal':
        return ACCEPT;
      case 'finalize-block':
        return {
          type: 'finalize-block',
          value: {
            events: [],
            txResults: request.value.txs.map(() => PLAIN_RESULT),
            validatorUpdates: [],
            appHash: EMPTY_BYTES,
          },
        };
      case 'commit':
        return COMMITTED;
    }
  }

  drainWrites(): PairWrite[] {
    return [];
  }

  restore(): void {}

  digest(): Uint8Array {
    return STATELESS_DIGEST;
  }

  digestFromScratch(): Uint8Array {
    return STATELESS_DIGEST;
  }
}
