// What a validator actor is made from: the chain it belongs to, its own key (if any), and what an operator chose.

import type { ConsensusConfig } from '../../machines/consensus/config.ts';
import type { Verify } from '../../protocol/signatures.ts';
import type { Address, Genesis, PublicKey } from '../../protocol/types.ts';

export interface ValidatorConfig {
  readonly genesis: Genesis;
  /** The genesis document as it was given: kept in the store at the first start. */
  readonly genesisText: string;
  /** Null: a full node that follows and never votes. */
  readonly key: { readonly publicKey: PublicKey; readonly address: Address } | null;
  readonly consensus: ConsensusConfig;
  readonly verify: Verify;
  /** False: join consensus at once (a network of one, or a play that wants no block sync). */
  readonly blocksync: boolean;
}
