// One WebSocket between nodes, from the first byte to the last: how far its greeting is, and how much may be said before that is over.

import type { Socket } from 'node:net';
import type { WebSocket } from 'ws';
import type { PeerId } from '../../../actors/turn.ts';
import { NODE_INFO_BYTES_MAX } from '../../../machines/peers/node-info.ts';

/**
 * Of one that is not up yet: two short texts are all it has to say, and half a frame is kept until it is whole. (One
 * read of a socket brings up to 64 KiB.)
 */
const HELLO_BYTES_MAX = 4 * 1024;
/** Of one that is up and not greeted: its greeting is the first thing that it says, and nobody asks for it twice. */
const GREETING_BYTES_MAX = HELLO_BYTES_MAX + 2 * NODE_INFO_BYTES_MAX;
/** How long a closing connection may take to say goodbye. */
const GOODBYE_MS = 1_000;

/** WebSocket close codes of ours. */
export const CLOSE = {
  normal: 1000,
  notReady: 1013,
  duplicate: 4001,
  wrongPeer: 4002,
  malformed: 4003,
  timeout: 4004,
  /** There are as many inbound peers as may be. */
  full: 4005,
} as const;

/** Why a dial came to nothing, in the words of the one who dialled; undefined: the code says nothing of that. */
export const whyClosed = (code: number): string | undefined => WHY_CLOSED[code];

const WHY_CLOSED: Readonly<Record<number, string>> = {
  [CLOSE.wrongPeer]: 'another peer answers there',
  [CLOSE.notReady]: 'the peer is not ready',
  [CLOSE.timeout]: 'the peer saw no greeting in time',
  [CLOSE.malformed]: 'the greeting was not understood',
  [CLOSE.full]:
    'the peer has as many inbound peers as it takes (p2p.max_num_inbound_peers of its config.toml)',
};

export class Connection {
  readonly socket: WebSocket;
  /** True: we dialled. */
  readonly outbound: boolean;
  /** Whom we dialled, or who it says it is. */
  peer: PeerId | null;
  /**
   * `hello`: none yet; `waiting`: for the judge's ok; `up`: told to the listener; `over`: of no more
   * interest.
   */
  stage: 'hello' | 'waiting' | 'up' | 'over' = 'hello';
  wasUp = false;
  /** What it goes over, once that is open. */
  wire: Socket | null = null;
  /** Of the last ping: none yet; it waits behind what the other end has not taken; it has left us. */
  private ping: 'none' | 'waits' | 'left' = 'none';
  /** It waited for longer than a period: its answer has a period of its own. */
  private isLate = false;
  /** Bytes that came, and that the other end took, when it was looked at last. */
  private seen = { came: 0, taken: 0 };
  /** Bytes that had come as its last whole message did. */
  private heard = 0;
  /** The node took its greeting, or takes none. */
  private isGreeted = false;
  private greetingTimer: NodeJS.Timeout | undefined;

  constructor(socket: WebSocket, outbound: boolean, peer: PeerId | null) {
    this.socket = socket;
    this.outbound = outbound;
    this.peer = peer;
  }

  /** Neither up nor over. */
  get isOpening(): boolean {
    return this.stage === 'hello' || this.stage === 'waiting';
  }

  /** Bytes of a message that has not ended: they are in our memory until it does. */
  get halfSaid(): number {
    return (this.wire?.bytesRead ?? 0) - this.heard;
  }

  messageEnded(): void {
    this.heard = this.wire?.bytesRead ?? 0;
  }

  /** Hangs up on one that says more than a greeting before it is greeted, also while it is told goodbye. */
  boundGreeting(wire: Socket): void {
    this.wire = wire;
    let bytes = 0;
    const count = (chunk: Buffer): void => {
      bytes += chunk.length;
      if (this.isGreeted) wire.off('data', count);
      else if (bytes > (this.wasUp ? GREETING_BYTES_MAX : HELLO_BYTES_MAX)) this.hangUp();
    };
    wire.on('data', count); // behind the listener of ws: a greeting that ends in this chunk has been heard
  }

  /** It is up, and must be greeted before `ms` are over. */
  mustBeGreeted(ms: number, late: () => void): void {
    this.greetingTimer = setTimeout(() => {
      if (this.stage === 'up') late();
    }, ms);
    this.greetingTimer.unref();
  }

  greeted(): void {
    this.isGreeted = true;
    clearTimeout(this.greetingTimer);
  }

  /**
   * Called once in a period; false: nothing shows that the other end lives. It shows that by whatever it says, and, while a ping waits behind a long
   * block on a slow line, by what it takes of that.
   */
  keepsAlive(): boolean {
    const { wire } = this;
    if (!wire) return true;
    const now = { came: wire.bytesRead, taken: wire.bytesWritten - wire.writableLength };
    const { came, taken } = this.seen;
    this.seen = now;
    if (this.ping === 'none' || now.came > came) {
      this.asksAgain();
      return true;
    }
    if (this.ping === 'waits') {
      this.isLate = true;
      return now.taken > taken;
    }
    const mayAnswer = this.isLate;
    this.isLate = false;
    return mayAnswer;
  }

  private asksAgain(): void {
    this.ping = 'waits';
    this.isLate = false;
    this.socket.ping(undefined, undefined, () => {
      this.ping = 'left';
    });
  }

  /** Says goodbye, and hangs up when that is not answered. */
  end(code: number): void {
    this.stage = 'over';
    this.socket.close(code);
    setTimeout(() => this.socket.terminate(), GOODBYE_MS).unref();
  }

  closed(): void {
    this.stage = 'over';
    clearTimeout(this.greetingTimer);
  }

  hangUp(): void {
    this.stage = 'over';
    this.socket.terminate();
  }
}
