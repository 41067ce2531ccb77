// The files of a network: homes made and read back, config.toml, and the key's last signature on its way in
// and out.

import * as fs from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { DEFAULT_NODE } from '../../../actors/node.ts';
import { formatPrivValidatorState, parseGenesis } from '../../../protocol/json/index.ts';
import { isRefusal } from '../../../protocol/refusal.ts';
import { type Genesis, ZERO_TIME_NS } from '../../../protocol/types.ts';
import { SetupError } from '../../../runtime/host/disk/files.ts';
import { openLog } from '../../../runtime/host/disk/log.ts';
import { readConfigFile } from '../../../runtime/host/home/config-file.ts';
import { durationNs, durationText } from '../../../runtime/host/home/durations.ts';
import {
  existingHomes,
  homesFound,
  makeHomes,
  readHome,
  usualPaths,
} from '../../../runtime/host/home/home.ts';
import { whyAlone } from '../../../runtime/host/home/reach.ts';
import { exportSignState, importSignState, lastSignOf } from '../../../runtime/host/home/sign-state.ts';
import { bytesOf } from '../../compliance/bytes.ts';
import { temporaryFolder } from './folders.ts';

const NONE = new Uint8Array(0);
const PORTS = [40_001, 40_002, 40_003, 40_004];
const made = () => {
  const folder = join(temporaryFolder(), 'net');
  return { folder, homes: makeHomes(folder, PORTS) };
};
const change = (path: string, from: string | RegExp, to: string): void =>
  fs.writeFileSync(path, fs.readFileSync(path, 'utf8').replace(from, to));

