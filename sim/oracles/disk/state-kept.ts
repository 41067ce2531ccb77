// What a node starts again from: the state that it stores says what the chain says after that block. Its bytes are read back, as a restart would;
// nothing shows sooner what they leave out.

import { equalBytes } from '../../../protocol/bytes.ts';
import { isRefusal } from '../../../protocol/refusal.ts';
import type { ChainState, ConsensusParams, ValidatorSet } from '../../../protocol/types.ts';
import { decodeChainState } from '../../../protocol/wire/index.ts';
import type { Machine } from '../../machine.ts';
import type { Report } from '../../oracle.ts';
import type { GhostChain, GhostSet } from '../ghost/ghost.ts';

export class StateKept {
  private readonly ghost: GhostChain;
  private readonly report: Report;
  /** The last that was as it is to be: all nodes write the same bytes. */
  private good: Uint8Array | null = null;

  constructor(ghost: GhostChain, report: Report) {
    this.ghost = ghost;
    this.report = report;
  }

  writes(at: Machine, bytes: Uint8Array): void {
    if (this.good && equalBytes(this.good, bytes)) return;
    const state = decodeChainState(bytes);
    const wrong = isRefusal(state) ? 'bytes' : this.differing(state);
    if (wrong === null) this.good = bytes;
    else
      this.report(`${at.name} stores a state whose ${wrong} are not those of the chain`, at, at.height + 1n);
  }

  /** What is not known is not judged: who is far behind stores what others had long ago. */
  private differing(state: ChainState): string | null {
    const { ghost } = this;
    const { lastBlockHeight: height } = state;
    const next = height === 0n ? ghost.genesis.initialHeight : height + 1n;
    const times = height === 0n ? state.lastBlockTimeNs : ghost.timeNs(height);
    if (state.chainId !== ghost.chainId || state.initialHeight !== ghost.genesis.initialHeight)
      return 'chain and beginning';
    if (times !== undefined && state.lastBlockTimeNs !== times) return 'times';
    const params = ghost.params(next);
    if (params && !isSameParams(state.consensusParams, params)) return 'parameters';
    const changes = ghost.changes(height);
    if (changes && state.lastHeightValidatorsChanged !== changes.validators)
      return 'heights at which validators change';
    if (changes && state.lastHeightConsensusParamsChanged !== changes.params)
      return 'heights at which parameters change';
    const isSame =
      isAs(state.validators, ghost.set(next)) &&
      isAs(state.nextValidators, ghost.set(next + 1n)) &&
      (height === 0n || isAs(state.lastValidators, ghost.set(height)));
    return isSame ? null : 'validators';
  }
}

const isAs = ({ validators }: ValidatorSet, set: GhostSet | undefined): boolean =>
  set === undefined ||
  (validators.length === set.members.length &&
    set.members.every(({ addressBytes, power, priority }, i) => {
      const each = validators[i];
      return each?.power === power && each.priority === priority && equalBytes(each.address, addressBytes);
    }));

const isSameParams = (a: ConsensusParams, b: ConsensusParams): boolean =>
  a.block.maxBytes === b.block.maxBytes &&
  a.block.maxGas === b.block.maxGas &&
  a.evidence.maxAgeBlocks === b.evidence.maxAgeBlocks &&
  a.evidence.maxAgeNs === b.evidence.maxAgeNs &&
  a.evidence.maxBytes === b.evidence.maxBytes &&
  a.validator.publicKeyTypes.join() === b.validator.publicKeyTypes.join() &&
  a.version.app === b.version.app &&
  a.abci.voteExtensionsEnableHeight === b.abci.voteExtensionsEnableHeight;
