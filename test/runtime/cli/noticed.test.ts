// Plays show what they are for: with the check left out that they are about, an oracle speaks.

import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { isBuilt, nodecli, root } from './nodecli.ts';

/** Plays, seeds and mutants, and who notices. */
const NOTICED: readonly (readonly [string, string, string, string])[] = [
  ['tyrant-overthrown', '1', 'X10', 'out of turn'],
  ['forged-votes', '1', 'X22', 'justified'],
  ['forged-proposals', '2', 'X23', 'it heard no such proposal'],
  ['invalid-blocks', '1', 'X24', 'validity'],
  ['invalid-blocks', '1', 'X25', 'certificate'],
  ['invalid-blocks', '2', 'X26', 'is not of the median time'],
  ['invalid-blocks', '1', 'X27', 'who never lied'],
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
  ['application-decides', '1', 'X46', 'another consensus hash than the parameters in force'],
  ['evidence-travels', '1', 'X47', 'nobody was punished'],
  ['vote-outlives-lost-log', '1', 'X48', 'signed two prevotes'],
  ['vote-outlives-lost-log', '1', 'X49', 'signed two prevotes'],
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