describe('homes', () => {
  test('are laid out as `testnet` writes them, secrets for their owner only', () => {
    const { homes } = made();
    const mode = (path: string): string => (fs.statSync(path).mode & 0o777).toString(8);
    for (const home of homes) {
      const paths = usualPaths(home);
      expect(fs.readdirSync(join(home, 'config')).sort()).toEqual([
        'config.toml',
        'genesis.json',
        'node_key.json',
        'priv_validator_key.json',
      ]);
      expect(fs.readdirSync(paths.data)).toEqual(['priv_validator_state.json']);
      expect([paths.data, paths.nodeKey, paths.validatorKey, paths.signState].map(mode)).toEqual([
        '700',
        '600',
        '600',
        '600',
      ]);
    }
  });

  test('share one genesis of validators with power 1, and know each other', () => {
    const { homes } = made();
    const read = homes.map(readHome);
    expect(new Set(read.map(({ config }) => config.genesis)).size).toBe(1);
    const genesis = parseGenesis(read[0]!.config.genesis) as Genesis;
    expect(isRefusal(genesis)).toBe(false);
    expect(genesis.chainId).toMatch(/^chain-[0-9A-Za-z]{6}$/);
    expect(genesis.genesisTimeNs).toBeGreaterThan(ZERO_TIME_NS);
    expect(genesis.validators.map(({ name, power }) => [name, power])).toEqual([
      ['node0', 1n],
      ['node1', 1n],
      ['node2', 1n],
      ['node3', 1n],
    ]);
    for (const [i, { config, validatorKey }] of read.entries()) {
      expect(config).toMatchObject({
        name: `node${i}`,
        app: 'kvstore',
        crypto: 'ed25519',
        listenAddress: `ws://127.0.0.1:${PORTS[i]}`,
      });
      expect(config.peers.map(({ address }) => address)).toEqual(
        PORTS.map((port) => `ws://127.0.0.1:${port}`),
      );
      expect(config.peers[i]!.peer).toBe(config.id);
      expect(genesis.validators[i]!.address).toEqual(validatorKey.address);
      expect(config.consensus).toEqual(DEFAULT_NODE.consensus);
      expect(config.mempool).toEqual(DEFAULT_NODE.mempool);
    }
  });

  test('are found again; another number of nodes, or a hole, is refused with what to do', () => {
    const { folder, homes } = made();
    expect(homesFound(join(folder, 'nothing'))).toBe(0);
    expect(existingHomes(folder, 4)).toEqual(homes);
    expect(() => existingHomes(folder, 3)).toThrow(
      'holds a network of 4 nodes, not 3: start it with --validators 4',
    );
    const { signState } = usualPaths(homes[2]!);
    fs.rmSync(signState);
    expect(() => existingHomes(folder, 4)).toThrow(`holds an incomplete network: ${signState} is missing`);
    expect(() => readHome(homes[2]!)).toThrow(
      `${signState} is missing: without it this key might sign twice`,
    );
  });

  test('of a network half made are refused, for it could never make a block; with enough of them it can', () => {
    const { folder, homes } = made();
    for (const home of homes.slice(2)) fs.rmSync(home, { recursive: true });
    const halfMade =
      /holds an incomplete network: .*\(node2, node3\).*two thirds.* Restore their homes, or remove the folder/;
    for (const validators of [2, 4]) expect(() => existingHomes(folder, validators)).toThrow(halfMade);
    // One that has run, here or elsewhere, may have other validators by now, however it ended.
    const { signState, data } = usualPaths(homes[1]!);
    const signed = (height: bigint): void => {
      const bytes = new Uint8Array(64);
      const at = { height, round: 0, step: 3, signature: bytes, signBytes: bytes };
      fs.writeFileSync(signState, formatPrivValidatorState(at));
    };
    signed(2n);
    expect(existingHomes(folder, 2)).toEqual(homes.slice(0, 2));
    signed(1n);
    expect(() => existingHomes(folder, 2)).toThrow(halfMade);
    fs.writeFileSync(join(data, 'privval.log'), '');
    expect(existingHomes(folder, 2)).toEqual(homes.slice(0, 2));
    const other = made();
    fs.rmSync(other.homes[3]!, { recursive: true });
    expect(existingHomes(other.folder, 3)).toEqual(other.homes.slice(0, 3));
  });

  test('are read where config.toml says that they are', () => {
    const { folder, homes } = made();
    const { config, genesis, validatorKey } = usualPaths(homes[0]!);
    const elsewhere = join(folder, 'elsewhere.json');
    fs.renameSync(genesis, elsewhere);
    fs.renameSync(validatorKey, join(homes[0]!, 'key.json'));
    change(config, 'config/genesis.json', elsewhere);
    expect(() => existingHomes(folder, 4)).toThrow(
      /incomplete network: .*priv_validator_key\.json is missing/,
    );
    change(config, 'config/priv_validator_key.json', 'key.json');
    expect(existingHomes(folder, 4)).toEqual(homes);
    expect(readHome(homes[0]!).paths.genesis).toBe(elsewhere);
  });

  test.each(['validatorKey', 'nodeKey'] as const)('with one %s do not belong together', (key) => {
    const { folder, homes } = made();
    fs.copyFileSync(usualPaths(homes[1]!)[key], usualPaths(homes[3]!)[key]);
    expect(() => existingHomes(folder, 4)).toThrow(/node1 and .*node3 have the same (validator|node) key/);
  });

  test('with a key in config.toml that nobody knows are refused, those of CometBFT are not', () => {
    const { homes } = made();
    const { config } = usualPaths(homes[0]!);
    change(
      config,
      '[consensus]',
      '[consensus]\ndouble_sign_check_height = 10\n[rpc]\nladdr = "x"\n[consensus.more]',
    );
    expect(() => readHome(homes[0]!)).toThrow('there is no consensus.more');
    const other = usualPaths(homes[1]!).config;
    change(other, '[consensus]', '[consensus]\ndouble_sign_check_height = 10\ntimeout_comit = "1s"');
    expect(() => readHome(homes[1]!)).toThrow(
      'there is no consensus.timeout_comit; this node reads timeout_propose',
    );
    change(other, 'timeout_comit = "1s"', '');
    change(other, 'persistent_peers', 'pex = false\npersistant_peers');
    expect(() => readHome(homes[1]!)).toThrow('there is no p2p.persistant_peers; this node reads laddr');
    change(other, 'persistant_peers', 'persistent_peers');
    expect(readHome(homes[1]!).config.name).toBe('node1');
  });

  test('with different genesis files do not belong together', () => {
    const { folder, homes } = made();
    change(usualPaths(homes[1]!).genesis, /chain-....../, 'chain-other!');
    expect(() => existingHomes(folder, 4)).toThrow(/node0 and .*node1 have different genesis files/);
  });

  test('of a key file that holds its last signature, too, as before 0.31, the later of the two counts', () => {
    const { homes } = made();
    const { validatorKey, signState } = usualPaths(homes[0]!);
    const withState = { last_height: '1000', last_round: '1', last_step: 3 };
    const { priv_key } = JSON.parse(fs.readFileSync(validatorKey, 'utf8'));
    fs.writeFileSync(validatorKey, JSON.stringify({ priv_key, ...withState }));
    expect(readHome(homes[0]!).signState).toMatchObject({ height: 1_000n, round: 1, step: 3 });
    const later = { height: 1_000n, round: 2, step: 1, signature: NONE, signBytes: NONE };
    fs.writeFileSync(signState, formatPrivValidatorState(later));
    expect(readHome(homes[0]!).signState).toMatchObject({ height: 1_000n, round: 2, step: 1 });
    fs.rmSync(signState);
    expect(readHome(homes[0]!).signState).toMatchObject({ height: 1_000n, round: 1, step: 3 });
  });

  test.each([
    ['genesis', '{', /^the genesis file .*genesis\.json is not valid: /],
    ['genesis', '{"chain_id":"a"}', /genesis\.json names no validators/],
    ['nodeKey', '{}', /^the node key file .*node_key\.json is not valid: /],
    ['validatorKey', '[]', /^the validator key file .*priv_validator_key\.json is not valid: /],
    ['signState', '{"height":"x"}', /^the signer's state file .*priv_validator_state\.json is not valid: /],
    ['config', 'what', /^the configuration .*config\.toml is not valid: line 1, column \d+: ./],
  ] as const)('a broken %s is named: %s', (file, content, message) => {
    const { homes } = made();
    fs.writeFileSync(usualPaths(homes[0]!)[file], content);
    expect(() => readHome(homes[0]!)).toThrow(message);
    expect(() => readHome(homes[0]!)).toThrow(SetupError);
  });
});

describe('a genesis of a chain that cannot begin', () => {
  const document = (path: string) => JSON.parse(fs.readFileSync(path, 'utf8'));
  type Document = ReturnType<typeof document>;
  const twins = ({ validators }: Document): void => {
    validators[3] = validators[1];
  };
  const mighty = ({ validators }: Document): void => {
    validators[3].power = String(2n ** 60n);
  };
  const small = ({ consensus_params: { block, evidence } }: Document): void => {
    Object.assign(block, { max_bytes: '1000' });
    Object.assign(evidence, { max_bytes: '100' });
  };
  const extended = ({ consensus_params: { abci } }: Document): void => {
    abci.vote_extensions_enable_height = '1';
  };
  const timeless = (genesis: Document): void => {
    delete genesis.genesis_time;
  };
  const zero = (genesis: Document): void => {
    genesis.genesis_time = '0001-01-01T00:00:00Z';
  };
  test.each([
    ['no time', timeless, /genesis\.json has no genesis_time: write the same time/],
    ['the time that Go has where there is none', zero, /genesis\.json has no genesis_time/],
    ['two validators with one key', twins, /genesis\.json is not valid: validators: duplicate/],
    ['more power than may be', mighty, /genesis\.json is not valid: validators: .*power/],
    [
      'blocks with no room',
      small,
      /genesis\.json cannot be played: consensus_params: block\.max_bytes=1000 is too small/,
    ],
    [
      'vote extensions',
      extended,
      /genesis\.json cannot be played: .*vote extensions.*vote_extensions_enable_height is 1, and must be 0/,
    ],
  ] as const)('%s', (_, edit, message) => {
    const { homes } = made();
    const { genesis } = usualPaths(homes[0]!);
    const edited = document(genesis);
    edit(edited);
    fs.writeFileSync(genesis, JSON.stringify(edited));
    expect(() => readHome(homes[0]!)).toThrow(message);
    expect(() => readHome(homes[0]!)).toThrow(SetupError);
  });
});

describe('config.toml', () => {
  test.each([
    ['timeout_commit = "1s"', 'timeout_commit = "250ms"', { consensus: { timeoutCommitNs: 250_000_000n } }],
    [
      'create_empty_blocks = true',
      'create_empty_blocks = false # quiet',
      { consensus: { createEmptyBlocks: false } },
    ],
    ['proxy_app = "kvstore"', "proxy_app = 'counter'", { app: 'counter' }],
    ['max_txs_bytes = 1073741824', 'max_txs_bytes = 1_000', { mempool: { bytesMax: 1000 } }],
    [
      '[p2p]',
      'log_level = ["a",\n"b"]\n[tx_index] # of others\nother = -7\nratio = 0.5\n[p2p]',
      { name: 'node0' },
    ],
  ])('%s -> %s', (from, to, settings) => {
    const { config } = usualPaths(made().homes[0]!);
    change(config, from, to);
    expect(readConfigFile(config).settings).toMatchObject(settings);
  });

  test.each([
    ['timeout_commit = "1s"', 'timeout_commit = "-1s"', 'consensus.timeout_commit must be a duration'],
    ['timeout_commit = "1s"', 'timeout_commit = 1', 'consensus.timeout_commit must be a duration'],
    [
      'peer_gossip_sleep_duration = "100ms"',
      'peer_gossip_sleep_duration = "0s"',
      'consensus.peer_gossip_sleep_duration must be a duration from "1ms" on',
    ],
    [
      'block_time_tolerance = "1m0s"',
      'block_time_tolerance = "0s"',
      'consensus.block_time_tolerance must be a duration of more than "0s"',
    ],
    ['proxy_app = "kvstore"', 'proxy_app = "tcp://x:1"', 'proxy_app must be the name of an application'],
    [
      'proxy_app = "kvstore"',
      'proxy_ap = "counter"',
      /config\.toml is not valid: there is no proxy_ap; this node reads proxy_app, mempool, consensus, p2p, genesis_file/,
    ],
    ['[consensus]', '[consenus]', 'there is no consenus; this node reads proxy_app, mempool, consensus'],
    ['size = 5000', 'siz = 5000', 'there is no mempool.siz; this node reads type, recheck'],
    ['size = 5000', 'size = -1', 'mempool.size must be a whole number from 0 on'],
    ['size = 5000', 'size = 1.5', 'mempool.size must be a whole number from 0 on'],
    ['size = 5000', 'size = "5000"', 'mempool.size must be a whole number from 0 on'],
    ['type = "flood"', 'type = "fifo"', 'mempool.type must be "flood" or "nop"'],
    ['recheck = true', 'recheck = "yes"', 'mempool.recheck must be true or false'],
    ['type = "flood"', 'type = "nop"\n[consensus]', /line \d+, column \d+: ./],
    [
      'create_empty_blocks = true',
      'create_empty_blocks = false\n[mempool]',
      /line \d+, column \d+: .*redefine/,
    ],
    ['genesis_file = "config/genesis.json"', 'genesis_file = ""', 'genesis_file must be the path of a file'],
    [/version[\s\S]*/, 'mempool = 7', 'mempool must be a table: [mempool]'],
    [/laddr = .*/, 'laddr = "tcp://127.0.0.1:99999"', 'p2p.laddr must be an address'],
    [
      /laddr = .*/,
      'laddr = "tcp://0.0.0.0:26656"', // as CometBFT writes it
      /config\.toml is not valid: p2p\.laddr must be an address to listen on, such as "tcp:\/\/127\.0\.0\.1:26656": .* only loopback/,
    ],
    [
      'moniker = "node0"',
      'moniker = ""',
      'moniker must be a short name in printable ASCII, such as "node0": ',
    ],
    ['moniker = "node0"', 'moniker = "  "', 'moniker is not printable ASCII'],
    ['moniker = "node0"', 'moniker = "Zürich"', 'moniker is not printable ASCII'],
    [
      /persistent_peers = .*/,
      `persistent_peers = "${'a'.repeat(40)}@10.0.0.7:26656"`,
      'p2p.persistent_peers must be a list of peers that can be dialled: "ws://10.0.0.7:26656" is not on this machine',
    ],
    [
      /persistent_peers = .*/,
      `persistent_peers = "${'a'.repeat(40)}@127.0.0.08:26656"`,
      '"ws://127.0.0.08:26656" is not on this machine',
    ],
    [/persistent_peers = .*/, 'persistent_peers = "abc@127.0.0.1:1"', 'p2p.persistent_peers must be a list'],
  ])('%s -> %s is refused', (from, to, message) => {
    const { config } = usualPaths(made().homes[0]!);
    change(config, from, to);
    expect(() => readConfigFile(config)).toThrow(message);
  });

  test('what CometBFT has and this node has not is left alone', () => {
    const { config } = usualPaths(made().homes[0]!);
    const keys = ['db_backend', 'db_dir', 'log_level', 'log_format', 'priv_validator_laddr', 'abci', 'home'];
    const tables = ['rpc', 'statesync', 'blocksync', 'storage', 'tx_index', 'instrumentation'];
    const text = `${keys.map((key) => `${key} = "x"\n`).join('')}filter_peers = false\nevent_bus_buffer_capacity = 0\n`;
    change(config, '[p2p]', `${text}${tables.map((table) => `[${table}]\nodd = 1\n`).join('')}[p2p]`);
    expect(readConfigFile(config).settings.name).toBe('node0');
  });

  test('a moniker too long for a greeting is refused', () => {
    const { config } = usualPaths(made().homes[0]!);
    change(config, 'node0', 'x'.repeat(9_000));
    expect(readConfigFile(config).settings.name).toHaveLength(9_000);
    change(config, 'x'.repeat(9_000), 'x'.repeat(10_240));
    expect(() => readConfigFile(config)).toThrow('moniker must be a short name');
  });

  test('no mempool and no empty blocks would be no blocks', () => {
    const { config } = usualPaths(made().homes[0]!);
    change(config, 'type = "flood"', 'type = "nop"');
    expect(readConfigFile(config).settings.mempool.kind).toBe('nop');
    change(config, 'create_empty_blocks = true', 'create_empty_blocks = false');
    expect(() => readConfigFile(config)).toThrow(
      'consensus.create_empty_blocks must be true with mempool.type',
    );
  });

  test.each([
    ['0s', 0n],
    ['500ms', 500_000_000n],
    ['1.5s', 1_500_000_000n],
    ['1m0s', 60_000_000_000n],
    ['168h0m0s', 604_800_000_000_000n],
  ])('the duration %s is read and written', (text, ns) => {
    expect(durationNs(text)).toBe(ns);
    expect(durationText(ns)).toBe(text);
  });

  test.each([
    ['.5s', 500_000_000n],
    ['1.s', 1_000_000_000n],
    ['+1s', 1_000_000_000n],
    ['+0', 0n],
    ['1.5µs', 1_500n],
    ['1.5μs', 1_500n],
    ['9223372036854775807ns', 0x7fff_ffff_ffff_ffffn],
  ])('the duration %s is read as Go reads it', (text, ns) => {
    expect(durationNs(text)).toBe(ns);
  });

  test.each(['', '1', 's', '.s', '+', '1x', '-1s', '1s ', '+1s+1s', '9223372036854775808ns', '9999999h'])(
    '"%s" is no duration',
    (text) => {
      expect(durationNs(text)).toBe(null);
    },
  );
});

describe('who may dial a node', () => {
  const [friend, stranger] = ['a'.repeat(40), 'b'.repeat(40)];

  test('is, of strangers, as many as CometBFT takes, and whoever the configuration names', () => {
    const { homes } = made();
    const { config } = usualPaths(homes[0]!);
    const ids = homes.map((home) => readHome(home).config.id);
    expect(readHome(homes[0]!).inbound).toEqual({ most: 40, always: ids });
    change(config, /max_num_inbound_peers = .*/, 'max_num_inbound_peers = 7');
    change(config, 'unconditional_peer_ids = ""', `unconditional_peer_ids = " ${friend},, ${stranger}"`);
    expect(readConfigFile(config).inbound).toEqual({ most: 7, always: [...ids, friend, stranger] });
    change(config, /(max_num_inbound_peers|unconditional_peer_ids|persistent_peers) = .*\n/g, '');
    expect(readConfigFile(config).inbound).toEqual({ most: 40, always: [] });
  });

  test.each([
    [/max_num_inbound_peers = .*/, 'max_num_inbound_peers = -1', 'p2p.max_num_inbound_peers must be a whole'],
    [
      'unconditional_peer_ids = ""',
      'unconditional_peer_ids = "node7"',
      'p2p.unconditional_peer_ids must be a list of ids, each of 40 lower-case hex digits, and not "node7"',
    ],
  ])('%s -> %s is refused', (from, to, message) => {
    const { config } = usualPaths(made().homes[0]!);
    change(config, from, to);
    expect(() => readConfigFile(config)).toThrow(message);
  });
});

describe('a config.toml that brings nobody together', () => {
  test.each([0, 2])('is named, with what to write, before a cluster waits for node%i for ever', (i) => {
    const { folder, homes } = made();
    const { config } = usualPaths(homes[i]!);
    fs.writeFileSync(config, '');
    const peers = homes
      .filter((home) => home !== homes[i])
      .map((home) => `${readHome(home).config.id}@127.0.0.1:${PORTS[homes.indexOf(home)]}`);
    expect(() => existingHomes(folder, 4)).toThrow(
      `${config}: p2p.persistent_peers names no peer, and the others dial it at 127.0.0.1:${PORTS[i]} while it listens at ` +
        '127.0.0.1:26656, so this node would never meet the others. ' +
        `Write persistent_peers = "${peers.join(',')}" and laddr = "tcp://127.0.0.1:${PORTS[i]}" below [p2p]`,
    );
    // As it says; and either of the two is enough.
    fs.writeFileSync(config, `[p2p]\npersistent_peers = "${peers.join(',')}"`);
    expect(existingHomes(folder, 4)).toEqual(homes);
    fs.writeFileSync(config, `[p2p]\nladdr = "tcp://127.0.0.1:${PORTS[i]}"`);
    expect(existingHomes(folder, 4)).toEqual(homes);
  });

  test('is none where one dials and the other is dialled, or where others are elsewhere', () => {
    const { folder, homes } = made();
    const peersOf = (i: number, text: string): void =>
      change(usualPaths(homes[i]!).config, /persistent_peers = .*/, `persistent_peers = "${text}"`);
    const at = (i: number): string => `${readHome(homes[i]!).config.id}@localhost:${PORTS[i]}`;
    for (const i of [0, 1, 2, 3]) peersOf(i, i === 0 ? '' : at(i - 1));
    expect(existingHomes(folder, 4)).toEqual(homes);
    peersOf(1, '');
    expect(() => existingHomes(folder, 4)).toThrow(
      /node0.*: p2p\.persistent_peers names no peer, and no other/,
    );
    peersOf(1, `${'a'.repeat(40)}@127.0.0.1:7`);
    expect(existingHomes(folder, 4)).toEqual(homes);
  });

  test('is warned of where a node needs others, and not where it is a network of one', () => {
    const [one] = makeHomes(join(temporaryFolder(), 'net'), [0]) as [string];
    fs.writeFileSync(usualPaths(one).config, '');
    expect(whyAlone(readHome(one))).toBeNull();
    expect(existingHomes(join(one, '..'), 1)).toEqual([one]);
    const { homes } = made();
    expect(whyAlone(readHome(homes[0]!))).toBeNull();
    const { config } = usualPaths(homes[0]!);
    fs.writeFileSync(config, '');
    expect(whyAlone(readHome(homes[0]!))).toBe(
      `p2p.persistent_peers of ${config} names no peer, and without others this node sees no block: it waits until one ` +
        'dials it at ws://127.0.0.1:26656. Write persistent_peers = "ID@127.0.0.1:PORT,..." below [p2p]',
    );
  });
});

describe("the key's last signature", () => {
  const at = (height: bigint, round: number, step: number) => ({
    height,
    round,
    step,
    signature: bytesOf('signature'),
    signBytes: bytesOf(`bytes of ${height}/${round}/${step}`),
  });

  test('comes in from the file when it is later than the log, and goes out to it', async () => {
    const folder = temporaryFolder();
    const log = openLog(join(folder, 'privval.log'));
    expect(lastSignOf(log)).toBe(null);
    await importSignState(log, at(0n, 0, 0));
    expect(log.read()).toHaveLength(0);
    await importSignState(log, at(7n, 1, 2));
    await importSignState(log, at(7n, 1, 1)); // earlier
    await importSignState(log, at(7n, 0, 3)); // earlier
    await importSignState(log, at(6n, 9, 3)); // earlier
    await importSignState(log, at(7n, 1, 3));
    await importSignState(log, at(7n, 2, 1));
    expect(log.read()).toHaveLength(3);
    expect(lastSignOf(log)).toEqual(at(7n, 2, 1));
    const path = join(folder, 'priv_validator_state.json');
    exportSignState(log, path);
    expect(fs.readFileSync(path, 'utf8')).toBe(formatPrivValidatorState(at(7n, 2, 1)));
    expect(fs.statSync(path).mode & 0o777).toBe(0o600);
    await log.close();
  });

  test('a record that is none stops the start', async () => {
    const log = openLog(join(temporaryFolder(), 'privval.log'));
    log.append(bytesOf('?'));
    await expect(importSignState(log, at(7n, 1, 2))).rejects.toThrow(SetupError);
    await log.close();
  });
});
