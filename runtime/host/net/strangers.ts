// What strangers may have of our memory, all of them together: with what they do not read of ours, and with what they have said half of theirs. Else
// each of forty asks for blocks and reads none, or begins a message as long as the longest block and never ends it.

import type { Connection } from './connection.ts';

/** One that has said less of a message is not worth a look at the others. */
const LONG_MESSAGE_BYTES = 64 * 1024;

export const unread = ({ socket }: Connection): number => socket.bufferedAmount;

export const halfSaid = (connection: Connection): number => connection.halfSaid;

/** Who is to go first: who has the most of it, where all together have more than `max`; null: they have not. */
export function overdrawn(
  strangers: Iterable<Connection>,
  bytesOf: (connection: Connection) => number,
  max: number,
): Connection | null {
  let sum = 0;
  let most: Connection | null = null;
  for (const connection of strangers) {
    if (connection.stage === 'over') continue;
    const bytes = bytesOf(connection);
    sum += bytes;
    if (bytes > (most ? bytesOf(most) : 0)) most = connection;
  }
  return sum > max ? most : null;
}

/** Whenever more of a long message comes that does not end. */
export function onLongMessage(connection: Connection, then: () => void): void {
  connection.wire?.on('data', () => {
    if (connection.halfSaid > LONG_MESSAGE_BYTES) then();
  });
}
