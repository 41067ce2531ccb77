// Replay: no world runs. Each actor gets its recorded turns again, and what it does must have the recorded digest, turn by turn.

import type { ActorName, AnyLogic, Effect, LocalMessage, NodeCast, NodeEvent } from '../../actors/turn.ts';
import { Bug, must } from '../../protocol/refusal.ts';
import { type Codec, decodeWords, Writer } from '../../protocol/words.ts';
import { RunningDigest } from './digest.ts';
import { writeEffect } from './effects.ts';
import { OneTurn } from './record.ts';
import { DIGEST_BYTES, type TraceHeader, type TraceRecord } from './trace.ts';

export interface Divergence {
  /** The number of the record, the header being 0. */
  readonly record: number;
  readonly node: number;
  readonly actor: ActorName;
  readonly message: string;
  readonly why: string;
}

export interface Replayed {
  readonly kind: TraceRecord['kind'];
  readonly node: number;
  readonly actor: ActorName;
  readonly message: LocalMessage | null;
  readonly effects: readonly Effect[];
  /** What it threw, as it had when it was recorded: a turn without effects, and the last of its node. */
  readonly threw?: string;
}

interface ReplayedActor {
  readonly logic: AnyLogic;
  readonly state: unknown;
}

interface Life {
  readonly cast: NodeCast;
  digest: RunningDigest;
  cells: Map<ActorName, ReplayedActor>;
}

export class Replay {
  private readonly lives: Life[];
  private readonly turn = new OneTurn();
  private readonly output = new Writer(4096);
  records = 0;

  constructor(header: TraceHeader, castOf: (node: unknown) => NodeCast) {
    this.lives = header.nodes.map((node) => ({
      cast: castOf(node),
      digest: new RunningDigest(),
      cells: new Map(),
    }));
  }

  /** A node's actor, for people who stop a replay and look. */
  peek(node: number, actor: ActorName): unknown {
    return this.lives[node]?.cells.get(actor)?.state;
  }

  step(record: TraceRecord): Replayed | Divergence {
    this.records++;
    const life = this.lives[record.node];
    if (!life) return this.diverges(record, '', `the header names no node ${record.node}`);
    if (record.kind === 'boot') this.maybeNewLife(life, record);
    const done = this.play(life, record);
    if ('why' in done) return done;
    life.digest.add(record.input);
    this.output.clear();
    const threw = done.threw ?? this.wrote(life, done.effects);
    if (threw !== undefined) this.output.clear();
    life.digest.add(this.output.peek());
    const digest = life.digest.read();
    for (let i = 0; i < DIGEST_BYTES; i++) {
      if (digest[i] === record.digest[i]) continue;
      const why =
        threw === undefined ? 'it did something else than what was recorded' : `the actor threw: ${threw}`;
      return this.diverges(record, done.message?.type ?? '', why);
    }
    return threw === undefined ? done : { ...done, effects: [], threw };
  }

  /** What it threw when what the actor wants to say has no bytes. */
  private wrote(life: Life, effects: readonly Effect[]): string | undefined {
    const wordsOf = (actor: ActorName): Codec<LocalMessage> | undefined => life.cells.get(actor)?.logic.words;
    try {
      for (const effect of effects) writeEffect(this.output, effect, wordsOf);
      return undefined;
    } catch (error) {
      return textOf(error);
    }
  }

  /** The first actor of a boot begins a new life: nothing of the old one is left. */
  private maybeNewLife(life: Life, record: TraceRecord): void {
    const first = life.cast.logics[0]?.name;
    if (record.actor !== first) return;
    life.cells = new Map();
    life.digest = new RunningDigest();
  }

  private play(life: Life, record: TraceRecord): Replayed | Divergence {
    const { node, actor, kind } = record;
    if (kind === 'stop') {
      life.cells.delete(actor);
      return { kind, node, actor, message: null, effects: [] };
    }
    const draws = [...record.draws];
    this.turn.begin(record.wallNs, record.monoNs, () => draws.shift() ?? outOfDraws());
    try {
      if (kind === 'turn') return this.playTurn(life, record);
      const logic =
        kind === 'boot' ? life.cast.logics.find((each) => each.name === actor) : life.cast.spawn(actor);
      must(logic !== undefined, `no actor ${actor} in this cast`);
      const { state, effects } = logic.start(record.boot, this.turn);
      life.cells.set(actor, { logic, state });
      return { kind, node, actor, message: null, effects };
    } catch (error) {
      return { kind, node, actor, message: null, effects: [], threw: textOf(error) };
    }
  }

  private playTurn(life: Life, record: Extract<TraceRecord, { kind: 'turn' }>): Replayed | Divergence {
    const cell = life.cells.get(record.actor);
    if (!cell) return this.diverges(record, '', 'this actor does not live here');
    // A message is decoded from its own copy, as nothing of the trace may be shared with what the actor keeps.
    const message = decodeWords(cell.logic.words, record.message.slice()) as LocalMessage | null;
    if (!message) return this.diverges(record, '', 'the message does not decode in the words of its actor');
    const effects = cell.logic.receive(cell.state, message, this.turn);
    return { kind: 'turn', node: record.node, actor: record.actor, message, effects };
  }

  private diverges(record: TraceRecord, message: string, why: string): Divergence {
    return { record: this.records, node: record.node, actor: record.actor, message, why };
  }
}

const textOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

const outOfDraws = (): never => {
  throw new Bug('drew more often than recorded');
};

/** The events that the actors published in a replayed turn. */
export function* publishedIn(effects: readonly Effect[]): Generator<NodeEvent> {
  for (const effect of effects) if (effect.type === 'publish') yield effect.event;
}
