// Keeps the Net port with WebSockets: who is connected to whom, one connection per peer, envelopes in
// binary frames.
//
// A connection opens with text frames: each side says its peer id; then, of the two, the one with the lower id decides whether this
// connection stays, and says `ok`. So when both dial at the same time, one judge keeps one of the two. Until the secret connection stands
// here, an id is only claimed: hence loopback addresses only.

import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { type RawData, WebSocket, WebSocketServer } from 'ws';
import type { Payload, PeerId } from '../../../actors/turn.ts';
import { CHANNEL_MEMPOOL } from '../../../protocol/messages.ts';
import { isRefusal, must } from '../../../protocol/refusal.ts';
import type { Net, NetListener } from '../../kernel/ports.ts';
import { SetupError, setupError, TakenError } from '../disk/files.ts';
import { CLOSE, Connection, whyClosed } from './connection.ts';
import { Door } from './door.ts';
import { packEnvelope, unpackEnvelope } from './envelope.ts';
import { formatWsAddress, parseWsAddress } from './net-address.ts';
import { halfSaid, onLongMessage, overdrawn, unread } from './strangers.ts';

/** Refused at the opening handshake when the other side speaks another version. */
const SUBPROTOCOL = 'rehearsal.p2p.1';
/** The largest message is a block of 100 MiB (block sync), with room for its envelope. */
const FRAME_BYTES_MAX = 101 * 1024 * 1024;
/**
 * A peer that reads slower than we write is dropped rather than served from our memory. Who does not know yet how
 * large blocks are asks for two of them, and what is said meanwhile must have room, too.
 */
const BACKLOG_BYTES_MAX = 2 * FRAME_BYTES_MAX + 64 * 1024 * 1024;
/** All strangers together, of ours unread, and as much of theirs half said. */
const STRANGERS_BYTES_MAX = 2 * BACKLOG_BYTES_MAX;
/**
 * Behind so much that is not sent yet no transactions are said: they are offered again, and votes and blocks must not wait for them. Without this
 * a few dozen large ones that go round among busy nodes hold up the chain for as long as they do.
 */
const TXS_BEHIND_BYTES_MAX = 2 * 1024 * 1024;
/** Of p2p.max_num_inbound_peers, where config.toml says nothing: CometBFT's. */
export const INBOUND_MAX = 40;
const HANDSHAKE_MS = 3_000;
const PING_MS = 10_000;

export interface HostNet extends Net {
  /** What others dial. */
  readonly address: string;
  /** The node knows who this peer is: it may say what it likes from now on. */
  greeted(peer: PeerId): void;
  /** Closes the listener and every connection, without a word to the listener. */
  shutdown(): Promise<void>;
}

export interface NetOptions {
  /** Ours. */
  readonly peer: PeerId;
  /** ws://127.0.0.1:26656; port 0: the system chooses. */
  readonly listen: string;
  /** Milliseconds between keep-alive pings; a cut wire is noticed by the second. */
  readonly pingMs?: number;
  /** Milliseconds from the dial, or from a connection's arrival, until both sides agree that it stands. */
  readonly handshakeMs?: number;
  /** Milliseconds from there until the node must have said that it is `greeted`; not said: nobody greets here. */
  readonly greetingMs?: number;
  /** How many strangers that dialled us may be up at a time; not said: `INBOUND_MAX`. */
  readonly inboundMax?: number;
  /** How many bytes all of those together may leave unread, and have half said; not said: those of a few of the largest messages. */
  readonly strangersBytesMax?: number;
  /** Peers of the configuration: no strangers, and never counted, whoever dials. */
  readonly known?: readonly PeerId[];
  /** A dial came to nothing: for the person who runs the node. */
  readonly onDialFailed?: (peer: PeerId, because: string) => void;
  /** One that dialled us is not let in, or one that does not greet is hung up on: for the person who runs the node. */
  readonly onTurnedAway?: (peer: PeerId, because: string) => void;
}

