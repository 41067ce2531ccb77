// The folders of a network's nodes, as `testnet` writes them (spec 1.1, 2): made with fresh keys, and read
// back with errors that name the file.

import { randomBytes, randomInt } from 'node:crypto';
import { existsSync, readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { utf8Decode } from '#platform';
import { DEFAULT_NODE, type NodeConfig } from '../../../actors/node.ts';
import { whyUnplayable } from '../../../machines/chain/playable.ts';
import { hexOf } from '../../../protocol/bytes.ts';
import {
  formatGenesis,
  formatNodeKey,
  formatPrivValidatorKey,
  formatPrivValidatorState,
  nodeIdOf,
  parseGenesis,
  type SignState,
} from '../../../protocol/json/index.ts';
import { type KeyPair, keyPairOfSeed } from '../../../protocol/keys.ts';
import { isRefusal } from '../../../protocol/refusal.ts';
import { DEFAULT_PARAMS } from '../../../protocol/rules/params.ts';
import { hasTwoThirds } from '../../../protocol/rules/quorum.ts';
import { genesisState } from '../../../protocol/rules/state.ts';
import { EMPTY_BYTES, type Genesis, ZERO_TIME_NS } from '../../../protocol/types.ts';
import { makeFolder, readText, SetupError, setupError, writeFileAtomic } from '../disk/files.ts';
import {
  type ConfigFile,
  configText,
  type FilesOfNode,
  type Inbound,
  readConfigFile,
  USUAL_FILES,
} from './config-file.ts';
import { dataOf, logIn } from './data-folder.ts';
import { readGenesisFile, readNodeKeyFile, readSignStateFile, readValidatorKeyFile } from './key-files.ts';
import { mustMeet } from './reach.ts';
import { laterOf } from './sign-state.ts';

/** The files of a home. */
export interface HomePaths extends FilesOfNode {
  readonly config: string;
  readonly data: string;
}

const configPath = (home: string): string => join(home, 'config', 'config.toml');

/** Where they are in a home of ours. */
export const usualPaths = (home: string): HomePaths => pathsIn(home, USUAL_FILES);

function pathsIn(home: string, { genesis, nodeKey, validatorKey, signState }: FilesOfNode): HomePaths {
  return {
    config: configPath(home),
    data: dataOf(home),
    genesis: resolve(home, genesis),
    nodeKey: resolve(home, nodeKey),
    validatorKey: resolve(home, validatorKey),
    signState: resolve(home, signState),
  };
}

/** All that a node's process reads before it opens its ports. */
export interface NodeHome {
  readonly paths: HomePaths;
  readonly config: NodeConfig;
  readonly inbound: Inbound;
  readonly validatorKey: KeyPair;
  /** Of the file: where this key last signed when it was last stopped in peace. */
  readonly signState: SignState;
}

/**
 * All peers are on this machine and answer within moments: a restarted node need not wait for them as one of
 * the open net must.
 */
const LOCAL_SYNC: NodeConfig['sync'] = {
  ...DEFAULT_NODE.sync,
  waitNs: 250_000_000n,
  checkNs: 100_000_000n,
};

const HOST = '127.0.0.1';
const PREFIX = 'node';
/** Ports of a new network from here on: CometBFT's. */
export const PORT_FIRST = 26_656;
const NEVER_SIGNED: SignState = {
  height: 0n,
  round: 0,
  step: 0,
  signature: EMPTY_BYTES,
  signBytes: EMPTY_BYTES,
};

/** node0, node1, ... below a network's folder. */
export const homesBelow = (folder: string, validators: number): string[] =>
  Array.from({ length: validators }, (_, i) => join(folder, `${PREFIX}${i}`));

// --- making ------------------------------------------------------------------------------------------------

/**
 * Homes of a new network below `folder`: fresh keys, power 1 each, a shared genesis of now.
 * @param ports where each listens on 127.0.0.1
 */
export function makeHomes(folder: string, ports: readonly number[]): string[] {
  const homes = homesBelow(folder, ports.length);
  const keys = homes.map(() => ({ validator: freshKey(), node: freshKey() }));
  const genesis = formatGenesis(genesisOf(keys.map(({ validator }) => validator)));
  const peers = keys.map(({ node }, i) => {
    return { id: nodeIdOf(node.publicKey), host: HOST, port: ports[i] as number };
  });
  for (const [i, home] of homes.entries()) {
    const key = keys[i] as (typeof keys)[number];
    const paths = usualPaths(home);
    makeFolder(join(home, 'config'), 0o755);
    makeFolder(paths.data, 0o700);
    const config = configText(`${PREFIX}${i}`, peers[i] as (typeof peers)[number], peers);
    writeFileAtomic(paths.config, config, 0o644);
    writeFileAtomic(paths.genesis, genesis, 0o644);
    writeFileAtomic(paths.nodeKey, formatNodeKey(key.node), 0o600);
    writeFileAtomic(paths.signState, formatPrivValidatorState(NEVER_SIGNED), 0o600);
    // Last: a home with this file is complete.
    writeFileAtomic(paths.validatorKey, formatPrivValidatorKey(key.validator), 0o600);
  }
  return homes;
}

const freshKey = (): KeyPair => keyPairOfSeed(new Uint8Array(randomBytes(32)));

const LETTERS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

function genesisOf(validators: readonly KeyPair[]): Genesis {
  const tail = Array.from({ length: 6 }, () => LETTERS[randomInt(LETTERS.length)]).join('');
  return {
    genesisTimeNs: BigInt(Date.now()) * 1_000_000n,
    chainId: `chain-${tail}`,
    initialHeight: 0n, // the file says 0, and it is read as 1 (spec 1.1)
    consensusParams: DEFAULT_PARAMS,
    validators: validators.map(({ address, publicKey }, i) => {
      return { address, publicKey, power: 1n, name: `${PREFIX}${i}` };
    }),
    appHash: EMPTY_BYTES,
    appState: EMPTY_BYTES,
  };
}

// --- reading -----------------------------------------------------------------------------------------------

/** What its config.toml says, and where that says its other files are. */
function configured(home: string): Omit<ConfigFile, 'files'> & { readonly paths: HomePaths } {
  const { files, ...said } = readConfigFile(configPath(home));
  return { paths: pathsIn(home, files), ...said };
}

/** A genesis that is well formed may still be of a chain that cannot begin, or not here. */
function mustBePlayable(genesis: Genesis, path: string): void {
  const { validators, consensusParams } = genesis;
  const wrong = (because: string): SetupError => new SetupError(`the genesis file ${path} ${because}`);
  if (validators.length === 0) throw wrong('names no validators: nobody could make a block');
  // CometBFT takes the time at which it reads it, which is another one for each node.
  if (genesis.genesisTimeNs === ZERO_TIME_NS)
    throw wrong('has no genesis_time: write the same time into that of every node, as 2026-01-31T12:00:00Z');
  const state = genesisState(genesis);
  if (isRefusal(state)) throw wrong(`is not valid: validators: ${state.because}`);
  const refusal = whyUnplayable(consensusParams, validators.length);
  if (refusal) throw wrong(`cannot be played: consensus_params: ${refusal.because}`);
}

/** Refuses (SetupError) a home that is not whole, or does not fit together. */
export function readHome(path: string): NodeHome {
  const { paths, settings, inbound } = configured(path);
  const genesis = readGenesisFile(paths.genesis);
  const nodeKey = readNodeKeyFile(paths.nodeKey);
  const { pair: validatorKey, legacyState } = readValidatorKeyFile(paths.validatorKey);
  if (validatorKey.publicKey.type !== 'ed25519') {
    throw new SetupError(`the validator key file ${paths.validatorKey}: only ed25519 keys sign here`);
  }
  mustBePlayable(genesis, paths.genesis);
  const signState = laterOf(readSignStateFile(paths.signState), legacyState);
  if (!signState) {
    throw new SetupError(
      `${paths.signState} is missing: without it this key might sign twice. Restore it, ` +
        'or (only if the key never signed) write {"height":"0","round":0,"step":0} into it',
    );
  }
  const config: NodeConfig = {
    ...DEFAULT_NODE,
    ...settings,
    sync: LOCAL_SYNC,
    id: nodeIdOf(nodeKey.publicKey),
    genesis: readText('the genesis file', paths.genesis),
    publicKey: hexOf(validatorKey.publicKey.bytes),
  };
  return { paths, config, inbound, validatorKey, signState };
}

/**
 * A chain goes on with the genesis that it began with, and says so where the file has become another one (CometBFT
 * LoadStateFromDBOrGenesisDocProvider; spec 1.2). `stored`: the document of the first start, if there was one.
 */
export function withGenesisOf(
  stored: Uint8Array | undefined,
  home: NodeHome,
  warn: (what: string) => void,
): NodeHome {
  if (!stored) return home;
  const genesis = utf8Decode(stored);
  const { paths, config } = home;
  if (genesisInSubstance(genesis) !== genesisInSubstance(config.genesis))
    warn(
      `the genesis file ${paths.genesis} is not the one that this node's chain began with: that one counts. ` +
        'Restore the file, or make another home for another chain',
    );
  return { ...home, config: { ...config, genesis } };
}

/** Whatever its spaces, the order of its members and what it leaves to defaults. */
function genesisInSubstance(text: string): string {
  const genesis = parseGenesis(text);
  return isRefusal(genesis) ? text : formatGenesis(genesis);
}

/** How the homes of a network below `folder` stand. */
export function homesFound(folder: string): number {
  if (!existsSync(folder)) return 0;
  try {
    return readdirSync(folder).filter((name) => /^node[0-9]+$/.test(name)).length;
  } catch (error) {
    throw setupError(`cannot read the folder ${folder}`, error);
  }
}

/**
 * The homes of an existing network, if it has so many nodes, each is whole, and they can decide something; a refusal
 * that says what to do if not.
 */
export function existingHomes(folder: string, validators: number): string[] {
  const found = homesFound(folder);
  const homes = homesBelow(folder, found);
  const read = homes.map((home) => wholeHome(folder, home));
  mustBelongTogether(folder, homes, read);
  // Before the number of nodes: no advice to start what cannot go.
  mustBeEnough(folder, read);
  if (found !== validators) {
    throw new SetupError(
      `${folder} holds a network of ${found} nodes, not ${validators}: ` +
        `start it with --validators ${found}, or name another folder`,
    );
  }
  mustMeet(read);
  return homes;
}

const incomplete = (folder: string, because: string, restore: string): SetupError =>
  new SetupError(
    `${folder} holds an incomplete network: ${because}. ${restore}, or remove the folder to begin anew`,
  );

function wholeHome(folder: string, home: string): NodeHome {
  const mustExist = (path: string): void => {
    if (!existsSync(path)) throw incomplete(folder, `${path} is missing`, 'Restore it');
  };
  mustExist(configPath(home));
  Object.values(configured(home).paths).forEach(mustExist);
  return readHome(home);
}

function mustBelongTogether(folder: string, homes: readonly string[], read: readonly NodeHome[]): void {
  const configs = read.map(({ config }) => config);
  for (const [i, { publicKey, id }] of configs.entries()) {
    const twin = configs.findIndex((each) => each.publicKey === publicKey || each.id === id);
    if (twin === i) continue;
    const key = configs[twin]?.publicKey === publicKey ? 'validator key' : 'node key';
    throw new SetupError(
      `${homes[twin]} and ${homes[i]} have the same ${key}: two nodes with one key are a double vote, or drop each other. Give each its own`,
    );
  }
  const other = configs.findIndex(({ genesis }) => genesis !== configs[0]?.genesis);
  if (other > 0) {
    throw new SetupError(
      `${homes[0]} and ${homes[other]} have different genesis files: copy one to all, or remove ${folder}`,
    );
  }
}

/** Whoever made the homes may have been stopped in the middle, and the genesis is written with the first. */
function mustBeEnough(folder: string, homes: readonly NodeHome[]): void {
  const genesis = homes[0] && parseGenesis(homes[0].config.genesis);
  if (!genesis || isRefusal(genesis)) return; // `readHome` refuses it
  const { validators, initialHeight } = genesis;
  // Once one has run, here or elsewhere, the chain may have other validators than it began with, and nothing is thrown away.
  const hasRun = ({ paths, signState }: NodeHome): boolean =>
    signState.height > initialHeight || existsSync(logIn(paths.data, 'privval'));
  if (homes.some(hasRun)) return;
  const here = new Set(homes.map(({ validatorKey }) => hexOf(validatorKey.address)));
  const missing = validators.filter(({ address }) => !here.has(hexOf(address)));
  const powerOf = (some: Genesis['validators']): bigint => some.reduce((sum, { power }) => sum + power, 0n);
  const total = powerOf(validators);
  if (missing.length === 0 || hasTwoThirds(total - powerOf(missing), total)) return;
  const names = missing.map(({ name, address }) => name || hexOf(address)).join(', ');
  const because =
    `its genesis names validators that have no home here (${names}), and without them no block has ` +
    'more than two thirds of the power';
  throw incomplete(folder, because, 'Restore their homes');
}
