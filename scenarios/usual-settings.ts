// Whoever sets nothing has CometBFT's settings: oracles judge a node by those that it has, and a default that was changed would go
// unnoticed with all of them.

import type { NodeConfig } from '../actors/node.ts';
import { NS_PER_S } from '../protocol/time.ts';
import type { OracleMaker } from '../sim/oracle.ts';
import { everyone, height, scenario, txs, validators } from '../sim/scenario/words.ts';

type Section = 'consensus' | 'mempool' | 'sync';

/** `DefaultConfig` and constants of its reactors (CometBFT `config/config.go`, `blocksync/pool.go`), where we have them. */
const USUAL: { readonly [S in Section]: Partial<NodeConfig[S]> } = {
  consensus: {
    timeoutProposeNs: 3n * NS_PER_S,
    timeoutProposeDeltaNs: NS_PER_S / 2n,
    timeoutPrevoteNs: NS_PER_S,
    timeoutPrevoteDeltaNs: NS_PER_S / 2n,
    timeoutPrecommitNs: NS_PER_S,
    timeoutPrecommitDeltaNs: NS_PER_S / 2n,
    timeoutCommitNs: NS_PER_S,
    skipTimeoutCommit: false,
    createEmptyBlocks: true,
    createEmptyBlocksIntervalNs: 0n,
    blockTimeToleranceNs: 60n * NS_PER_S,
    gossipNs: NS_PER_S / 10n,
  },
  mempool: {
    kind: 'flood',
    txsMax: 5_000,
    bytesMax: 1_073_741_824,
    txBytesMax: 1_048_576,
    cacheSize: 10_000,
    keepInvalidTxsInCache: false,
    recheck: true,
    broadcast: true,
  },
  sync: {
    statusNs: 10n * NS_PER_S,
    peerTimeoutNs: 15n * NS_PER_S,
    banNs: 60n * NS_PER_S,
    requestsPerPeerMax: 20,
  },
};

/** `DefaultConsensusParams`, as a genesis file has them. */
const USUAL_PARAMS = {
  block: { max_bytes: '22020096', max_gas: '-1' },
  evidence: { max_age_num_blocks: '100000', max_age_duration: '172800000000000', max_bytes: '1048576' },
  validator: { pub_key_types: ['ed25519'] },
};

function oddSetting(config: NodeConfig): string | null {
  for (const section of Object.keys(USUAL) as Section[])
    for (const [field, usual] of Object.entries(USUAL[section])) {
      const has = (config[section] as unknown as Record<string, unknown>)[field];
      if (has !== usual) return `${section}.${field} of ${has}; it is ${usual} where nobody says anything`;
    }
  const params = JSON.parse(config.genesis).consensus_params;
  for (const [section, fields] of Object.entries(USUAL_PARAMS))
    for (const [field, usual] of Object.entries(fields)) {
      const has = params[section][field];
      if (String(has) !== String(usual)) return `${section}.${field} of ${has}; it is ${usual}`;
    }
  return null;
}

const usualSettingsOracle: OracleMaker = (report) => ({
  name: 'usual settings',
  started(at) {
    const odd = oddSetting(at.config);
    if (odd) report(`${at.name} begins with ${odd}`, at, 0n);
  },
});

export const usualSettings = scenario("who sets nothing has CometBFT's settings", {
  name: 'usual-settings',
  cast: validators(4),
  load: txs({ perSecond: 3 }),
  oracles: [usualSettingsOracle],
  ends: everyone.decides(height(5), { within: '60s' }),
});
