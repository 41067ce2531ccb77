// What several plays say: that a liar loses its connections, numbers for an application that counts, and one that chooses how old and large evidence
// may be.

import { KvStore } from '../machines/apps/kvstore.ts';
import type { AbciRequest, AbciResponse } from '../protocol/abci.ts';
import type { ConsensusParamsUpdate } from '../protocol/types.ts';
import type { Claim, Directive, NodeName } from '../sim/scenario/play.ts';
import { after, anyone, sometime, submit } from '../sim/scenario/words.ts';

/** Somebody ends its connection to the liar, for each of these reasons. */
export const loses = (liar: NodeName, ...reasons: readonly string[]): Claim[] =>
  reasons.map((reason) => sometime(anyone.drops(liar, reason)));

const NODES = ['v0', 'v1', 'v2', 'v3'] as const;

/** Numbers from 0 on, each in so many forms, and each form given to another node. */
export const numbersInForms = (forms: number): Directive[] =>
  Array.from({ length: 60 }, (_, i) => {
    const number = String.fromCharCode(i);
    const all = Array.from({ length: forms }, (_, k) => '\0'.repeat(k) + number);
    return after('110ms', ...all.map((form, k) => submit(NODES[(i + k) % 4] ?? 'v0', form)));
  });

/** It says so at InitChain, whatever the genesis says. */
export class ChoosesEvidence extends KvStore {
  private readonly evidence: NonNullable<ConsensusParamsUpdate['evidence']>;

  constructor(evidence: NonNullable<ConsensusParamsUpdate['evidence']>) {
    super();
    this.evidence = evidence;
  }

  override answer(request: AbciRequest): AbciResponse {
    const answer = super.answer(request);
    if (answer.type !== 'init-chain') return answer;
    return { ...answer, value: { ...answer.value, consensusParams: { evidence: this.evidence } } };
  }
}
