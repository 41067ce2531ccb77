// One turn as it is recorded: what an actor was given (the turn's clocks and draws, the message, or what it read at boot) and what it did,
// in canonical bytes.

import type { ActorName, Boot, LocalMessage, Turn } from '../../actors/turn.ts';
import { unreachable } from '../../protocol/refusal.ts';
import type { Codec, Writer } from '../../protocol/words.ts';

/** The turn that is handed to actors: one object, refilled, because turns are many. */
export class OneTurn implements Turn {
  wallNs = 0n;
  monoNs = 0n;
  readonly draws: number[] = [];
  private source: (bound: number) => number = () => unreachable('no turn runs');

  begin(wallNs: bigint, monoNs: bigint, source: (bound: number) => number): void {
    this.wallNs = wallNs;
    this.monoNs = monoNs;
    this.source = source;
    if (this.draws.length > 0) this.draws.length = 0; // setting a length is slow
  }

  draw(bound: number): number {
    const value = this.source(bound);
    this.draws.push(value);
    return value;
  }
}

/** What a recorder sees of each turn, before its effects are released. */
export interface TurnRecord {
  readonly kind: 'boot' | 'turn' | 'spawn' | 'stop';
  readonly actor: ActorName;
  /** The canonical bytes of the turn's input: see `writeInput`. A view, made when asked for: copy what you keep. */
  readonly input: Uint8Array;
  /** The canonical bytes of its effects, likewise. */
  readonly effects: Uint8Array;
}

/** One record, refilled at every turn: most watchers never look at the bytes. */
export class LastTurn implements TurnRecord {
  kind: TurnRecord['kind'] = 'turn';
  actor: ActorName = '';
  private writer: Writer | null = null;
  private start = 0;
  private middle = 0;
  private end = 0;

  begin(writer: Writer): void {
    this.writer = writer;
    this.start = writer.length;
    this.middle = writer.length;
    this.end = writer.length;
  }

  /** The bytes that are being written. */
  written(): Writer {
    return this.writer as Writer;
  }

  inputEnds(): void {
    this.middle = this.writer?.length ?? 0;
  }

  effectsEnd(): void {
    this.end = this.writer?.length ?? 0;
  }

  get input(): Uint8Array {
    return (this.writer as Writer).between(this.start, this.middle);
  }

  get effects(): Uint8Array {
    return (this.writer as Writer).between(this.middle, this.end);
  }
}

export const KIND = { boot: 0, turn: 1, spawn: 2, stop: 3 } as const;

function writeTurn(w: Writer, turn: OneTurn): void {
  w.i64(turn.wallNs);
  w.i64(turn.monoNs);
  w.u32(turn.draws.length);
  for (let i = 0; i < turn.draws.length; i++) w.u32(turn.draws[i] as number);
}

export function writeInput(
  w: Writer,
  actor: ActorName,
  turn: OneTurn,
  words: Codec<LocalMessage>,
  message: LocalMessage,
): void {
  w.u8(KIND.turn);
  w.text(actor);
  writeTurn(w, turn);
  words.write(w, message);
}

export function writeBoot(
  w: Writer,
  kind: 'boot' | 'spawn',
  actor: ActorName,
  turn: OneTurn,
  boot: Boot,
): void {
  w.u8(KIND[kind]);
  w.text(actor);
  writeTurn(w, turn);
  w.u32(boot.logs.length);
  for (const log of boot.logs) {
    w.u32(log.length);
    for (const record of log) w.bytes(record);
  }
  w.u32(boot.stores.length);
  for (const pairs of boot.stores) {
    w.u32(pairs.length);
    for (const { key, value } of pairs) {
      w.bytes(key);
      w.bytes(value);
    }
  }
}
