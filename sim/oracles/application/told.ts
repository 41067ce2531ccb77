// What an application is told of its node and of a block, and whether that is so.

import type { CommitInfo, Misbehavior, RequestFinalizeBlock, RequestInfo } from '../../../protocol/abci.ts';
import { equalBytes } from '../../../protocol/bytes.ts';
import type { Block, Evidence } from '../../../protocol/types.ts';
import {
  ABCI_VERSION,
  BLOCK_PROTOCOL,
  MISBEHAVIOR_DUPLICATE_VOTE,
  MISBEHAVIOR_LIGHT_CLIENT_ATTACK,
  NODE_VERSION,
  P2P_PROTOCOL,
} from '../canonical/numbers.ts';
import type { GhostSet } from '../ghost/ghost.ts';

/** The first version in the first request that is not as CometBFT has it; null: none. */
export function wrongVersion(request: RequestInfo): string | null {
  const { version, blockVersion, p2pVersion, abciVersion } = request;
  if (version !== NODE_VERSION) return `version ${version}, not ${NODE_VERSION}`;
  if (blockVersion !== BLOCK_PROTOCOL) return `block protocol ${blockVersion}, not ${BLOCK_PROTOCOL}`;
  if (p2pVersion !== P2P_PROTOCOL) return `protocol ${p2pVersion} of peers, not ${P2P_PROTOCOL}`;
  return abciVersion === ABCI_VERSION ? null : `ABCI ${abciVersion}, not ${ABCI_VERSION}`;
}

/** What all requests about a block have. */
export type About = Pick<
  RequestFinalizeBlock,
  'height' | 'timeNs' | 'nextValidatorsHash' | 'proposerAddress' | 'misbehavior'
>;

/**
 * The first field of a request that is not as the block has it; null: none. `toldHash`: null where there is none yet. `voters`: of the last
 * commit; undefined where nobody knows them any more.
 */
export function difference(
  told: About,
  toldTxs: readonly Uint8Array[],
  toldHash: Uint8Array | null,
  toldCommit: CommitInfo,
  { block, hash }: { readonly block: Block; readonly hash: Uint8Array },
  voters: GhostSet | undefined,
): string | null {
  const { header, txs, evidence } = block;
  if (told.height !== header.height) return 'height';
  if (toldHash !== null && !equalBytes(toldHash, hash)) return 'hash';
  if (told.timeNs !== header.timeNs) return 'time';
  if (!equalBytes(told.proposerAddress, header.proposerAddress)) return 'proposer';
  if (!equalBytes(told.nextValidatorsHash, header.nextValidatorsHash)) return 'hash of the next validators';
  if (toldTxs.length !== txs.length || !toldTxs.every((tx, i) => equalBytes(tx, txs[i] ?? NONE)))
    return 'list of transactions';
  if (!isSameMisbehavior(told.misbehavior, evidence.flatMap(misbehaviorIn))) return 'misbehavior';
  return isAsCommitted(toldCommit, block, voters) ? null : 'last commit';
}

const NONE = new Uint8Array(0);

function misbehaviorIn(evidence: Evidence): Misbehavior[] {
  const { timeNs, powerTotal } = evidence;
  if (evidence.kind === 'duplicate-vote') {
    const { validatorAddress: address, height } = evidence.voteA;
    const validator = { address, power: evidence.validatorPower };
    return [{ type: MISBEHAVIOR_DUPLICATE_VOTE, validator, height, timeNs, powerTotal }];
  }
  return evidence.byzantineValidators.map(({ address, power }) => ({
    type: MISBEHAVIOR_LIGHT_CLIENT_ATTACK,
    validator: { address, power },
    height: evidence.commonHeight,
    timeNs,
    powerTotal,
  }));
}

const isSameMisbehavior = (told: readonly Misbehavior[], found: readonly Misbehavior[]): boolean =>
  told.length === found.length &&
  told.every((one, i) => {
    const other = found[i];
    return (
      one.type === other?.type &&
      one.height === other.height &&
      one.timeNs === other.timeNs &&
      one.powerTotal === other.powerTotal &&
      one.validator.power === other.validator.power &&
      equalBytes(one.validator.address, other.validator.address)
    );
  });

/** Each validator of the height before, in order, with what it did. `set`: undefined where nobody knows it any more. */
function isAsCommitted(
  { round, votes }: CommitInfo,
  { lastCommit }: Block,
  set: GhostSet | undefined,
): boolean {
  const signatures = lastCommit?.signatures ?? [];
  if (votes.length !== signatures.length || (votes.length > 0 && round !== lastCommit?.round)) return false;
  return votes.every(({ validator, flag }, i) => {
    const member = set?.members[i];
    if (flag !== signatures[i]?.flag) return false;
    return !set || (member?.power === validator.power && equalBytes(member.addressBytes, validator.address));
  });
}
