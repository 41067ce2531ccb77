// Canonical bytes of effects: what a digest covers of what an actor did. Tags are append-only, as they stand in every digest.

import {
  type ActorName,
  type Effect,
  type LocalMessage,
  nodeEvent,
  type Payload,
  type PeerId,
  type Write,
} from '../../actors/turn.ts';
import { must } from '../../protocol/refusal.ts';
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
  switch (effect.type) {
    case 'append':
      w.u8(TAG.append);
      w.text(effect.log);
      return w.bytes(effect.record);
    case 'sync':
      w.u8(TAG.sync);
      return w.text(effect.log);
    case 'trim':
      w.u8(TAG.trim);
      w.text(effect.log);
      return w.u32(effect.keep);
    case 'store':
      w.u8(TAG.store);
      w.text(effect.store);
      w.u8(effect.durable ? 1 : 0);
      w.u32(effect.writes.length);
      for (let i = 0; i < effect.writes.length; i++) {
        const write = effect.writes[i] as Write;
        w.u8(write.remove ? 1 : 0);
        w.bytes(write.key);
        w.bytes(write.value);
      }
      return;
    case 'load':
      w.u8(TAG.load);
      w.text(effect.store);
      w.bytes(effect.from);
      w.bytes(effect.to);
      w.u32(effect.limit);
      w.u8(effect.which === 'first' ? 0 : 1);
      return w.u32(effect.tag);
    case 'sign':
      w.u8(TAG.sign);
      w.u32(effect.tag);
      return w.bytes(effect.bytes);
    case 'send':
      w.u8(TAG.send);
      w.u32(effect.to.length);
      for (let i = 0; i < effect.to.length; i++) w.text(effect.to[i] as PeerId);
      w.u32(effect.payloads.length);
      for (let i = 0; i < effect.payloads.length; i++) {
        const { channel, bytes } = effect.payloads[i] as Payload;
        w.u8(channel);
        w.bytes(bytes);
      }
      return;
    case 'tell':
      w.u8(TAG.tell);
      w.text(effect.to);
      wordsOf(effect.to)?.write(w, effect.message);
      return;
    case 'schedule':
      w.u8(TAG.schedule);
      w.text(effect.timer);
      must(effect.afterNs >= 0n, `the timer ${effect.timer} is asked for a time in the past`);
      return w.i64(effect.afterNs);
    case 'publish':
      w.u8(TAG.publish);
      return nodeEvent.write(w, effect.event);
    case 'score':
      w.u8(TAG.score);
      w.text(effect.peer);
      w.text(effect.because);
      return w.u8(effect.drop ? 1 : 0);
    case 'dial':
      w.u8(TAG.dial);
      w.text(effect.peer);
      return w.text(effect.address);
    case 'cancel':
      w.u8(TAG.cancel);
      return w.text(effect.timer);
    case 'spawn':
    case 'stop':
      w.u8(TAG[effect.type]);
      return w.text(effect.actor);
  }
}
