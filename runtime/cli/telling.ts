// Messages, events and times in words, for columns, stories and reports.

import {
  appMail,
  blocksyncMail,
  dialerMail,
  mempoolMail,
  peerMail,
  signerMail,
  validatorMail,
} from '../../actors/mail.ts';
import { type LocalMessage, type NodeEvent, type Payload, peerOfActor } from '../../actors/turn.ts';
import { hexOf } from '../../protocol/bytes.ts';
import {
  CHANNEL_BLOCKSYNC,
  CHANNEL_EVIDENCE,
  CHANNEL_MEMPOOL,
  type ConsensusMessage,
} from '../../protocol/messages.ts';
import { isRefusal } from '../../protocol/refusal.ts';
import { type BlockId, PREVOTE, type Vote } from '../../protocol/types.ts';
import { isNilBlockId } from '../../protocol/validate.ts';
import { decodeConsensusMessage } from '../../protocol/wire/index.ts';
import { type Codec, decodeWords } from '../../protocol/words.ts';
import { STEP_TEXT } from '../../sim/steps.ts';
import type { TraceRecord } from '../kernel/trace.ts';

const WORDS: Readonly<Record<string, Codec<LocalMessage>>> = {
  validator: validatorMail,
  mempool: mempoolMail,
  blocksync: blocksyncMail,
  signer: signerMail,
  app: appMail,
  dialer: dialerMail,
};

/** The message of a recorded turn; null when it does not decode. */
export function messageOfRecord(record: Extract<TraceRecord, { kind: 'turn' }>): LocalMessage | null {
  const words = peerOfActor(record.actor) === null ? WORDS[record.actor] : (peerMail as Codec<LocalMessage>);
  return words ? decodeWords(words, record.message.slice()) : null;
}

export const shortHash = (bytes: Uint8Array): string => hexOf(bytes.subarray(0, 4));
export const blockName = (id: BlockId | null): string =>
  id === null || isNilBlockId(id) ? 'nil' : shortHash(id.hash);

/** What nodes are called, by what messages know of them. */
export interface Names {
  readonly byPeer: (peer: string) => string;
  readonly byAddress: (address: Uint8Array) => string;
}

export const voteName = (vote: Vote, names: Names): string =>
  `${vote.type === PREVOTE ? 'prevote' : 'precommit'} ${vote.height}/${vote.round} ` +
  `${blockName(vote.blockId)} of ${names.byAddress(vote.validatorAddress)}`;

export function consensusName(message: ConsensusMessage, names: Names): string {
  switch (message.type) {
    case 'vote':
      return voteName(message.vote, names);
    case 'proposal': {
      const { height, round, blockId, polRound } = message.proposal;
      return `proposal ${height}/${round} ${blockName(blockId)}${polRound < 0 ? '' : ` (POL of round ${polRound})`}`;
    }
    case 'block-part':
      return `block-part ${message.height}/${message.round} #${message.part.index}`;
    case 'proposal-pol':
      return `proposal-pol ${message.height}/${message.polRound}`;
    default:
      return `${message.type} ${message.height}/${message.round}`;
  }
}

function payloadName({ channel, bytes }: Payload, names: Names): string {
  if (channel === CHANNEL_MEMPOOL) return 'txs';
  if (channel === CHANNEL_BLOCKSYNC) return 'block sync';
  if (channel === CHANNEL_EVIDENCE) return 'evidence';
  if (channel < CHANNEL_MEMPOOL && channel >= 0x20) {
    const message = decodeConsensusMessage(bytes);
    return isRefusal(message) ? 'bytes that do not decode' : consensusName(message, names);
  }
  return 'greeting';
}

export function messageName(message: LocalMessage, names: Names): string {
  switch (message.type) {
    case 'heard': {
      const payloads = (message['payloads'] as readonly Payload[]).map((each) => payloadName(each, names));
      return `heard from ${names.byPeer(String(message['peer']))}: ${payloads.join(', ')}`;
    }
    case 'timer':
      return `timer "${String(message['timer'])}"`;
    case 'signed-vote':
    case 'signed-before':
    case 'sign-vote':
      return `${message.type}: ${voteName(message['vote'] as Vote, names)}`;
    case 'answer':
      return `answer of the application: ${String((message['response'] as { type: string }).type)}`;
    case 'request':
      return `request to the application: ${String((message['request'] as { type: string }).type)}`;
    default:
      return message.type;
  }
}

/**
 * What a node published, in a few words; null: not worth a line. `nameOf` tells a peer's name from its id.
 */
export function eventName(event: NodeEvent, nameOf: (peer: string) => string): string | null {
  switch (event.type) {
    case 'step':
      return `${event.height}/${event.round} ${STEP_TEXT[event.step] ?? event.step}`;
    case 'committed':
      return `${event.height} committed ${shortHash(event.hash)} (${event.txs} tx)`;
    case 'locked':
    case 'valid':
      return `${event.height}/${event.round} ${event.type} ${shortHash(event.hash)}`;
    case 'refused':
      return `${event.height} refused ${shortHash(event.hash)}: ${event.because}`;
    case 'warning':
    case 'halted':
      return `${event.type}: ${event.what}`;
    case 'peer':
      return `${nameOf(event.peer)} ${event.up ? 'greeted' : 'gone'}`;
    case 'checked':
      return event.because === '' ? null : `tx ${shortHash(event.hash)} refused: ${event.because}`;
    case 'evidence':
      return event.validator.length > 0
        ? `evidence against ${shortHash(event.validator)} at ${event.height}`
        : `evidence of an attack on light clients at ${event.height}`;
    case 'mode':
      return `mode ${event.mode}`;
    case 'applied':
      return null;
  }
}

/** Nanoseconds as seconds with microseconds: `12.345678`. */
export function secondsOf(ns: bigint | number): string {
  const us = BigInt(Math.round(Number(ns) / 1000));
  const whole = us < 0n ? -us : us;
  return `${us < 0n ? '-' : ''}${whole / 1_000_000n}.${String(whole % 1_000_000n).padStart(6, '0')}`;
}

const UNITS: readonly (readonly [number, string])[] = [
  [1e9, 'GB'],
  [1e6, 'MB'],
  [1e3, 'kB'],
];

export function bytesName(bytes: number): string {
  for (const [size, unit] of UNITS) if (bytes >= size) return `${(bytes / size).toFixed(1)} ${unit}`;
  return `${bytes} bytes`;
}

/** Of an even number, the greater of the middle two; 0 of none. */
export const medianOf = (values: readonly number[]): number =>
  [...values].sort((a, b) => a - b)[values.length >> 1] ?? 0;

/** 1234567 as `1,234,567`. */
export const grouped = (value: number | bigint): string =>
  String(value).replace(/\B(?=(\d{3})+(?!\d))/g, ',');

/** `1 seed`, `2 seeds`. */
export const counted = (count: number | bigint, what: string): string =>
  `${grouped(count)} ${what}${BigInt(count) === 1n ? '' : 's'}`;
