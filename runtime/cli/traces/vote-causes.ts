// Why a node voted as it did: of the deliveries of a height, those that enabled its last vote. Fed by a
// replay, turn by turn.

import type { LocalMessage, NodeEvent, Payload } from '../../../actors/turn.ts';
import { stepTimerOf } from '../../../actors/validator/timer-id.ts';
import type { AbciRequest } from '../../../protocol/abci.ts';
import { equalBytes, hexOf } from '../../../protocol/bytes.ts';
import { merkleProofRoot } from '../../../protocol/merkle.ts';
import type { ConsensusMessage } from '../../../protocol/messages.ts';
import { isRefusal } from '../../../protocol/refusal.ts';
import { type BlockId, type Part, PREVOTE, type Vote } from '../../../protocol/types.ts';
import { equalBlockId, isNilBlockId } from '../../../protocol/validate.ts';
import { decodeConsensusMessage } from '../../../protocol/wire/index.ts';
import type { Replayed } from '../../kernel/replay.ts';
import { publishedIn } from '../../kernel/replay.ts';
import { consensusName, type Names, shortHash, voteName } from '../telling.ts';

export interface Cause {
  readonly record: number;
  readonly what: string;
}

type Heard = Cause & { readonly height: bigint } & (
    | { readonly kind: 'message'; readonly message: ConsensusMessage }
    | { readonly kind: 'timer'; readonly step: string; readonly round: number }
    | { readonly kind: 'app'; readonly hash: Uint8Array }
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
  /** Blocks that the application is judging, by the tag of the question. */
  private judging = new Map<number, Uint8Array>();
  private readonly names: Names;

  constructor(names: Names) {
    this.names = names;
  }

  /** A new life: what was heard before is forgotten, as the node forgot it. */
  reborn(): void {
    this.last = null;
    this.heard = [];
    this.known = new Set();
    this.judging = new Map();
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
    else if (message.type === 'answer') this.keepJudgement(record, Number(message['tag']));
    for (const effect of effects) {
      if (effect.type !== 'tell') continue;
      if (effect.message.type === 'request') this.noteQuestion(effect.message);
      if (effect.message.type !== 'sign-vote') continue;
      const vote = effect.message['vote'] as Vote;
      const blocks = this.blocksOf(vote);
      this.last = { record, vote, causes: this.heard.filter((each) => enables(each, vote, blocks)) };
    }
    for (const event of publishedIn(effects)) this.forget(event);
  }

  /** The height that it works on, as far as what it heard tells. */
  private height = 1n;

  private noteQuestion(question: LocalMessage): void {
    const request = question['request'] as AbciRequest;
    if (request.type === 'process-proposal') this.judging.set(Number(question['tag']), request.value.hash);
  }

  private keepJudgement(record: number, tag: number): void {
    const hash = this.judging.get(tag);
    if (!hash) return;
    this.judging.delete(tag);
    const what = `the application judged block ${shortHash(hash)}`;
    this.keep({ record, what, height: this.height, kind: 'app', hash }, `app ${record}`);
  }

  /** The block that it is about; of nil those that were proposed in its round. */
  private blocksOf({ height, round, blockId }: Vote): readonly BlockId[] {
    if (!isNilBlockId(blockId)) return [blockId];
    return this.heard.flatMap((each) => {
      if (each.kind !== 'message' || each.message.type !== 'proposal') return [];
      const { proposal } = each.message;
      return proposal.height === height && proposal.round === round ? [proposal.blockId] : [];
    });
  }

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
    const root = message.type === 'block-part' ? merkleProofRoot(message.part.proof) : null;
    const key = root ? `${name} ${hexOf(root)}` : name; // two blocks of one round have parts of one name
    this.keep({ record, what: `${name}, ${from}`, height, kind: 'message', message }, key);
  }

  private keepTimer(record: number, timer: string): void {
    const at = stepTimerOf(timer);
    if (!at) return;
    const what = `timeout of ${at.step} ${at.height}/${at.round}`;
    this.keep({ record, what, kind: 'timer', ...at }, what);
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
function enables(heard: Heard, vote: Vote, blocks: readonly BlockId[]): boolean {
  if (heard.height !== vote.height) return false;
  const isPrevote = vote.type === PREVOTE;
  const isNil = isNilBlockId(vote.blockId);
  if (heard.kind === 'app') return isPrevote && blocks.some(({ hash }) => equalBytes(hash, heard.hash));
  if (heard.kind === 'timer') {
    return isNil && heard.round === vote.round && heard.step === (isPrevote ? 'propose' : 'prevote');
  }
  const { message } = heard;
  switch (message.type) {
    case 'proposal':
      return (
        isPrevote &&
        message.proposal.round === vote.round &&
        (isNil || equalBlockId(message.proposal.blockId, vote.blockId))
      );
    case 'block-part':
      return isPrevote && !isNil && isPartOf(message.part, vote.blockId);
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

function isPartOf({ proof }: Part, { parts }: BlockId): boolean {
  const root = merkleProofRoot(proof);
  return root !== null && equalBytes(root, parts.hash);
}

export function causesLines({ last }: VoteCauses, names: Names): string[] {
  if (!last) return ['last vote: none in this life'];
  const lines = [`last vote: ${voteName(last.vote, names)}, asked for in record ${last.record}, enabled by`];
  for (const { record, what } of last.causes) lines.push(`  record ${String(record).padStart(8)}  ${what}`);
  if (last.causes.length === 0)
    lines.push('  nothing that it was given at this height (a life before, or its log)');
  return lines;
}
