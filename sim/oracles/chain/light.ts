// Light-client verifiability: a skipping verifier of the oracles' own reaches every new height from the one before it, from the first and from the
// oldest that it still knows, by headers, commits and sets alone.

import { equalBytes, hexOf } from '../../../protocol/bytes.ts';
import type { Block, Commit, Header } from '../../../protocol/types.ts';
import type { Machine } from '../../machine.ts';
import type { Oracle, OracleMaker } from '../../oracle.ts';
import { validatorsHash } from '../canonical/bytes.ts';
import { FLAG_COMMIT } from '../canonical/numbers.ts';
import { type GhostChain, type GhostSet, isQuorum } from '../ghost/ghost.ts';

/** Heights that a client may trust; the ghost knows no older sets. */
const HEIGHTS_TRUSTED = 12;

/** A change of the set is announced a height before it comes. */
const SETS_AT_HAND = 3;

const isSameButForPriorities = (a: GhostSet, b: GhostSet): boolean =>
  a === b ||
  (a.members.length === b.members.length &&
    a.members.every(({ key, power }, i) => key === b.members[i]?.key && power === b.members[i]?.power));

interface LightBlock {
  readonly header: Header;
  readonly set: GhostSet;
  /** Who signed for it, by address: from the commit in the next block. */
  readonly signers: ReadonlySet<string>;
}

export const lightClient =
  (ghost: GhostChain): OracleMaker =>
  (report): Oracle => {
    const blocks = new Map<number, LightBlock>();
    /** The last few that differ: mostly a height has the set of the one before. */
    const hashed: { readonly set: GhostSet; readonly hash: Uint8Array }[] = [];
    let waiting: Header | null = null;

    const hashOf = (set: GhostSet): Uint8Array => {
      const known = hashed.find((each) => isSameButForPriorities(each.set, set));
      if (known) return known.hash;
      const hash = validatorsHash(set.members);
      hashed.unshift({ set, hash });
      hashed.length = Math.min(hashed.length, SETS_AT_HAND);
      return hash;
    };

    /** They stand in the order of their set, which has their addresses as text. */
    const signersOf = ({ members }: GhostSet, { signatures }: Commit): ReadonlySet<string> => {
      const signers = new Set<string>();
      signatures.forEach(({ flag, validatorAddress }, i) => {
        if (flag !== FLAG_COMMIT) return;
        const member = members[i];
        const isInOrder = member && equalBytes(member.addressBytes, validatorAddress);
        signers.add(isInOrder ? member.address : hexOf(validatorAddress));
      });
      return signers;
    };

    const powerIn = (set: GhostSet, signers: ReadonlySet<string>): bigint => {
      let sum = 0n;
      for (const { address, power } of set.members) if (signers.has(address)) sum += power;
      return sum;
    };

    /** What a client of `from` learns of `to`; null: it believes it. */
    const refusal = (from: LightBlock, to: LightBlock): string | null => {
      if (!isQuorum(powerIn(to.set, to.signers), to.set.total))
        return 'two thirds of its own set did not sign';
      const isNext = to.header.height === from.header.height + 1n;
      if (isNext) {
        const isLinked = equalBytes(to.header.validatorsHash, from.header.nextValidatorsHash);
        return isLinked ? null : 'its set is not the one that the header before it announced';
      }
      if (powerIn(from.set, to.signers) * 3n > from.set.total) return null;
      const middle = blocks.get(Number((from.header.height + to.header.height) / 2n));
      if (!middle) return 'a header in between is missing';
      return refusal(from, middle) ?? refusal(middle, to);
    };

    const complete = (at: Machine, header: Header, commit: Commit): void => {
      const { height } = header;
      const set = ghost.set(height);
      const next = ghost.set(height + 1n);
      if (!set) return;
      if (!equalBytes(header.validatorsHash, hashOf(set)))
        report(`header ${height} carries another set than the chain decided`, at, height);
      if (next && !equalBytes(header.nextValidatorsHash, hashOf(next)))
        report(`header ${height} announces another next set than the chain decided`, at, height);
      const block: LightBlock = { header, set, signers: signersOf(set, commit) };
      blocks.set(Number(height), block);
      blocks.delete(Number(height) - HEIGHTS_TRUSTED);
      for (const trusted of [Number(height) - 1, Number(height) - HEIGHTS_TRUSTED + 1, 1]) {
        const from = blocks.get(trusted);
        const why = from && from !== block ? refusal(from, block) : null;
        if (why) report(`a light client at ${trusted} cannot reach ${height}: ${why}`, at, height);
      }
    };

    ghost.onBlock.push((at: Machine, { header, lastCommit }: Block) => {
      if (waiting && lastCommit && lastCommit.height === waiting.height) complete(at, waiting, lastCommit);
      waiting = header;
    });
    return { name: 'light-client', effects: [] };
  };
