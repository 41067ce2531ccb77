// Every commit that an honest node stores or builds upon is verified again, from its bytes against the set of its height.

import { equalBytes } from '../../../protocol/bytes.ts';
import type { Verify } from '../../../protocol/signatures.ts';
import { type Commit, type CommitSig, NIL_BLOCK_ID, type PublicKey } from '../../../protocol/types.ts';
import { machinesByAddress } from '../../addresses.ts';
import type { Machine } from '../../machine.ts';
import type { Report, WorldAbout } from '../../oracle.ts';
import { equalBlockId } from '../canonical/block-id.ts';
import { voteSignBytes } from '../canonical/bytes.ts';
import { PRECOMMIT } from '../canonical/numbers.ts';
import { type GhostChain, isQuorum } from '../ghost/ghost.ts';

/** Heights of which what was found good is remembered. */
const HEIGHTS_KEPT = 64;

interface Proven {
  readonly commit: Commit;
  readonly signature: CommitSig;
}

/** The same height, index and so key: what was signed is the same when round, id and time are. */
const isProven = (
  known: Proven | undefined,
  commit: Commit,
  { flag, timeNs, signature }: CommitSig,
): boolean =>
  known !== undefined &&
  known.commit.round === commit.round &&
  known.signature.flag === flag &&
  known.signature.timeNs === timeNs &&
  equalBytes(known.signature.signature, signature) &&
  equalBlockId(known.commit.blockId, commit.blockId);

/** Of one height: nodes mostly hold the same commit, or one that differs in a few signatures. */
interface Known {
  readonly commits: Uint8Array[];
  /** By index. */
  readonly signatures: (Proven | undefined)[];
}

export class Certificates {
  private readonly ghost: GhostChain;
  private readonly verifySignature: Verify;
  private readonly chainId: string;
  private readonly isHonest: (address: string) => boolean;
  private readonly report: Report;
  private readonly known = new Map<number, Known>();
  private latest = 0;

  constructor(ghost: GhostChain, verifySignature: Verify, about: WorldAbout, report: Report) {
    this.ghost = ghost;
    this.verifySignature = verifySignature;
    this.chainId = about.chainId;
    const machines = machinesByAddress(about);
    this.isHonest = (address) => {
      const machine = machines.get(address);
      return machine !== undefined && about.isHonest(machine);
    };
    this.report = report;
  }

  /** Whether a commit of these bytes was looked at before. */
  isKnown(height: number, bytes: Uint8Array): boolean {
    return this.known.get(height)?.commits.some((each) => equalBytes(each, bytes)) ?? false;
  }

  private of(height: number): Known {
    let known = this.known.get(height);
    if (!known) {
      known = { commits: [], signatures: [] };
      this.latest = Math.max(this.latest, height);
      if (height <= this.latest - HEIGHTS_KEPT) return known; // of a node that is far behind: looked at once more for the next
      this.known.set(height, known);
      this.known.delete(height - HEIGHTS_KEPT);
    }
    return known;
  }

  /** Keys, powers, chain id, block id. `bytes` are those of the commit, `what` says where it was found. */
  verify(at: Machine, commit: Commit, bytes: Uint8Array, what: string): void {
    const set = this.ghost.setThen(commit.height);
    const height = Number(commit.height);
    if (!set || this.isKnown(height, bytes)) return;
    const { commits, signatures: good } = this.of(height);
    commits.push(bytes);
    const bad = (why: string): void =>
      this.report(`${what} ${commit.height} at ${at.name}: ${why}`, at, commit.height, 'certificate');
    if (commit.signatures.length !== set.members.length)
      return bad(`${commit.signatures.length} signatures for ${set.members.length} validators`);
    let sum = 0n;
    for (let index = 0; index < commit.signatures.length; index++) {
      const signature = commit.signatures[index] as CommitSig;
      if (signature.flag === 1) continue;
      const member = set.members[index];
      if (!member || !equalBytes(member.addressBytes, signature.validatorAddress))
        return bad(`signature ${index} is of another validator`);
      if (signature.flag === 2) sum += member.power;
      if (isProven(good[index], commit, signature)) continue;
      if (signature.flag === 2 && this.isTooEarly(commit, signature, member.address))
        bad(`signature ${index} is not later than the block that it is for`);
      if (this.isSigned(member.key, commit, signature, index)) good[index] = { commit, signature };
      else bad(`signature ${index} is wrong`);
    }
    if (!isQuorum(sum, set.total)) bad(`${sum} of ${set.total} power signed`);
  }

  /** Whoever is honest votes later than its block, however late its own clock is: or the time of blocks would stand still (spec 5.2). */
  private isTooEarly({ height }: Commit, { timeNs }: CommitSig, address: string): boolean {
    const blockNs = this.ghost.timeNs(height);
    return blockNs !== undefined && timeNs <= blockNs && this.isHonest(address);
  }

  private isSigned(key: PublicKey, commit: Commit, signed: CommitSig, index: number): boolean {
    const { flag, timeNs, validatorAddress, signature } = signed;
    const vote = {
      type: PRECOMMIT,
      height: commit.height,
      round: commit.round,
      blockId: flag === 2 ? commit.blockId : NIL_BLOCK_ID,
      timeNs,
      validatorAddress,
      validatorIndex: index,
      signature,
      extension: new Uint8Array(0),
      extensionSignature: new Uint8Array(0),
    };
    return this.verifySignature(key, voteSignBytes(this.chainId, vote), signature);
  }
}
