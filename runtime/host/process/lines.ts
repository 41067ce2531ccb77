// What a node says to the person who runs it of what it publishes: one line, or nothing where nothing is new to a person.

import type { NodeEvent } from '../../../actors/turn.ts';
import { hexOf } from '../../../protocol/bytes.ts';

const MODE_TEXT: Readonly<Record<string, string>> = {
  handshake: 'asks the application how far it is',
  sync: 'looks for blocks that it lacks',
  consensus: 'takes part in consensus',
};

export class Lines {
  /** Where the node stands: a round has many steps, and is told once. */
  private height = -1n;
  private round = 0;

  /** Null: nothing to say. */
  of(event: NodeEvent): string | null {
    switch (event.type) {
      case 'step':
        return this.ofStep(event);
      case 'committed': {
        const late = event.round > 0 ? `, round ${event.round}` : '';
        const block = hexOf(event.hash).slice(0, 8);
        return `committed height ${event.height}${late}, block ${block}, ${event.txs} txs, app hash ${hexOf(event.appHash)}`;
      }
      case 'mode':
        return MODE_TEXT[event.mode] ?? event.mode;
      case 'peer':
        return `peer ${event.peer.slice(0, 8)} ${event.up ? 'is here' : 'is gone'}`;
      case 'warning':
        return `warning: ${event.what}`;
      case 'refused':
        return `warning: block ${hexOf(event.hash).slice(0, 12)} of height ${event.height} is invalid: ${event.because}`;
      case 'evidence':
        return event.validator.length > 0
          ? `evidence against ${hexOf(event.validator).slice(0, 8)} of height ${event.height}`
          : `evidence of an attack on light clients of height ${event.height}`;
      case 'applied':
      case 'checked':
      case 'halted':
      case 'locked':
      case 'valid':
        return null;
    }
  }

  private ofStep({ height, round }: Extract<NodeEvent, { type: 'step' }>): string | null {
    const isNew = height !== this.height || round !== this.round;
    this.height = height;
    this.round = round;
    return isNew && round > 0 ? `height ${height} goes to round ${round}` : null;
  }
}
