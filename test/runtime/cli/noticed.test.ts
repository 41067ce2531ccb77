// Plays show what they are for: with the check left out that they are about, an oracle speaks.

import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { isBuilt, nodecli, root } from './nodecli.ts';

/** Plays, seeds and mutants, and who notices. */
const NOTICED: readonly (readonly [string, string, string, string])[] = [
  ['tyrant-overthrown', '1', 'X10', 'out of turn'],
  ['forged-votes', '1', 'X22', 'justified'],
  ['forged-proposals', '2', 'X23', 'it heard no such proposal'],
  ['invalid-blocks', '1', 'X24', 'light-client'],
  ['invalid-blocks', '1', 'X25', 'certificate'],
  ['invalid-blocks', '2', 'X26', 'is not of the median time'],
  ['invalid-blocks', '1', 'X27', 'proves nothing'],
  ['invalid-blocks', '1', 'X28', 'is not of the median time'],
  ['invalid-blocks', '1', 'X29', 'another hash than block'],
  ['invalid-blocks', '1', 'X30', 'block.max_bytes is 16000'],
  ['invalid-blocks-for-one', '3', 'X31', 'liveness'],
  ['calm', '1', 'X32', 'timeout_commit is 1000000000 ns'],
  ['value-outlives-crash', '1', 'X33', 'it is locked since round 0'],
  ['refused-transactions', '1', 'X35', 'which its application does not accept'],
  ['stale-numbers', '1', 'X36', 'which its application does not accept'],
  ['stale-numbers', '1', 'X20', 'has not asked about it since the last block'],
  ['small-blocks', '1', 'X37', 'was asked for 1837'],
  ['late-evidence', '1', 'X16', 'nobody was punished'],
  ['small-blocks', '1', 'X38', 'after one that came later'],
  ['tour', '1', 'X40', 'another last commit than block'],
  ['equivocator-punished', '1', 'X41', 'another misbehavior than block'],
  ['tour', '1', 'X42', 'its application prepared none with this list of transactions'],
  ['application-decides', '1', 'X43', 'which its application has not accepted'],
  ['set-replaced', '1', 'X44', 'stores another answer'],
  ['calm', '1', 'X45', 'at InitChain other validators than the genesis has'],
  ['application-decides', '1', 'X46', 'stores other parameters'],
  ['evidence-travels', '1', 'X47', 'nobody was punished'],
  ['vote-outlives-lost-log', '1', 'X08', 'signed two prevotes'],
  ['vote-outlives-lost-log', '1', 'X48', 'signed two prevotes'],
  ['vote-outlives-lost-log', '1', 'X49', 'signed two prevotes'],
  ['false-evidence', '1', 'X50', 'proves nothing'],
  ['false-evidence', '1', 'X51', 'its votes are of two steps'],
  ['false-evidence', '1', 'X52', 'not signed by who is accused'],
  ['false-evidence', '1', 'X53', 'its powers are not those of its height'],
  ['false-evidence', '1', 'X54', 'its time is not that of the block'],
  ['false-evidence', '1', 'X55', 'was in a block before'],
  ['false-evidence', '2', 'X56', 'was in a block before'],
  ['evidence-outlives-restart', '1', 'X57', 'nobody was punished'],
  ['false-evidence', '1', 'X58', 'was in a block before'],
  ['invalid-blocks', '1', 'X59', 'certificate'],
  ['invalid-blocks', '1', 'X60', 'certificate'],
  ['invalid-blocks', '1', 'X61', 'names another block before it'],
  ['invalid-blocks', '1', 'X62', 'is of version'],
  ['invalid-blocks', '1', 'X63', 'hygiene'],
  ['invalid-blocks-for-one', '1', 'X64', 'liveness'],
  ['forged-votes', '1', 'X65', 'which broke no rule'],
  ['forged-votes', '1', 'X66', 'as if v4 had been absent'],
  ['forged-votes', '1', 'X67', 'certificate'],
  ['nil-is-no-commit', '1', 'X68', 'agreement'],
  ['evidence-outlives-restart', '1', 'X69', 'its powers are not those of its height'],
  ['late-polka-is-valid', '1', 'X70', 'knows of the polka of round 0'],
  ['power-cut-as-one-decides', '1', 'X71', 'liveness'],
  ['lost-catch-up', '1', 'X72', 'liveness'],
  ['old-copies-of-all', '1', 'X73', 'signed two p'],
  ['old-copy', '1', 'X74', 'application state'],
  ['lagging-node-catches-up', '1', 'X75', 'does not take part'],
  ['pool-lets-go', '1', 'X76', 'does not ask its application'],
  ['refused-transactions', '1', 'X77', 'does not ask its application'],
  ['small-blocks', '1', 'X78', 'does not ask its application'],
  ['transactions-travel', '1', 'X79', 'has not offered it'],
  ['transactions-travel', '1', 'X80', 'has not offered it'],
  ['transactions-travel', '1', 'X81', 'has not offered it'],
  ['later-beginning', '1', 'X82', 'liveness'],
  ['false-evidence', '1', 'X87', 'evidence.max_bytes is 4000'],
  ['gas-is-counted', '1', 'X88', 'gas and was asked for 25'],
  ['forged-blocks', '1', 'X89', 'which broke no rule'],
  ['forged-commits', '1', 'X90', 'signature 4 is wrong'],
  ['application-decides', '1', 'X91', 'stores other parameters'],
  ['late-double-vote', '1', 'X92', 'nobody was punished'],
  ['held-transactions', '1', 'X93', 'has not offered it to v3'],
  ['hidden-lock', '1', 'X94', 'the timeout is 4000000000 ns'],
  ['transaction-storm', '1', 'X95', 'more than it may'],
  ['old-blocks-go', '1', 'X96', 'its application wants those from 2 on'],
  ['false-greetings', '1', 'X97', 'which never greeted it as one'],
  ['later-polka-replaces-value', '1', 'X98', 'proposes the value of round 0'],
  ['equivocator-punished', '1', 'X99', 'this room for transactions'],
  ['application-keeps-nothing', '1', 'X100', 'which broke no rule'],
  ['room-shrinks', '1', 'X101', 'without a transaction that it accepted'],
  ['lost-transaction', '1', 'X102', 'that may have been lost'],
  ['every-vote-twice', '1', 'X103', 'nobody was punished'],
  ['tyrant-replaced', '1', 'X104', 'out of turn'],
  ['power-cut-between-stores', '1', 'W01', 'is missing in the store'],
  ['power-cut-between-stores', '1', 'W02', 'does not match AppHash'],
];

describe.skipIf(!isBuilt)('a check that is left out', () => {
  it.each(NOTICED)('%s, seed %s, with %s', (play, seed, mutant, says) => {
    const healthy = nodecli('sim', 'run', play, '--seed', seed);
    expect(healthy.code).toBe(0);
    const patch = join(root, 'scenarios/zoo', `${mutant}.json`);
    const { code, out } = nodecli('sim', 'run', play, '--seed', seed, '--mutant', patch);
    expect(code).toBe(1);
    expect(out.split('\n').find((line) => line.includes('violated '))).toContain(says);
  });
});
