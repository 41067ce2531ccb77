// What an application of one's own makes of the transactions that it is given for a block: what it adds is its own word, and what it leaves out is to
// wait. An application of ours adds nothing and leaves nothing out.

import type { AppMail, ValidatorMail } from '../../../actors/mail.ts';
import { byteKey } from '../../../protocol/bytes.ts';
import { type Machine, OWN_APPLICATION } from '../../machine.ts';
import { PerMachine } from './per-machine.ts';

export interface Choice {
  readonly height: bigint;
  readonly leftOut: readonly Uint8Array[];
  readonly added: readonly Uint8Array[];
}

interface Asked {
  readonly height: bigint;
  readonly txs: readonly Uint8Array[];
}

export class Chosen {
  /** By tag. In this life. */
  private readonly open = new PerMachine(() => new Map<number, Asked>());

  starts(at: Machine): void {
    this.open.delete(at);
  }

  /** What actors of a node say to each other. Null: no application has chosen by that. */
  hears(at: Machine, mail: { readonly type: string }): Choice | null {
    if (at.config.app !== OWN_APPLICATION) return null;
    if (mail.type === 'request') this.asks(at, mail as Extract<AppMail, { type: 'request' }>);
    return mail.type === 'answer'
      ? this.answers(at, mail as Extract<ValidatorMail, { type: 'answer' }>)
      : null;
  }

  private asks(at: Machine, { tag, request }: Extract<AppMail, { type: 'request' }>): void {
    if (request.type !== 'prepare-proposal') return;
    const { height, txs } = request.value;
    this.open.of(at).set(tag, { height, txs });
  }

  private answers(at: Machine, { tag, response }: Extract<ValidatorMail, { type: 'answer' }>): Choice | null {
    if (response.type !== 'prepare-proposal') return null;
    const asked = this.open.of(at).get(tag);
    if (!asked || !this.open.of(at).delete(tag)) return null;
    const { txs } = response.value;
    return { height: asked.height, leftOut: without(asked.txs, txs), added: without(txs, asked.txs) };
  }
}

function without(txs: readonly Uint8Array[], others: readonly Uint8Array[]): Uint8Array[] {
  const known = new Set(others.map(byteKey));
  return txs.filter((tx) => !known.has(byteKey(tx)));
}
