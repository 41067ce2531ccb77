// The proposer of invalid blocks: well-formed, truly signed, and wrong in one field, another one each height.

import type { Block, Header } from '../../protocol/types.ts';
import type { Liar } from './liar.ts';
import { aboutOwnBlocks } from './own-blocks.ts';

const HASH_BYTES = 32;
const wrong = new Uint8Array(HASH_BYTES).fill(0xee);

/** One thing wrong each. */
const FAULTS: readonly ((header: Header) => Partial<Header>)[] = [
  () => ({ appHash: wrong }),
  () => ({ dataHash: wrong }),
  () => ({ lastResultsHash: wrong }),
  () => ({ validatorsHash: wrong }),
  () => ({ nextValidatorsHash: wrong }),
  () => ({ consensusHash: wrong }),
  () => ({ lastCommitHash: wrong }),
  () => ({ evidenceHash: wrong }),
  ({ timeNs }) => ({ timeNs: timeNs + 1_000_000_000n }),
  ({ timeNs }) => ({ timeNs: timeNs - 3_600_000_000_000n }),
  ({ height }) => ({ height: height + 1n }),
  ({ chainId }) => ({ chainId: `${chainId}x` }),
  ({ lastBlockId }) => ({ lastBlockId: { ...lastBlockId, hash: wrong } }),
  ({ proposerAddress }) => ({ proposerAddress: new Uint8Array(proposerAddress.length).fill(7) }),
];

export const invalidProposer: Liar = (kit) =>
  aboutOwnBlocks(kit, 'lie: an invalid block', (block): Block => {
    const fault = FAULTS[Number(block.header.height) % FAULTS.length] as (typeof FAULTS)[number];
    return { ...block, header: { ...block.header, ...fault(block.header) } };
  });
