// A world of one node for the kernel's own tests: ports that do nothing by themselves, and actors that do what their message says.

import type { Effect, LocalMessage, Logic, PeerId } from '../../../actors/turn.ts';
import { portAnswers } from '../../../actors/turn.ts';
import { unreachable } from '../../../protocol/refusal.ts';
import { type Of, text, u32, union } from '../../../protocol/words.ts';
import { Node, type Watcher } from '../../../runtime/kernel/node.ts';
import type { NetListener, Ports, Timer } from '../../../runtime/kernel/ports.ts';
import type { TurnRecord } from '../../../runtime/kernel/record.ts';

export const words = union({
  ...portAnswers,
  go: { n: u32 },
  up: { peer: text },
  down: { peer: text },
  connected: {},
  disconnected: {},
});
export type Word = Of<typeof words>;

export interface Scripted {
  readonly heard: string[];
}

export const shortOf = (message: LocalMessage): string =>
  message.type === 'go'
    ? `go ${message.n}`
    : message.type === 'timer'
      ? `timer ${message.timer}`
      : message.type;

/** An actor that answers each message with the effects that the script has for it. */
export function scripted(
  name: string,
  script: (message: LocalMessage) => readonly Effect[],
  started: readonly Effect[] = [],
): Logic<Scripted, Word> {
  return {
    name,
    words,
    reads: { logs: [], stores: [] },
    start: () => ({ state: { heard: [] }, effects: started }),
    receive: (state, message) => {
      state.heard.push(shortOf(message));
      return script(message);
    },
  };
}

interface Waiting {
  readonly what: string;
  readonly done: () => void;
}

export class Bench {
  readonly node: Node;
  /** Effects that reached a port, in order. */
  readonly done: string[] = [];
  /** Syncs and durable stores that are not durable yet. */
  readonly waiting: Waiting[] = [];
  readonly mail: (() => void)[] = [];
  readonly timers: { readonly due: () => void; isCancelled: boolean }[] = [];
  readonly records: (Pick<TurnRecord, 'kind' | 'actor'> & { input: Uint8Array; effects: Uint8Array })[] = [];
  readonly bugs: unknown[] = [];
  readonly lost: string[] = [];
  net: NetListener | null = null;
  leaving: ((effect: Effect) => boolean) | null = null;
  /** The node dies inside the append of this record. */
  diesAtRecord = -1;

  constructor(logics: readonly Logic<Scripted, Word>[], spawn?: (name: string) => Logic<Scripted, Word>) {
    const watcher: Watcher = {
      turn: (_, { kind, actor, input, effects }) =>
        this.records.push({ kind, actor, input: input.slice(), effects: effects.slice() }),
      leaving: (_, __, effect) => this.leaving?.(effect) ?? false,
      bug: (_, __, error) => this.bugs.push(error),
      lost: (_, actor) => this.lost.push(actor),
      published: (_, __, event) => this.done.push(`publish ${event.type}`),
    };
    this.node = new Node({
      id: 'me',
      logics,
      spawn: spawn ?? (() => unreachable('nobody spawns')),
      ports: this.ports(),
      watcher,
      ownerOf: (channel: number, peer: PeerId) =>
        channel === 9 ? `peer:${peer}` : channel === 1 ? 'a' : 'b',
    });
    this.node.start();
  }

  private ports(): Ports {
    return {
      clock: {
        wallNs: () => 7n,
        monoNs: () => 8n,
        after: (_, due): Timer => {
          const timer = { due, isCancelled: false };
          this.timers.push(timer);
          return {
            cancel: () => {
              timer.isCancelled = true;
            },
          };
        },
      },
      random: { draw: (bound) => bound - 1 },
      mail: { carry: (_, __, deliver) => this.mail.push(deliver) },
      net: {
        listen: (listener) => {
          this.net = listener;
        },
        dial: (peer) => this.done.push(`dial ${peer}`),
        send: (to) => this.done.push(`send ${to.join()}`),
        close: (peer) => this.done.push(`close ${peer}`),
      },
      sign: { publicKey: new Uint8Array(32), sign: (bytes) => this.done.push(`sign ${bytes[0]}`) },
      log: (name) => ({
        append: (record) => {
          this.done.push(`append ${name} ${record[0]}`);
          if (record[0] === this.diesAtRecord) this.node.halt();
        },
        sync: (done) => {
          this.done.push(`sync ${name}`);
          this.waiting.push({ what: name, done });
        },
        read: () => [],
        trim: (keep) => this.done.push(`trim ${name} ${keep}`),
      }),
      store: (name) => ({
        write: (writes, flushed) => {
          this.done.push(`store ${name} ${writes[0]?.key[0]}${flushed ? ' durable' : ''}`);
          if (flushed) this.waiting.push({ what: name, done: flushed });
        },
        get: () => undefined,
        range: () => [],
      }),
    };
  }

  go(actor: string, n: number): void {
    this.node.deliver(actor, { type: 'go', n });
  }

  /** The oldest of what is not durable becomes durable. */
  becomeDurable(): boolean {
    const next = this.waiting.shift();
    next?.done();
    return next !== undefined;
  }

  carryMail(): void {
    for (let deliver = this.mail.shift(); deliver; deliver = this.mail.shift()) deliver();
  }

  /** Timers that are due now, cancelled ones left aside. */
  fireTimers(): void {
    for (const { due, isCancelled } of this.timers.splice(0)) if (!isCancelled) due();
  }
}
