// What evidence in a block proves, by the oracles' own words: the two votes of a double vote, the signers of an attack on light clients, and
// whether it is too old to be punished (spec 5.10).

import { compareBytes, equalBytes, hexOf } from '../../../protocol/bytes.ts';
import type {
  Commit,
  DuplicateVoteEvidence,
  Evidence,
  Header,
  LightBlock,
  LightClientAttackEvidence,
  Validator,
} from '../../../protocol/types.ts';
import type { WorldAbout } from '../../oracle.ts';
import { equalBlockId } from '../canonical/block-id.ts';
import { validatorsHash, voteSignBytes } from '../canonical/bytes.ts';
import { FLAG_COMMIT, PRECOMMIT } from '../canonical/numbers.ts';
import { type GhostChain, type GhostSet, isTrueVote } from '../ghost/ghost.ts';

/** Whom it accuses: addresses in hex. */
export const accusedBy = (evidence: Evidence): readonly string[] =>
  evidence.kind === 'duplicate-vote'
    ? [hexOf(evidence.voteA.validatorAddress)]
    : evidence.byzantineValidators.map(({ address }) => hexOf(address));

/** The height of the misbehaviour: of an attack, the last that the light client and the chain have in common. */
export const heightOfCrime = (evidence: Evidence): bigint =>
  evidence.kind === 'duplicate-vote' ? evidence.voteA.height : evidence.commonHeight;

/** The commit that the chain carries for a height. */
interface Decided {
  readonly round: number;
  /** By the place of who votes: what it said. */
  readonly flags: readonly number[];
}
/** Heights of which that is known: of others nobody says anything. */
const DECIDED_KEPT = 256;

export class Proofs {
  private readonly ghost: GhostChain;
  private readonly about: WorldAbout;
  private readonly decided = new Map<bigint, Decided>();
  private readonly headers = new Map<bigint, Header>();

  constructor(ghost: GhostChain, about: WorldAbout) {
    this.ghost = ghost;
    this.about = about;
    ghost.onBlock.push((_at, { header, lastCommit }) => {
      this.headers.set(header.height, header);
      this.headers.delete(header.height - BigInt(DECIDED_KEPT));
      this.decides(lastCommit);
    });
  }

  private decides(commit: Commit | null): void {
    if (!commit || commit.signatures.length === 0) return;
    const { height, round, signatures } = commit;
    this.decided.set(height, { round, flags: signatures.map(({ flag }) => flag) });
    this.decided.delete(height - BigInt(DECIDED_KEPT));
  }

  /** What is wrong with it; null: nothing, or nobody knows that height any more. `isOurs`: an honest node proposes it. */
  flawIn(evidence: Evidence, isOurs: boolean): string | null {
    return evidence.kind === 'duplicate-vote'
      ? this.flawOfDoubleVote(evidence, isOurs)
      : this.flawOfAttack(evidence);
  }

  /** Too old for this block, as far as anybody remembers: both ages, counted to the block before. */
  isExpired(evidence: Evidence, height: bigint): boolean {
    const { ghost } = this;
    const of = heightOfCrime(evidence);
    const params = ghost.params(height)?.evidence;
    const [thenNs, beforeNs] = [ghost.timeNs(of), ghost.timeNs(height - 1n)];
    if (!params || thenNs === undefined || beforeNs === undefined) return false;
    return height - 1n - of > params.maxAgeBlocks && beforeNs - thenNs > params.maxAgeNs;
  }

  private flawOfDoubleVote(
    { voteA, voteB, ...claim }: DuplicateVoteEvidence,
    isOurs: boolean,
  ): string | null {
    const { about, ghost } = this;
    if (voteA.height !== voteB.height || voteA.round !== voteB.round || voteA.type !== voteB.type)
      return 'its votes are of two steps';
    if (equalBlockId(voteA.blockId, voteB.blockId)) return 'its votes are for the same block';
    if (!equalBytes(voteA.validatorAddress, voteB.validatorAddress)) return 'its votes are of two validators';
    if (this.isOfAnotherTime(voteA.height, claim)) return ANOTHER_TIME;
    const set = ghost.setThen(voteA.height);
    if (!set) return null;
    const power = set.powerOf(hexOf(voteA.validatorAddress));
    if (claim.validatorPower !== power || claim.powerTotal !== set.total) return OTHER_POWERS;
    // Where a vote stands in its set, and what hangs on it, is no part of what is proven; but nobody honest took it so from others.
    const member = set.members.find(({ addressBytes }) => equalBytes(addressBytes, voteA.validatorAddress));
    const isSigned = [voteA, voteB].every(
      (vote) =>
        member &&
        about.verify(member.key, voteSignBytes(about.chainId, vote), vote.signature) &&
        (!isOurs || isTrueVote(about, set, vote)),
    );
    return isSigned ? null : 'its votes are not signed by who is accused';
  }

