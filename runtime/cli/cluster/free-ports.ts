// Ports for a new network: looked for, and held until its nodes are about to listen.

import { randomInt } from 'node:crypto';
import { createServer, type Server } from 'node:net';
import { PORT_FIRST } from '../../host/home/home.ts';
import { CliError, EXIT, whyNot } from '../usage.ts';

export const PORT_MAX = 65_535;
/** From here on Linux lends ports to whoever dials. */
const PORT_LENT_FIRST = 32_768;
/** At most so many are drawn from the last start on. */
const ROOM = 512;

/** Where to look when nobody says: networks that are started at one time, or once were, shall not meet. */
export const drawnPort = (): number => randomInt(PORT_FIRST, PORT_LENT_FIRST - ROOM);

export interface HeldPorts {
  readonly ports: readonly number[];
  /** Lets go of them. */
  free(): Promise<void>;
}

/** So many free ports of this machine, from `first` on: until it lets go, nobody else can have them. */
export async function holdPorts(first: number, count: number): Promise<HeldPorts> {
  const held: Server[] = [];
  const ports: number[] = [];
  const free = async (): Promise<void> => {
    await Promise.all(held.map((server) => new Promise((done) => server.close(done))));
  };
  for (let port = first; ports.length < count; port++) {
    if (port > PORT_MAX) {
      await free();
      throw new CliError(
        `there are no ${count} free ports from ${first} on: try a lower --base-port`,
        EXIT.usage,
      );
    }
    const server = await hold(port);
    if (server === null) continue;
    held.push(server);
    ports.push(port);
  }
  return { ports, free };
}

/** Null: it is taken. */
function hold(port: number): Promise<Server | null> {
  return new Promise((tell, fail) => {
    const server = createServer((socket) => socket.destroy());
    server.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EADDRINUSE') tell(null);
      else fail(new CliError(`cannot listen on 127.0.0.1:${port}: ${whyNot(error)}`));
    });
    server.listen({ host: '127.0.0.1', port }, () => tell(server));
  });
}
