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

/** BaseApplication.PrepareProposal: in order, while the raw bytes fit. */
export function txsThatFit(request: RequestPrepareProposal): AbciResponse {
  let bytes = 0n;
  const txs: Uint8Array[] = [];
  for (const tx of request.txs) {
    bytes += BigInt(tx.length);
    if (bytes > request.maxTxBytes) break;
    txs.push(tx);
  }
  return { type: 'prepare-proposal', value: { txs } };
}
