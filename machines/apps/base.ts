// Answers that the example applications share: what CometBFT's BaseApplication says, and plain values to
// start from.

import {
  type AbciResponse,
  type ExecTxResult,
  PROCESS_PROPOSAL_ACCEPT,
  PROCESS_PROPOSAL_REJECT,
  type RequestPrepareProposal,
  type ResponseCheckTx,
  type ResponseQuery,
} from '../../protocol/abci.ts';
import { protoSizeOfTx } from '../../protocol/tx-size.ts';
import { EMPTY_BYTES } from '../../protocol/types.ts';

/** What every field of a result is unless an application says otherwise. */
export const PLAIN_RESULT: ExecTxResult & ResponseCheckTx = {
  code: 0,
  data: EMPTY_BYTES,
  log: '',
  info: '',
  gasWanted: 0n,
  gasUsed: 0n,
  events: [],
  codespace: '',
};

export const PLAIN_QUERY: ResponseQuery = {
  code: 0,
  log: '',
  info: '',
  index: 0n,
  key: EMPTY_BYTES,
  value: EMPTY_BYTES,
  height: 0n,
  codespace: '',
};

export const ACCEPT: AbciResponse = { type: 'process-proposal', value: { status: PROCESS_PROPOSAL_ACCEPT } };
export const REJECT: AbciResponse = { type: 'process-proposal', value: { status: PROCESS_PROPOSAL_REJECT } };
/** Keep all blocks. */
export const COMMITTED: AbciResponse = { type: 'commit', value: { retainHeight: 0n } };

/** In order, while a block has room for them: a node halts at a proposal that is too large. */
export function thoseThatFit(txs: readonly Uint8Array[], bytesMax: bigint): Uint8Array[] {
  let bytes = 0;
  const over = txs.findIndex((tx) => {
    bytes += protoSizeOfTx(tx.length);
    return bytes > bytesMax;
  });
  return over < 0 ? [...txs] : txs.slice(0, over);
}

/** BaseApplication.PrepareProposal, but that it counts raw bytes and can be over the limit. */
export const txsThatFit = ({ txs, maxTxBytes }: RequestPrepareProposal): AbciResponse => ({
  type: 'prepare-proposal',
  value: { txs: thoseThatFit(txs, maxTxBytes) },
});
