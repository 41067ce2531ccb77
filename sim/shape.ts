// The shape of a run: SHA-256 over (time, node, actor, kind of message, height, round) of every turn. No signature and no hash enters it,
// so that a run in sim-crypto and the same run in ed25519 have the same shape.

import { hexOf } from '../protocol/bytes.ts';
import { CHANNEL_DATA, CHANNEL_STATE, CHANNEL_VOTE, CHANNEL_VOTE_SET_BITS } from '../protocol/messages.ts';
import { RunningDigest } from '../runtime/kernel/digest.ts';
import type { TurnRecord } from '../runtime/kernel/record.ts';
import type { Machine } from './machine.ts';

/** Places in `portAnswers`, which every actor's mail begins with. */
const TAG_TIMER = 0;
const TAG_HEARD = 3;
const TIME_SPLIT = 0x1_0000_0000;

export class Shape {
  private readonly digest = new RunningDigest();

  turn(at: Machine, record: TurnRecord, nowNs: number): void {
    const { digest } = this;
    digest.addU32(at.index);
    digest.addU32(Math.floor(nowNs / TIME_SPLIT));
    digest.addU32(nowNs % TIME_SPLIT);
    const { input, kind } = record;
    const nameEnd = 5 + u32(input, 1);
    digest.addPart(input, 0, nameEnd);
    if (kind !== 'turn') return;
    // After the name: wall and monotonic time, then the draws.
    const tagAt = nameEnd + 20 + 4 * u32(input, nameEnd + 16);
    const tag = input[tagAt] as number;
    digest.addU32(tag);
    if (tag === TAG_HEARD) this.heard(input, tagAt + 1);
    else if (tag === TAG_TIMER) digest.addPart(input, tagAt + 1, input.length);
    else {
      digest.addU32(Number(at.height));
      digest.addU32(at.round);
    }
  }

  private heard(input: Uint8Array, start: number): void {
    const { digest } = this;
    let at = start + 4 + u32(input, start);
    digest.addPart(input, start, at);
    const count = u32(input, at);
    at += 4;
    for (let i = 0; i < count; i++) {
      const channel = input[at] as number;
      const size = u32(input, at + 1);
      const from = at + 5;
      digest.addU32(channel);
      digest.addU32(size === 0 ? 0 : (input[from] as number));
      if (isConsensus(channel)) this.place(input, from, from + size);
      at = from + size;
    }
  }

  /**
   * Height and round as the protobuf of a consensus message has them: in the message itself, or in the vote
   * or proposal inside it.
   */
  private place(input: Uint8Array, start: number, end: number): void {
    const cursor = { at: start + 1, end };
    const field = (input[start] as number) >> 3;
    varint(input, cursor);
    if (field === FIELD_VOTE || field === FIELD_PROPOSAL) {
      cursor.at++;
      varint(input, cursor);
      this.numbers(input, cursor, 2);
    } else this.numbers(input, cursor, 1);
  }

  /** The varint fields `first` (height) and `first + 1` (round); a missing one is 0. */
  private numbers(input: Uint8Array, cursor: Cursor, first: number): void {
    let height = 0;
    let round = 0;
    while (cursor.at < cursor.end) {
      const key = input[cursor.at] as number;
      if ((key & 7) !== 0 || key >> 3 > first + 1) break;
      cursor.at++;
      const value = varint(input, cursor);
      if (key >> 3 === first) height = value;
      else if (key >> 3 === first + 1) round = value;
    }
    this.digest.addU32(height);
    this.digest.addU32(round);
  }

  /** 64 lower-case hex digits. */
  read(): string {
    return hexOf(this.digest.read());
  }
}

/** Fields of tendermint.consensus.Message whose one field holds the height. */
const FIELD_PROPOSAL = 3;
const FIELD_VOTE = 6;

const isConsensus = (channel: number): boolean =>
  channel === CHANNEL_STATE ||
  channel === CHANNEL_DATA ||
  channel === CHANNEL_VOTE ||
  channel === CHANNEL_VOTE_SET_BITS;

const u32 = (bytes: Uint8Array, at: number): number =>
  ((bytes[at] as number) |
    ((bytes[at + 1] as number) << 8) |
    ((bytes[at + 2] as number) << 16) |
    ((bytes[at + 3] as number) << 24)) >>>
  0;

interface Cursor {
  at: number;
  readonly end: number;
}

/** The low 32 bits of a varint; what runs over the end (a corrupted message) stops there. */
function varint(bytes: Uint8Array, cursor: Cursor): number {
  let value = 0;
  for (let shift = 0; cursor.at < cursor.end; shift += 7) {
    const byte = bytes[cursor.at++] as number;
    if (shift < 32) value |= (byte & 127) << shift;
    if (byte < 128) break;
  }
  return value >>> 0;
}
