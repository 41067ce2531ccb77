// Runs one actor without a kernel: mail in (through its codec), effects out, a clock that the test turns.

import type { Boot, Effect, Logic, Turn } from '../../actors/turn.ts';
import { unreachable } from '../../protocol/refusal.ts';
import { decodeWords, encodeWords } from '../../protocol/words.ts';

export const NO_BOOT: Boot = { logs: [], stores: [] };

export class Driven<State, Message extends { readonly type: string }> implements Turn {
  readonly logic: Logic<State, Message>;
  readonly state: State;
  readonly started: readonly Effect[];
  wallNs: bigint;
  monoNs = 0n;

  constructor(logic: Logic<State, Message>, boot: Boot = NO_BOOT, wallNs = 1_700_000_000_000_000_000n) {
    this.logic = logic;
    this.wallNs = wallNs;
    const { state, effects } = logic.start(boot, this);
    this.state = state;
    this.started = effects;
  }

  draw(bound: number): number {
    return Math.floor(bound / 2);
  }

  /** The message as the kernel would replay it: from its bytes. */
  tell(message: Message): readonly Effect[] {
    const words = encodeWords(this.logic.words, message);
    const again = decodeWords(this.logic.words, words) ?? unreachable(`${message.type} does not come back`);
    return this.logic.receive(this.state, again, this);
  }
}

/** Effects of one type. */
export function only<T extends Effect['type']>(
  effects: readonly Effect[],
  type: T,
): Extract<Effect, { type: T }>[] {
  return effects.filter((effect): effect is Extract<Effect, { type: T }> => effect.type === type);
}

/** One word per effect, for the `says` column. */
export const said = (effects: readonly Effect[]): string[] => effects.map(shortOf);

function shortOf(effect: Effect): string {
  switch (effect.type) {
    case 'append':
    case 'sync':
    case 'trim':
      return `${effect.type} ${effect.log}`;
    case 'store':
      return `store ${effect.store}${effect.durable ? ' durable' : ''}`;
    case 'tell':
      return `tell ${effect.to} ${effect.message.type}`;
    case 'send':
      return `send ${effect.to.join()}`;
    case 'publish':
      return `publish ${effect.event.type}`;
    case 'score':
      return `${effect.drop ? 'drop' : 'score'} ${effect.peer}`;
    case 'schedule':
    case 'cancel':
      return `${effect.type} ${effect.timer}`;
    case 'dial':
      return `dial ${effect.peer}`;
    default:
      return effect.type;
  }
}
