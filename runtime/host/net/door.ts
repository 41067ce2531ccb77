// The door that others come in by, before anybody has said a word: how many may stand in it, and for how long.

import { createServer, type Server } from 'node:http';
import type { Socket } from 'node:net';

/**
 * Of those whom nobody knows yet. A cluster of the largest kind that begins at one moment fits in, and together with the
 * inbound peers it leaves a process of a few hundred descriptors those that its files need.
 */
const STRANGERS_MAX = 64;

/**
 * Who connects and does not ask for a WebSocket in time is hung up on. Of all who are not up yet there are no more than so many: the one that
 * stood there longest makes way for the next, so that those who say nothing never lock out one who says who he is.
 */
export class Door {
  readonly server: Server;
  /** The one that came first stands first. */
  private readonly standing = new Set<Socket>();

  /** @param known so many more may stand there: peers of the configuration, who may all come at once */
  constructor(handshakeMs: number, known: number) {
    const times = {
      headersTimeout: handshakeMs,
      requestTimeout: handshakeMs,
      connectionsCheckingInterval: handshakeMs / 2,
    };
    this.server = createServer(times, (_request, response) => {
      response.writeHead(426, { connection: 'close' }).end(); // Upgrade Required
    });
    this.server.on('connection', (wire) => this.onArrival(wire, STRANGERS_MAX + known));
  }

  private onArrival(wire: Socket, most: number): void {
    const [oldest] = this.standing;
    if (oldest && this.standing.size >= most) {
      this.standing.delete(oldest);
      oldest.destroy();
    }
    this.standing.add(wire);
    wire.once('close', () => this.standing.delete(wire));
  }

  /** He is up: others count him. */
  passed(wire: Socket): void {
    this.standing.delete(wire);
  }
}