/** Listens when it answers; refuses (SetupError) an address that cannot be listened on. */
export async function openNet(options: NetOptions): Promise<HostNet> {
  must(PEER_ID.test(options.peer), 'a peer id is 40 lower-case hex digits');
  const address = parseWsAddress(options.listen);
  if (isRefusal(address)) throw new SetupError(`cannot listen: ${address.because}`);
  const door = new Door(options.handshakeMs ?? HANDSHAKE_MS, options.known?.length ?? 0);
  const { server } = door;
  const upgrades = new WebSocketServer({
    server,
    maxPayload: FRAME_BYTES_MAX,
    perMessageDeflate: false,
    clientTracking: false,
    handleProtocols: (offered) => (offered.has(SUBPROTOCOL) ? SUBPROTOCOL : false),
    // A browser names the page's origin: no web page may speak to a node of the person who looks at it.
    verifyClient: ({ req }: { req: IncomingMessage }) =>
      req.headers.origin === undefined && req.headers['sec-websocket-protocol'] === SUBPROTOCOL,
  });
  await new Promise<void>((resolve, reject) => {
    upgrades.once('listening', resolve);
    upgrades.once('error', (error) => reject(cannotListen(options.listen, error)));
    server.listen(address.port, address.host);
  });
  const bound = server.address();
  must(typeof bound === 'object' && bound !== null, 'a TCP server has a port');
  return new WsNet(options, formatWsAddress({ host: address.host, port: bound.port }), door, upgrades);
}

const cannotListen = (where: string, error: unknown): TakenError =>
  new TakenError(setupError(`cannot listen on ${where}`, error).message, { cause: error });

const PEER_ID = /^[0-9a-f]{40}$/;

/** A dial not yet answered with `up` or `dialFailed`. */
interface Dial {
  readonly connection: Connection | null;
  readonly timeout: NodeJS.Timeout;
}

class WsNet implements HostNet {
  readonly address: string;
  readonly #self: PeerId;
  readonly #door: Door;
  readonly #connections = new Set<Connection>();
  readonly #up = new Map<PeerId, Connection>();
  readonly #dials = new Map<PeerId, Dial>();
  readonly #pings: NodeJS.Timeout;
  readonly #handshakeMs: number;
  readonly #greetingMs: number | undefined;
  readonly #inboundMax: number;
  readonly #strangersBytesMax: number;
  readonly #known: ReadonlySet<PeerId>;
  readonly #onDialFailed: NetOptions['onDialFailed'];
  readonly #onTurnedAway: NetOptions['onTurnedAway'];
  #listener: NetListener | null = null;
  #isShut = false;

