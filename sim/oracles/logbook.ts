// What a node said at a height stays in its log until that height ends (spec 5.7): a log that ends an earlier height behind it would be
// trimmed to that, and who starts from it again has forgotten its lock.

import { type LogRecord, logRecord } from '../../actors/validator/logbook.ts';
import { decodeWith } from '../../protocol/words.ts';
import type { Machine } from '../machine.ts';
import type { Oracle, OracleMaker } from '../oracle.ts';
import { consensusMessage } from './messages.ts';
import { PerMachine } from './per-machine.ts';

export const logbookOracle: OracleMaker = (report, about): Oracle => {
  /** The furthest height that each node was at, over all its lives. */
  const furthest = new PerMachine(() => ({ height: 0n }));

  const ends = (at: Machine, height: bigint): void => {
    // As it should be; else another life may have been further, and its disk may have lost that.
    if (height >= furthest.of(at).height) return;
    for (const record of at.disk.records('consensus')) {
      const said = saidAt(decodeWith(logRecord, record));
      if (said <= height) continue;
      report(`${at.name} logs the end of height ${height} behind what it said at ${said}`, at, height);
      return;
    }
  };

  return {
    name: 'logbook',
    effects: ['append'],
    published(at, _actor, event) {
      if (event.type !== 'step') return;
      const known = furthest.of(at);
      if (event.height > known.height) known.height = event.height;
    },
    leaving(at, _actor, effect) {
      if (effect.type !== 'append' || effect.log !== 'consensus' || !about.isHonest(at)) return;
      const { record } = effect;
      if (record.length > END_BYTES_MAX) return;
      const entry = decodeWith(logRecord, record);
      if (entry?.type === 'end-height') ends(at, entry.height);
    },
  };
};

/** A tag and a height; whatever a node hears or says is longer. */
const END_BYTES_MAX = 16;

/** The height of a vote or proposal of its own; 0: it is none. */
function saidAt(record: LogRecord | null): bigint {
  if (record?.type !== 'own') return 0n;
  const message = consensusMessage(record.bytes);
  if (message?.type === 'vote') return message.vote.height;
  return message?.type === 'proposal' ? message.proposal.height : 0n;
}
