// What a node's recording proves to have been durable in one life must be on its disk when the next one
// begins.

import type { Boot } from '../../../actors/turn.ts';
import { hasEnded } from '../../../actors/validator/logbook.ts';
import { storeRange } from '../../../machines/chain/keys.ts';
import { lastSignWords, STEP_PROPOSE, stepOfVote } from '../../../machines/privval/last-sign.ts';
import type { AbciRequest } from '../../../protocol/abci.ts';
import type { Proposal, Vote } from '../../../protocol/types.ts';
import { decodeWords } from '../../../protocol/words.ts';
import type { Replayed } from '../../kernel/replay.ts';
import type { TraceRecord } from '../../kernel/trace.ts';
import type { Problems } from './facts.ts';

interface Place {
  readonly height: bigint;
  readonly round: number;
  readonly step: number;
}

const isBefore = (a: Place, b: Place): boolean =>
  a.height !== b.height ? a.height < b.height : a.round !== b.round ? a.round < b.round : a.step < b.step;
const placeText = ({ height, round, step }: Place): string => `${height}/${round}/${step}`;

/**
 * Where the store's range stands among what the validator reads at boot, and what follows from its actor's
 * `reads`.
 */
const RANGE_READ = 1;

export class Promises {
  /** Promises that a later boot was held to. */
  checked = 0;
  private readonly who: string;
  private readonly problems: Problems;
  /** The signer answers only when its log is synced. */
  private signed: Place | null = null;
  /** The application hears of a block only when it is stored, and its end stands in the log. */
  private executed = 0n;

  constructor(who: string, problems: Problems) {
    this.who = who;
    this.problems = problems;
  }

  /** Each record, in order, as it was replayed. */
  look(record: TraceRecord, { actor, message }: Replayed): void {
    if (record.kind === 'boot') {
      if (actor === 'signer') this.onSignerBoot(record.boot);
      else if (actor === 'validator') this.onValidatorBoot(record.boot);
      return;
    }
    if (message === null) return;
    const isVote = message.type === 'signed-vote' || message.type === 'signed-before';
    if (actor === 'validator' && isVote) {
      const vote = message['vote'] as Vote;
      this.onSigned({ height: vote.height, round: vote.round, step: stepOfVote(vote) });
    } else if (actor === 'validator' && message.type === 'signed-proposal') {
      const { height, round } = message['proposal'] as Proposal;
      this.onSigned({ height, round, step: STEP_PROPOSE });
    } else if (actor === 'app' && message.type === 'request') {
      const request = message['request'] as AbciRequest;
      if (request.type !== 'finalize-block') return;
      const { height } = request.value;
      if (height > this.executed) this.executed = height;
    }
  }

  private onSigned(place: Place): void {
    if (this.signed === null || isBefore(this.signed, place)) this.signed = place;
  }

  private onSignerBoot({ logs }: Boot): void {
    const { signed } = this;
    if (signed === null) return;
    this.checked++;
    const record = logs[0]?.at(-1);
    const last = record ? decodeWords(lastSignWords, record) : null;
    if (last && !isBefore(last, signed)) return;
    const found = last ? placeText(last) : 'nothing';
    this.problems.add(
      `${this.who}: it had signed ${placeText(signed)}, and its signer woke up with ${found}`,
    );
  }

  private onValidatorBoot({ logs, stores }: Boot): void {
    const { executed } = this;
    if (executed === 0n) return;
    this.checked++;
    const value = stores[RANGE_READ]?.[0]?.value;
    const stored = (value && decodeWords(storeRange, value))?.height ?? 0n;
    if (stored < executed) {
      this.problems.add(`${this.who}: block ${executed} was executed, and its store woke up at ${stored}`);
    }
    if (!hasEnded(logs[0] ?? [], executed))
      this.problems.add(`${this.who}: its log woke up without the end of height ${executed}`);
  }
}
