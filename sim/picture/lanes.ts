// Where each node stood when the picture begins: what the marks that there was no room for came to.

import type { Row } from './columns.ts';
import { MARKS, type NodeBefore } from './picture.ts';

type State = { -readonly [K in keyof NodeBefore]: NodeBefore[K] };

const NOTHING = -1;
const unborn = (): State => ({
  height: 0,
  round: 0,
  step: 0,
  lock: NOTHING,
  value: NOTHING,
  mode: 'down',
  decided: 0,
  lives: 0,
});

export class Lanes {
  private states: State[] = [];
  private textOf: (index: number) => string = () => '';

  begin(nodes: number, textOf: (index: number) => string): void {
    this.states = Array.from({ length: nodes }, unborn);
    this.textOf = textOf;
  }

  /** This mark is let go. The page does the same with those that it has. */
  pass({
    node,
    what,
    height,
    round,
    block,
    more,
  }: Row<'node' | 'what' | 'height' | 'round' | 'block' | 'more'>) {
    const state = this.states[node] as State;
    switch (MARKS[what]) {
      case 'starts':
        state.lives = more;
        state.mode = 'handshake';
        return;
      case 'crashes':
        Object.assign(state, { mode: 'down', step: 0, lock: NOTHING, value: NOTHING });
        return;
      case 'mode':
        state.mode = this.textOf(more);
        return;
      case 'enters':
        Object.assign(state, { height, round, step: more });
        return;
      case 'locks':
        state.lock = block;
        return;
      case 'values':
        state.value = block;
        return;
      case 'decides':
        Object.assign(state, { decided: height, lock: NOTHING, value: NOTHING });
        return;
      default:
    }
  }

  get before(): readonly NodeBefore[] {
    return this.states;
  }
}