  /** But for whether it was they who are accused. */
  private flawOfAttack(evidence: LightClientAttackEvidence): string | null {
    const { about, ghost } = this;
    const { commonHeight, conflictingBlock, byzantineValidators, ...claim } = evidence;
    if (this.isOfAnotherTime(commonHeight, claim)) return ANOTHER_TIME;
    const set = ghost.setThen(commonHeight);
    if (!set) return null;
    const { header } = conflictingBlock.signedHeader;
    if (commonHeight > header.height) return 'its block is of a height before the last that all agreed on';
    if (!isOfItsSet(conflictingBlock)) return 'its validators are not those that its header names';
    const there = ghost.setThen(header.height);
    // Under a header of the chain's own validators of a later height they may be named by their powers there.
    const isLater = header.height !== commonHeight && there !== undefined;
    const isByThere = isLater && equalBytes(header.validatorsHash, validatorsHash(there.members));
    const isOfAnotherPower =
      !isByThere && byzantineValidators.some(({ address, power }) => power !== set.powerOf(hexOf(address)));
    if (isOfAnotherPower || claim.powerTotal !== set.total) return OTHER_POWERS;
    const { height, round, blockId, signatures } = conflictingBlock.signedHeader.commit;
    const signers = set.members.filter(({ addressBytes, key }) =>
      signatures.some(({ flag, validatorAddress, timeNs: signedNs, signature }) => {
        if (flag !== FLAG_COMMIT || !equalBytes(validatorAddress, addressBytes)) return false;
        const vote = { type: PRECOMMIT, height, round, blockId, timeNs: signedNs } as const;
        return about.verify(key, voteSignBytes(about.chainId, vote), signature);
      }),
    );
    const power = signers.reduce((sum, each) => sum + each.power, 0n);
    if (3n * power <= set.total) return 'no third of its validators signed what it shows';
    if (!areInOrder(byzantineValidators)) return 'it does not name who attacked in the order of a set';
    return header.height === commonHeight ? this.flawOfSecondBlock(evidence, set) : null;
  }

  /**
   * Another block in the place of the chain's, by its own validators: whoever signed both in one round lied. Who signed another one in another
   * round may have had a reason, and who signed one of the two did what all do.
   */
  private flawOfSecondBlock(
    { commonHeight, conflictingBlock, byzantineValidators }: LightClientAttackEvidence,
    { members }: GhostSet,
  ): string | null {
    const decided = this.decided.get(commonHeight);
    if (!decided) return null;
    const ours = this.headers.get(commonHeight);
    if (ours && !isOfOneState(ours, conflictingBlock.signedHeader.header))
      return 'its block does not follow from the state before it';
    if (conflictingBlock.signedHeader.commit.round !== decided.round)
      return 'its block is of another round than the one that was decided';
    const haveSignedBoth = byzantineValidators.every(({ address }) => {
      const index = members.findIndex(({ addressBytes }) => equalBytes(addressBytes, address));
      return decided.flags[index] === FLAG_COMMIT;
    });
    return haveSignedBoth ? null : 'it accuses who signed one of its two blocks alone';
  }

  private isOfAnotherTime(height: bigint, claim: { readonly timeNs: bigint }): boolean {
    const timeNs = this.ghost.timeNs(height);
    return timeNs !== undefined && claim.timeNs !== timeNs;
  }
}

const isOfItsSet = ({ signedHeader, validatorSet }: LightBlock): boolean => {
  const members = validatorSet.validators.map(({ publicKey, power }) => ({ key: publicKey, power }));
  return equalBytes(signedHeader.header.validatorsHash, validatorsHash(members));
};

/** The strongest first, and equals by their addresses. */
const areInOrder = (validators: readonly Validator[]): boolean =>
  validators.every(({ address, power }, i) => {
    const before = validators[i - 1];
    if (!before) return true;
    return before.power === power ? compareBytes(before.address, address) < 0 : before.power > power;
  });

/** What the state says of the next block is the same in both, whoever proposes what. */
const isOfOneState = (one: Header, other: Header): boolean =>
  equalBytes(one.validatorsHash, other.validatorsHash) &&
  equalBytes(one.nextValidatorsHash, other.nextValidatorsHash) &&
  equalBytes(one.consensusHash, other.consensusHash) &&
  equalBytes(one.appHash, other.appHash) &&
  equalBytes(one.lastResultsHash, other.lastResultsHash);

const ANOTHER_TIME = 'its time is not that of the block of its height';
const OTHER_POWERS = 'its powers are not those of its height';
