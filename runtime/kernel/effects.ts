// Canonical bytes of effects: what a digest covers of what an actor did. Tags are append-only, as they stand in every digest.

import { type ActorName, type Effect, type LocalMessage, nodeEvent } from '../../actors/turn.ts';
import type { Codec, Writer } from '../../protocol/words.ts';

/** The receiver's codec for a local message; undefined when nobody of that name lives here. */
export type WordsOf = (actor: ActorName) => Codec<LocalMessage> | undefined;

const TAG = {
  append: 1,
  sync: 2,
  trim: 3,
  store: 4,
  load: 5,
  sign: 6,
  send: 7,
  tell: 8,
  schedule: 9,
  cancel: 10,
  publish: 11,
  score: 12,
  dial: 13,
  spawn: 14,
  stop: 15,
} as const satisfies Record<Effect['type'], number>;

export function writeEffect(w: Writer, effect: Effect, wordsOf: WordsOf): void {
  w.u8(TAG[effect.type]);
  switch (effect.type) {
    case 'append':
      w.text(effect.log);
      return w.bytes(effect.record);
    case 'sync':
      return w.text(effect.log);
    case 'trim':
      w.text(effect.log);
      return w.u32(effect.keep);
    case 'store':
      w.text(effect.store);
      w.u8(effect.durable ? 1 : 0);
      w.u32(effect.writes.length);
      for (const write of effect.writes) {
        w.u8(write.remove ? 1 : 0);
        w.bytes(write.key);
        w.bytes(write.value);
      }
      return;
    case 'load':
      w.text(effect.store);
      w.bytes(effect.from);
      w.bytes(effect.to);
      w.u32(effect.limit);
      return w.u32(effect.tag);
    case 'sign':
      w.u32(effect.tag);
      return w.bytes(effect.bytes);
    case 'send':
      w.u32(effect.to.length);
      for (const peer of effect.to) w.text(peer);
      w.u32(effect.payloads.length);
      for (const { channel, bytes } of effect.payloads) {
        w.u8(channel);
        w.bytes(bytes);
      }
      return;
    case 'tell':
      w.text(effect.to);
      wordsOf(effect.to)?.write(w, effect.message);
      return;
    case 'schedule':
      w.text(effect.timer);
      return w.i64(effect.afterNs);
    case 'publish':
      return nodeEvent.write(w, effect.event);
    case 'score':
      w.text(effect.peer);
      w.text(effect.because);
      return w.u8(effect.drop ? 1 : 0);
    case 'dial':
      w.text(effect.peer);
      return w.text(effect.address);
    case 'cancel':
      return w.text(effect.timer);
    case 'spawn':
    case 'stop':
      return w.text(effect.actor);
  }
}
