// Message rules of a play and the lies of its liars, as the one rule that the network asks of every envelope.

import type { Payload, PeerId } from '../../actors/turn.ts';
import { hexOf } from '../../protocol/bytes.ts';
import {
  CHANNEL_BLOCKSYNC,
  CHANNEL_EVIDENCE,
  CHANNEL_MEMPOOL,
  type ConsensusMessage,
} from '../../protocol/messages.ts';
import { PREVOTE } from '../../protocol/types.ts';
import { MILLISECOND } from '../latency.ts';
import type { Lie } from '../liars/liar.ts';
import { DONE, type Ruling, type SendRule } from '../links.ts';
import { consensusMessage, isOfConsensus } from '../oracles/ghost/messages.ts';
import type { MessageKind, NodeName, RuleAction } from './play.ts';

export interface Names {
  peerOf(name: NodeName): PeerId;
  /** Hex address of its key; empty without one. */
  addressOf(name: NodeName): string;
}

interface Rule {
  readonly words: RuleAction;
  readonly from: ReadonlySet<PeerId> | null;
  readonly to: ReadonlySet<PeerId> | null;
  readonly by: ReadonlySet<string> | null;
  /** A message came that it is about. */
  hasMet: boolean;
}

export class RuleBook {
  private readonly names: Names;
  private readonly lies = new Map<PeerId, Lie[]>();
  private rules: Rule[] = [];
  /** Also those that were taken back. */
  private readonly everAdded: Rule[] = [];
  /** Messages that rules took out, those of envelopes of which something was left, too. */
  messagesDropped = 0;
  private readonly changed: (rule: SendRule | null) => void;
  /** Told of what a liar really says. */
  lied: ((from: PeerId, to: PeerId, payloads: readonly Payload[]) => void) | null = null;

  /** `install` is called whenever there begins or ends to be a rule at all. */
  constructor(names: Names, install: (rule: SendRule | null) => void) {
    this.names = names;
    this.changed = install;
  }

  get isEmpty(): boolean {
    return this.rules.length === 0;
  }

  addLie(from: PeerId, lie: Lie): void {
    this.lies.set(from, [...(this.lies.get(from) ?? []), lie]);
    this.changed(this.judge);
  }

  /** From now on it tells the truth. */
  repent(from: PeerId): void {
    this.lies.delete(from);
  }

  add(words: RuleAction): void {
    const peers = (names?: readonly NodeName[]): ReadonlySet<PeerId> | null =>
      names ? new Set(names.map((name) => this.names.peerOf(name))) : null;
    const by = words.by ? new Set(words.by.map((name) => this.names.addressOf(name))) : null;
    const rule: Rule = { words, from: peers(words.from), to: peers(words.to), by, hasMet: false };
    this.rules.push(rule);
    this.everAdded.push(rule);
    this.changed(this.judge);
  }

  /** Rules that no message has met, neither one nor another time that they were in force. */
  get unmet(): readonly RuleAction[] {
    const all = new Map(this.everAdded.map(({ words }) => [JSON.stringify(words), words]));
    for (const { words, hasMet } of this.everAdded) if (hasMet) all.delete(JSON.stringify(words));
    return [...all.values()];
  }

  clear(): void {
    this.rules = [];
    this.changed(this.lies.size > 0 ? this.judge : null);
  }

  private readonly judge = (from: PeerId, to: PeerId, sent: readonly Payload[]): Ruling => {
    let payloads = sent;
    for (const lie of this.lies.get(from) ?? NO_LIES) payloads = lie(to, payloads) ?? payloads;
    if (payloads.length === 0) return 'silence';
    let done = 0;
    if (payloads !== sent) {
      done |= DONE.lied;
      this.lied?.(from, to, payloads);
    }
    for (const rule of this.rules) {
      if (rule.words.effect !== 'drop' || !isMet(rule, from, to, payloads)) continue;
      rule.hasMet = true;
      const kept = payloads.filter((payload) => !isAbout(rule, payload));
      this.messagesDropped += payloads.length - kept.length;
      if (kept.length === 0) return 'drop';
      done |= DONE.trimmed;
      payloads = kept;
    }
    let delayMs = -1;
    for (const rule of this.rules) {
      if (rule.words.effect === 'drop' || !isMet(rule, from, to, payloads)) continue;
      rule.hasMet = true;
      delayMs = Math.max(delayMs, rule.words.effect.delayMs);
    }
    if (delayMs >= 0) return { delayNs: delayMs * MILLISECOND, payloads, done };
    return done === 0 ? 'pass' : { payloads, done };
  };
}

const NO_LIES: readonly Lie[] = [];

const isMet = (rule: Rule, from: PeerId, to: PeerId, payloads: readonly Payload[]): boolean =>
  (!rule.from || rule.from.has(from)) &&
  (!rule.to || rule.to.has(to)) &&
  payloads.some((payload) => isAbout(rule, payload));

function isAbout({ words, by }: Rule, payload: Payload): boolean {
  const { channel } = payload;
  const kind = words.what;
  if (kind === 'everything') return true;
  if (kind === 'transactions') return channel === CHANNEL_MEMPOOL;
  if (kind === 'evidence') return channel === CHANNEL_EVIDENCE;
  if (kind === 'block-sync') return channel === CHANNEL_BLOCKSYNC;
  if (!isOfConsensus(channel)) return false;
  const message = consensusMessage(payload);
  if (!message) return false;
  const place = placeOf(kind, message);
  if (!place) return false;
  if (words.height !== undefined && place.height !== BigInt(words.height)) return false;
  if (words.round !== undefined && place.round !== words.round) return false;
  return by === null || (message.type === 'vote' && by.has(hexOf(message.vote.validatorAddress)));
}

function placeOf(kind: MessageKind, message: ConsensusMessage): { height: bigint; round: number } | null {
  switch (message.type) {
    case 'proposal':
      return kind === 'proposals' ? message.proposal : null;
    case 'block-part':
      return kind === 'parts' ? message : null;
    case 'vote':
      return kind === (message.vote.type === PREVOTE ? 'prevotes' : 'precommits') ? message.vote : null;
    default:
      return null;
  }
}
