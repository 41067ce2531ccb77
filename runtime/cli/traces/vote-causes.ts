// Why a node voted as it did: of the deliveries of a height, those that enabled its last vote. Fed by a
// replay, turn by turn.

import type { NodeEvent, Payload } from '../../../actors/turn.ts';
import type { ConsensusMessage } from '../../../protocol/messages.ts';
import { isRefusal } from '../../../protocol/refusal.ts';
import { PREVOTE, type Vote } from '../../../protocol/types.ts';
import { equalBlockId, isNilBlockId } from '../../../protocol/validate.ts';
import { decodeConsensusMessage } from '../../../protocol/wire/index.ts';
import type { Replayed } from '../../kernel/replay.ts';
import { publishedIn } from '../../kernel/replay.ts';
import { consensusName, type Names, voteName } from '../telling.ts';

export interface Cause {
  readonly record: number;
  readonly what: string;
}

type Heard = Cause & { readonly height: bigint } & (
    | { readonly kind: 'message'; readonly message: ConsensusMessage }
    | { readonly kind: 'timer'; readonly step: string; readonly round: number }
    | { readonly kind: 'app' }
  );

/** What one node's validator was given for heights that it has not decided yet, each thing once. */
export class VoteCauses {
  /** The last vote that it asked its signer for, and what enabled it. */
  last: { readonly record: number; readonly vote: Vote; readonly causes: readonly Cause[] } | null = null;
  /** The node's record before the one it stands after; 0: there is none. */
  before = 0;
  private record = 0;
  private heard: Heard[] = [];
  private known = new Set<string>();
  private readonly names: Names;

  constructor(names: Names) {
    this.names = names;
  }

  /** A new life: what was heard before is forgotten, as the node forgot it. */
  reborn(): void {
    this.heard = [];
    this.known = new Set();
  }

  turn(record: number, { actor, message, effects }: Replayed): void {
    this.before = this.record;
    this.record = record;
    if (actor !== 'validator' || message === null) return;
    if (message.type === 'heard') {
      const from = `from ${this.names.byPeer(String(message['peer']))}`;
      for (const payload of message['payloads'] as readonly Payload[]) this.hear(record, payload, from);
    } else if (message.type === 'signed-vote' || message.type === 'signed-before') {
      this.keepMessage(record, { type: 'vote', vote: message['vote'] as Vote }, 'its own');
    } else if (message.type === 'timer') this.keepTimer(record, String(message['timer']));
    else if (
      message.type === 'answer' &&
      (message['response'] as { type: string }).type === 'process-proposal'
    ) {
      this.keep(
        { record, what: 'the application judged the proposal', height: this.height, kind: 'app' },
        `app ${record}`,
      );
    }
    for (const effect of effects) {
      if (effect.type !== 'tell' || effect.message.type !== 'sign-vote') continue;
      const vote = effect.message['vote'] as Vote;
      this.last = { record, vote, causes: this.heard.filter((each) => enables(each, vote)) };
    }
    for (const event of publishedIn(effects)) this.forget(event);
  }

  /** The height that it works on, as far as what it heard tells. */
  private height = 1n;

  private forget(event: NodeEvent): void {
    if (event.type === 'step') this.height = event.height;
    if (event.type !== 'committed') return;
    this.height = event.height + 1n;
    this.heard = this.heard.filter(({ height }) => height > event.height);
    this.known = new Set();
  }

  private hear(record: number, payload: Payload, from: string): void {
    const message = decodeConsensusMessage(payload.bytes);
    if (!isRefusal(message)) this.keepMessage(record, message, from);
  }

  private keepMessage(record: number, message: ConsensusMessage, from: string): void {
    const height = heightOf(message);
    if (height === null) return;
    const name = consensusName(message, this.names);
    this.keep({ record, what: `${name}, ${from}`, height, kind: 'message', message }, name);
  }

  private keepTimer(record: number, timer: string): void {
    const [step, height, round] = timer.split(' ');
    if (step === undefined || height === undefined) return;
    const what = `timeout of ${step} ${height}/${round}`;
    this.keep({ record, what, height: BigInt(height), kind: 'timer', step, round: Number(round) }, what);
  }

  private keep(heard: Heard, key: string): void {
    if (this.known.has(key)) return;
    this.known.add(key);
    this.heard.push(heard);
  }
}

function heightOf(message: ConsensusMessage): bigint | null {
  if (message.type === 'vote') return message.vote.height;
  if (message.type === 'proposal') return message.proposal.height;
  return message.type === 'block-part' ? message.height : null;
}

/** L22-L47: what a vote can follow from. */
function enables(heard: Heard, vote: Vote): boolean {
  if (heard.height !== vote.height) return false;
  const isPrevote = vote.type === PREVOTE;
  const isNil = isNilBlockId(vote.blockId);
  if (heard.kind === 'app') return isPrevote;
  if (heard.kind === 'timer') {
    return isNil && heard.round === vote.round && heard.step === (isPrevote ? 'propose' : 'prevote');
  }
  const { message } = heard;
  switch (message.type) {
    case 'proposal':
      return isPrevote && message.proposal.round === vote.round;
    case 'block-part':
      return isPrevote && !isNil;
    case 'vote': {
      if (message.vote.type !== PREVOTE) return false;
      if (isPrevote)
        return message.vote.round < vote.round && equalBlockId(message.vote.blockId, vote.blockId);
      return message.vote.round === vote.round && (isNil || equalBlockId(message.vote.blockId, vote.blockId));
    }
    default:
      return false;
  }
}

export function causesLines({ last }: VoteCauses, names: Names): string[] {
  if (!last) return ['last vote: none in this life'];
  const lines = [`last vote: ${voteName(last.vote, names)}, asked for in record ${last.record}, enabled by`];
  for (const { record, what } of last.causes) lines.push(`  record ${String(record).padStart(8)}  ${what}`);
  if (last.causes.length === 0)
    lines.push('  nothing that it was given at this height (a life before, or its log)');
  return lines;
}
