// What a node said at a height stays in its log until that height ends (spec 5.7): a log that ends an earlier height behind it would be
// trimmed to that, and who starts from it again has forgotten its lock.

import { bytes, decodeWith, i64, record, u8 } from '../../protocol/words.ts';
import type { Machine } from '../machine.ts';
import type { Oracle, OracleMaker } from '../oracle.ts';
import { decoded } from './messages.ts';
import { PerMachine } from './per-machine.ts';

/** Two kinds of record, as they stand in the log of consensus. */
const OWN = 2;
const ownRecord = record({ tag: u8, channel: u8, bytes });
const END_OF_HEIGHT = 3;
const endRecord = record({ tag: u8, height: i64 });

export const logbookOracle: OracleMaker = (report, about): Oracle => {
  /** The furthest height that each node was at, over all its lives. */
  const furthest = new PerMachine(() => ({ height: 0n }));

  const ends = (at: Machine, height: bigint): void => {
    // As it should be; else another life may have been further, and its disk may have lost that.
    if (height >= furthest.of(at).height) return;
    for (const logged of at.disk.records('consensus')) {
      const said = saidAt(logged);
      if (said <= height) continue;
      report(`${at.name} logs the end of height ${height} behind what it said at ${said}`, at, height);
      return;
    }
  };

  return {
    name: 'logbook',
    effects: ['append'],
    events: ['step'],
    published(at, _actor, event) {
      if (event.type !== 'step') return;
      const known = furthest.of(at);
      if (event.height > known.height) known.height = event.height;
    },
    leaving(at, _actor, effect) {
      if (effect.type !== 'append' || effect.log !== 'consensus' || !about.isHonest(at)) return;
      const entry = effect.record[0] === END_OF_HEIGHT ? decodeWith(endRecord, effect.record) : null;
      if (entry) ends(at, entry.height);
    },
  };
};

/** The height of a vote or proposal of its own; 0: it is none. */
function saidAt(logged: Uint8Array): bigint {
  const own = logged[0] === OWN ? decodeWith(ownRecord, logged) : null;
  const message = own && decoded(own.bytes);
  if (message?.type === 'vote') return message.vote.height;
  return message?.type === 'proposal' ? message.proposal.height : 0n;
}
