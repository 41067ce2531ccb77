// The server that others reach us by, before anybody has said a word: how many may come, and how long they may take.

import { createServer, type Server } from 'node:http';

/** Of p2p.max_num_inbound_peers, where config.toml says nothing: CometBFT's. */
export const INBOUND_MAX = 40;
/**
 * Of others to us, also before they said a word: far above what a test network needs, and below the 1024
 * descriptors that a process usually may have.
 */
const CONNECTIONS_MAX = 512;

/**
 * Who connects and does not ask for a WebSocket in time is hung up on, and of all together there are no more than
 * so many: else strangers would take every descriptor that the node needs for its files.
 */
export function httpServer(handshakeMs: number): Server {
  const times = {
    headersTimeout: handshakeMs,
    requestTimeout: handshakeMs,
    connectionsCheckingInterval: handshakeMs / 2,
  };
  const server = createServer(times, (_request, response) => {
    response.writeHead(426, { connection: 'close' }).end(); // Upgrade Required
  });
  server.maxConnections = CONNECTIONS_MAX;
  return server;
}
