// One actor in its node: its xstate actor, its state, its timers, and the effects that wait for its disk.

import { type AnyActorLogic, createActor } from 'xstate';
import type { AnyLogic, Effect, LocalMessage, Turn } from '../../actors/turn.ts';
import type { Timer } from './ports.ts';

/** What xstate sends an actor that is stopped; ours have nothing left to say then. */
const XSTATE_STOP = 'xstate.stop';

export interface CellOwner {
  /** What its effects waited for is durable. */
  readonly resume: (cell: Cell) => void;
  /** It threw. */
  readonly bug: (error: unknown) => void;
}

export class Cell {
  readonly logic: AnyLogic;
  readonly state: unknown;
  /** Effects behind a sync that is not durable yet, in order. */
  held: Effect[] = [];
  isHeld = false;
  readonly timers = new Map<string, Timer>();
  /** For the disk to call. */
  readonly resume: () => void;
  private readonly ref: { send(message: LocalMessage): void; stop(): void; getSnapshot(): unknown };
  private effects: readonly Effect[] = [];

  constructor(logic: AnyLogic, state: unknown, turn: Turn, owner: CellOwner) {
    this.logic = logic;
    this.state = state;
    this.resume = () => owner.resume(this);
    const ref = createActor(this.asXstateLogic(turn));
    // Without an error observer xstate rethrows in a timer, where nobody sees which turn it was.
    ref.subscribe({ error: owner.bug });
    ref.start();
    this.ref = ref;
  }

  private asXstateLogic(turn: Turn): AnyActorLogic {
    const { logic, state } = this;
    return {
      config: logic.config ?? { id: logic.name },
      transition: (snapshot: unknown, message: LocalMessage) => {
        if (message.type === XSTATE_STOP) return { status: 'stopped', output: undefined, error: undefined };
        this.effects = logic.receive(this.state, message, turn);
        return snapshot;
      },
      // One for the whole life: what it says of the state is asked for when somebody looks.
      getInitialSnapshot: () => ({
        status: 'active',
        output: undefined,
        error: undefined,
        get value() {
          return logic.look?.(state);
        },
      }),
      getPersistedSnapshot: (snapshot: unknown) => snapshot,
    } as unknown as AnyActorLogic;
  }

  /** As xstate has it, with the chart's value, for inspectors. */
  get snapshot(): unknown {
    return this.ref.getSnapshot();
  }

  /** One turn: what it does about a message. Nothing when it threw. */
  receive(message: LocalMessage): readonly Effect[] {
    this.effects = [];
    this.ref.send(message);
    return this.effects;
  }

  /** Nothing of it happens any more; what it has on disk stays. */
  halt(): void {
    for (const timer of this.timers.values()) timer.cancel();
    this.timers.clear();
    this.held = [];
  }

  stop(): void {
    this.halt();
    this.ref.stop();
  }
}