  constructor(options: NetOptions, address: string, door: Door, upgrades: WebSocketServer) {
    this.#self = options.peer;
    this.address = address;
    this.#handshakeMs = options.handshakeMs ?? HANDSHAKE_MS;
    this.#greetingMs = options.greetingMs;
    this.#inboundMax = options.inboundMax ?? INBOUND_MAX;
    this.#strangersBytesMax = options.strangersBytesMax ?? STRANGERS_BYTES_MAX;
    this.#known = new Set(options.known);
    this.#onDialFailed = options.onDialFailed;
    this.#onTurnedAway = options.onTurnedAway;
    this.#door = door;
    upgrades.on('connection', (socket, request) => this.#onArrival(socket, request.socket));
    // Errors of the listener after its start (too many open files): connections fail, the node goes on.
    upgrades.on('error', () => {});
    this.#pings = setInterval(() => this.#pingAll(), options.pingMs ?? PING_MS);
    this.#pings.unref();
  }

  listen(listener: NetListener): void {
    this.#listener = listener;
  }

  dial(peer: PeerId, address: string): void {
    if (this.#isShut || this.#up.has(peer) || this.#dials.has(peer)) return;
    const ms = this.#handshakeMs;
    const timeout = setTimeout(() => this.#endDial(peer, `no connection within ${ms} ms`), ms);
    const parsed = parseWsAddress(address);
    if (peer === this.#self || isRefusal(parsed)) {
      this.#dials.set(peer, { connection: null, timeout });
      const because = isRefusal(parsed) ? parsed.because : 'that is our own id';
      setImmediate(() => this.#endDial(peer, because));
      return;
    }
    const socket = new WebSocket(formatWsAddress(parsed), SUBPROTOCOL, {
      maxPayload: FRAME_BYTES_MAX,
      perMessageDeflate: false,
      followRedirects: false,
      handshakeTimeout: ms,
    });
    const connection = this.#watch(socket, true, peer);
    this.#dials.set(peer, { connection, timeout });
    socket.on('upgrade', ({ socket: wire }) => {
      socket.on('open', () => {
        connection.boundGreeting(wire);
        socket.send(this.#self);
      });
    });
  }

  send(to: readonly PeerId[], payloads: readonly Payload[]): void {
    let frame: Uint8Array | null = null;
    const canWait = payloads.every(({ channel }) => channel === CHANNEL_MEMPOOL);
    for (const peer of to) {
      const connection = this.#up.get(peer);
      if (!connection) continue;
      const { bufferedAmount } = connection.socket;
      if (canWait && bufferedAmount > TXS_BEHIND_BYTES_MAX) continue;
      frame ??= packEnvelope(payloads); // once for all
      if (bufferedAmount + frame.length > BACKLOG_BYTES_MAX) connection.hangUp();
      else connection.socket.send(frame);
      if (bufferedAmount > 0 && this.#isStranger(connection)) this.#boundStrangers(unread);
    }
  }

  #boundStrangers(bytesOf: typeof unread): void {
    overdrawn(this.#strangers(), bytesOf, this.#strangersBytesMax)?.hangUp();
  }

  *#strangers(): Generator<Connection> {
    for (const connection of this.#up.values()) if (this.#isStranger(connection)) yield connection;
  }

  /** It dialled us, and the configuration does not name it. */
  #isStranger({ outbound, peer }: Connection): boolean {
    return !outbound && !this.#known.has(peer!);
  }

  greeted(peer: PeerId): void {
    this.#up.get(peer)?.greeted();
  }

  close(peer: PeerId): void {
    const connection = this.#up.get(peer);
    if (!connection) return;
    connection.end(CLOSE.normal);
    setImmediate(() => this.#takeDown(connection));
  }

  async shutdown(): Promise<void> {
    if (this.#isShut) return;
    this.#isShut = true;
    this.#listener = null;
    clearInterval(this.#pings);
    for (const { timeout } of this.#dials.values()) clearTimeout(timeout);
    this.#dials.clear();
    this.#up.clear();
    for (const connection of this.#connections) connection.hangUp();
    const { server } = this.#door;
    server.closeAllConnections();
    await new Promise<void>((done) => server.close(() => done()));
  }

  #onArrival(socket: WebSocket, wire: Socket): void {
    const connection = this.#watch(socket, false, null);
    connection.boundGreeting(wire);
    if (!this.#listener) {
      connection.end(CLOSE.notReady);
      return;
    }
    socket.send(this.#self);
    setTimeout(() => {
      if (connection.isOpening) connection.end(CLOSE.timeout);
    }, this.#handshakeMs).unref();
  }

  #watch(socket: WebSocket, outbound: boolean, peer: PeerId | null): Connection {
    const connection = new Connection(socket, outbound, peer);
    let failure = '';
    this.#connections.add(connection);
    socket.on('message', (data, isBinary) => this.#onFrame(connection, data, isBinary));
    socket.on('error', (error) => {
      failure = error.message;
    });
    socket.on('close', (code) => {
      this.#connections.delete(connection);
      this.#takeDown(connection);
      connection.closed();
      this.#onDialEnded(connection, code, failure);
    });
    return connection;
  }

  #onFrame(connection: Connection, data: RawData, isBinary: boolean): void {
    connection.messageEnded();
    if (connection.stage === 'over' || this.#isShut) return;
    must(Buffer.isBuffer(data), 'ws gives Buffers (binaryType nodebuffer)');
    if (connection.stage === 'up') this.#onEnvelope(connection, data, isBinary);
    else if (isBinary) connection.end(CLOSE.malformed);
    else if (connection.stage === 'hello') this.#onHello(connection, data.toString('latin1'));
    else this.#onVerdict(connection, data.toString('latin1'));
  }

  #onEnvelope(connection: Connection, data: Buffer, isBinary: boolean): void {
    const payloads = isBinary ? unpackEnvelope(data) : null;
    if (payloads === null || isRefusal(payloads)) {
      this.#takeDown(connection);
      connection.end(CLOSE.malformed);
      return;
    }
    if (payloads.length > 0) this.#listener?.heard(connection.peer!, payloads);
  }

  #onHello(connection: Connection, peer: string): void {
    if (!PEER_ID.test(peer) || peer === this.#self || (connection.outbound && peer !== connection.peer)) {
      connection.end(CLOSE.wrongPeer);
      return;
    }
    connection.peer = peer;
    if (this.#turnsAway(connection)) return;
    connection.stage = 'waiting';
    if (this.#self < peer) this.#judge(connection, peer);
  }

  /**
   * We have the lower id. The first connection stays, unless the same side dials again: then it has lost
   * the first.
   */
  #judge(connection: Connection, peer: PeerId): void {
    const standing = this.#up.get(peer);
    if (standing && standing.outbound !== connection.outbound) {
      connection.end(CLOSE.duplicate);
      return;
    }
    connection.socket.send('ok');
    this.#bringUp(connection, peer);
  }

  #onVerdict(connection: Connection, text: string): void {
    if (text !== 'ok' || this.#self < connection.peer!) connection.end(CLOSE.malformed);
    // So many may have waited at once that there is no room any more.
    else if (!this.#turnsAway(connection)) this.#bringUp(connection, connection.peer!);
  }

  /**
   * CometBFT Switch.acceptRoutine: of those that dialled us, and that the configuration does not name, no more than so many are up. One that comes
   * again takes its own place.
   */
  #turnsAway(connection: Connection): boolean {
    if (!this.#isStranger(connection)) return false;
    let others = 0;
    for (const each of this.#strangers()) if (each.peer !== connection.peer) others++;
    if (others < this.#inboundMax) return false;
    connection.end(CLOSE.full);
    this.#onTurnedAway?.(
      connection.peer!,
      `it is one more than the ${this.#inboundMax} inbound peers of p2p.max_num_inbound_peers`,
    );
    return true;
  }

  #bringUp(connection: Connection, peer: PeerId): void {
    const standing = this.#up.get(peer);
    if (standing) {
      this.#takeDown(standing);
      standing.end(CLOSE.duplicate);
    }
    connection.stage = 'up';
    connection.wasUp = true;
    if (connection.wire) this.#door.passed(connection.wire);
    if (this.#isStranger(connection)) onLongMessage(connection, () => this.#boundStrangers(halfSaid));
    this.#up.set(peer, connection);
    this.#awaitGreeting(connection, peer);
    const dial = this.#dials.get(peer);
    if (dial) {
      clearTimeout(dial.timeout);
      this.#dials.delete(peer);
      const { connection: dialled } = dial;
      // Its timer is gone. Also one that waits for an ok: no judge says it of both.
      if (dialled && dialled !== connection && dialled.isOpening) dialled.end(CLOSE.duplicate);
    }
    this.#listener?.up(peer);
  }

  #awaitGreeting(connection: Connection, peer: PeerId): void {
    const ms = this.#greetingMs;
    if (ms === undefined) return connection.greeted();
    connection.mustBeGreeted(ms, () => {
      this.#takeDown(connection);
      connection.end(CLOSE.timeout);
      this.#onTurnedAway?.(peer, `it did not greet within ${ms} ms`);
    });
  }

  #takeDown(connection: Connection): void {
    const peer = connection.peer;
    if (peer === null || this.#up.get(peer) !== connection) return;
    this.#up.delete(peer);
    this.#listener?.down(peer);
  }

  /**
   * A dialled connection closed. As a duplicate: the other one is on its way up, or the dial runs into its
   * timeout.
   */
  #onDialEnded(connection: Connection, code: number, failure: string): void {
    const peer = connection.peer;
    if (!connection.outbound || peer === null) return;
    // It is up where it judges, and hears only then that it is one too many.
    if (code === CLOSE.full && connection.wasUp) this.#onDialFailed?.(peer, whyClosed(code)!);
    if (code === CLOSE.duplicate || this.#dials.get(peer)?.connection !== connection) return;
    this.#endDial(peer, failure || whyClosed(code) || `the connection closed (${code})`);
  }

  #endDial(peer: PeerId, because: string): void {
    const dial = this.#dials.get(peer);
    if (!dial || this.#isShut) return;
    this.#dials.delete(peer);
    clearTimeout(dial.timeout);
    dial.connection?.hangUp();
    this.#onDialFailed?.(peer, because);
    this.#listener?.dialFailed(peer, because);
  }

  #pingAll(): void {
    for (const connection of this.#connections) {
      if (connection.stage === 'up' && !connection.keepsAlive()) connection.hangUp();
    }
  }
}
