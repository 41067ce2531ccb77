// What everybody says about a chain, wherever it is said: a second word about a height, or a second signature
// for a step, that differs is a violation.

import { byteKey, hexOf } from '../../../protocol/bytes.ts';
import { voteOfCommit } from '../../../protocol/rules/commit.ts';
import { proposalSignBytes, voteSignBytes } from '../../../protocol/sign-bytes.ts';
import { type Commit, FLAG_ABSENT, PREVOTE, type Proposal, type Vote } from '../../../protocol/types.ts';

export type Fact = 'block' | 'app hash' | 'state digest' | 'application digest' | 'transactions';

/** Problems told one by one; of a broken chain there would be thousands. */
const PROBLEMS_KEPT = 20;

export class Problems {
  readonly told: string[] = [];
  count = 0;

  add(problem: string): void {
    this.count++;
    if (this.told.length < PROBLEMS_KEPT) this.told.push(problem);
  }
}

/** One value per fact and height, from whomever it comes: live reports, stores, traces. */
export class Agreement {
  private readonly problems: Problems;
  private readonly known = new Map<string, { readonly value: string; readonly who: string }>();
  claims = 0;

  constructor(problems: Problems) {
    this.problems = problems;
  }

  claim(fact: Fact, height: bigint, bytes: Uint8Array, who: string): void {
    this.claims++;
    const name = `${fact} of height ${height}`;
    const value = byteKey(bytes);
    const first = this.known.get(name);
    if (!first) this.known.set(name, { value, who });
    else if (first.value !== value) this.problems.add(`${name}: ${who} differs from ${first.who}`);
  }
}

/** Every signature seen of every key, by height, round and step. */
export class Signatures {
  private readonly problems: Problems;
  private readonly chainId: string;
  private readonly seen = new Map<string, string>();

  constructor(problems: Problems, chainId: string) {
    this.problems = problems;
    this.chainId = chainId;
  }

  get count(): number {
    return this.seen.size;
  }

  vote(vote: Vote, who: string): void {
    const { validatorAddress, height, round, type } = vote;
    const step = `${type === PREVOTE ? 'prevote' : 'precommit'} ${height}/${round}`;
    this.add(`${hexOf(validatorAddress)} ${step}`, voteSignBytes(this.chainId, vote), who);
  }

  /** A round has one proposer, so its proposal needs no name. */
  proposal(proposal: Proposal, who: string): void {
    const { height, round } = proposal;
    this.add(`proposer ${height}/${round}`, proposalSignBytes(this.chainId, proposal), who);
  }

  commit(commit: Commit, who: string): void {
    for (const [i, { flag }] of commit.signatures.entries()) {
      if (flag !== FLAG_ABSENT) this.vote(voteOfCommit(commit, i), who);
    }
  }

  private add(step: string, signBytes: Uint8Array, who: string): void {
    const bytes = byteKey(signBytes);
    const first = this.seen.get(step);
    if (first === undefined) this.seen.set(step, bytes);
    else if (first !== bytes) this.problems.add(`double signature: ${step} (seen in ${who})`);
  }
}
