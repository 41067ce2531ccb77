// What a node says to the person who runs it of what it publishes: one line, or nothing where nothing is new to a person.

import type { NodeEvent, PeerId } from '../../../actors/turn.ts';
import { hexOf } from '../../../protocol/bytes.ts';

const MODE_TEXT: Readonly<Record<string, string>> = {
  handshake: 'asks the application how far it is',
  sync: 'looks for blocks that it lacks',
  consensus: 'takes part in consensus',
};

const nameOf = (peer: PeerId): string => peer.slice(0, 8);

/** Nodes that start together dial each other before all of them listen: of the first few failures in a row nobody is told. */
const FAILURES_UNTOLD = 2;
/** Of strangers there may be any number. */
const PEERS_TOLD_MAX = 256;
/** Reasons may alternate: refused, no answer, refused. */
const REASONS_TOLD = 8;
/** Strangers may come by the thousand, each under another name: of those that are not let in, or cut off, one is told of in so long. */
const STRANGERS_EVERY_MS = 10_000;

/** Of lines that may come without end one now and then, with how many were left out. */
class Seldom {
  private lastMs = Number.NEGATIVE_INFINITY;
  private untold = 0;

  /** Null: it is too soon after the one before. */
  of(line: string, nowMs: number): string | null {
    if (nowMs - this.lastMs < STRANGERS_EVERY_MS) {
      this.untold++;
      return null;
    }
    const others = this.untold === 0 ? '' : ` (and ${this.untold} more since the last)`;
    this.lastMs = nowMs;
    this.untold = 0;
    return line + others;
  }
}

/** Longer than any of ours. */
const LINE_LENGTH_MAX = 1_000;

/** Peers may say anything in what is quoted of them, and a terminal does what it reads: one line, of what can be seen. */
export function printable(line: string): string {
  const cut = line.length > LINE_LENGTH_MAX ? `${line.slice(0, LINE_LENGTH_MAX)} ...` : line;
  return cut.replace(
    /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu,
    (each) => `\\u${(each.codePointAt(0) as number).toString(16).padStart(4, '0')}`,
  );
}

export class Lines {
  /** Where the node stands: a round has many steps, and is told once. */
  private height = -1n;
  private round = 0;
  /** Of each peer since it was here last: dials that came to nothing, and what was said. */
  private readonly failures = new Map<PeerId, number>();
  private readonly told = new Map<PeerId, readonly string[]>();

  private readonly turningAway = new Seldom();
  private readonly cuttingOff = new Seldom();
  private readonly known: ReadonlySet<PeerId>;

  /** @param known whom its configuration names; all others are strangers */
  constructor(known: ReadonlySet<PeerId>) {
    this.known = known;
  }

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
        if (event.up) this.isHere(event.peer);
        return `peer ${nameOf(event.peer)} ${event.up ? 'is here' : 'is gone'}`;
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

  private isHere(peer: PeerId): void {
    this.failures.delete(peer);
    this.told.delete(peer);
  }

  /** A dial that came to nothing; null: it is too soon to say so, or was said. */
  dialFailed(peer: PeerId, because: string): string | null {
    const failures = (this.failures.get(peer) ?? 0) + 1;
    this.failures.set(peer, failures);
    return failures > FAILURES_UNTOLD
      ? this.once(peer, `cannot reach peer ${nameOf(peer)}: ${because}`)
      : null;
  }

  /** The node ends the connection to a peer; null: it was said, and the peer was not here since, or it is a stranger. */
  cutOff(peer: PeerId, because: string, nowMs = performance.now()): string | null {
    const line = `cuts off peer ${nameOf(peer)}: ${because}`;
    return this.known.has(peer) ? this.once(peer, line) : this.cuttingOff.of(`warning: ${line}`, nowMs);
  }

  /** One that dialled the node is not let in; null: it is too soon after the one before. `nowMs`: of any clock that only goes on. */
  turnedAway(peer: PeerId, because: string, nowMs = performance.now()): string | null {
    return this.turningAway.of(`warning: turns away peer ${nameOf(peer)}: ${because}`, nowMs);
  }

  private once(peer: PeerId, line: string): string | null {
    const lines = this.told.get(peer) ?? [];
    if (lines.includes(line)) return null;
    this.told.delete(peer);
    this.told.set(peer, [...lines, line].slice(-REASONS_TOLD));
    for (const oldest of this.told.keys()) {
      if (this.told.size <= PEERS_TOLD_MAX) break;
      this.told.delete(oldest);
    }
    return `warning: ${line}`;
  }

  private ofStep({ height, round }: Extract<NodeEvent, { type: 'step' }>): string | null {
    const isNew = height !== this.height || round !== this.round;
    this.height = height;
    this.round = round;
    return isNew && round > 0 ? `height ${height} goes to round ${round}` : null;
  }
}
