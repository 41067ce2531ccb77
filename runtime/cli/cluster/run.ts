// `nodecli cluster`: a network of validators on this machine, from its folders to its summary.

import { accessSync, constants, readdirSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { filter, firstValueFrom, map, merge, race, timer } from 'rxjs';
import { hexOf } from '../../../protocol/bytes.ts';
import { parseGenesis } from '../../../protocol/json/index.ts';
import { isRefusal } from '../../../protocol/refusal.ts';
import { makeFolder, SetupError, trying } from '../../host/disk/files.ts';
import { lockFolder } from '../../host/disk/lock.ts';
import { existingHomes, homesFound, makeHomes, readHome } from '../../host/home/home.ts';
import { TwoStepEnd } from '../interrupt.ts';
import { counted } from '../telling.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { CliError, countOf, EXIT, type Exit, endsAll, fileOf, whyNot } from '../usage.ts';
import { Cluster, type ClusterNode } from './cluster.ts';
import { drawnPort, holdPorts, PORT_MAX } from './free-ports.ts';
import { ClusterLoad, loadOf } from './load.ts';
import { Pace } from './pace.ts';
import { ClusterScreen } from './screen.ts';
import { type Ending, summaryOf } from './summary.ts';

export interface ClusterFlags {
  readonly validators: string;
  readonly home?: string;
  readonly blocks?: string;
  readonly load?: string;
  readonly record?: string;
  readonly basePort?: string;
  readonly quiet?: boolean;
}

/** More processes than this do not run on one machine to any use. */
export const VALIDATORS_MAX = 64;

const print = (line: string): void => void process.stdout.write(`${line}\n`);

export async function clusterRun(flags: ClusterFlags): Promise<Exit> {
  const validators = countOf(flags.validators, '--validators', 1, VALIDATORS_MAX);
  const blocks = flags.blocks === undefined ? null : BigInt(countOf(flags.blocks, '--blocks'));
  const perSecond = flags.load === undefined ? 0 : loadOf(flags.load);
  const network = await asCliErrors(() => {
    // The recordings of a network that goes on go on, too.
    const isNew = flags.home === undefined || homesFound(flags.home) === 0;
    if (flags.record !== undefined) mustTakeTraces(fileOf(flags.record, '--record'), isNew);
    return openNetwork(validators, flags);
  });
  if (flags.record !== undefined) await asCliErrors(async () => mustBeWritable(flags.record!, network));
  const cluster = new Cluster(network.homes, flags.record ?? null);
  const screen = new ClusterScreen(cluster, flags.quiet === true);
  const load = new ClusterLoad(cluster, perSecond);
  const interrupt = new TwoStepEnd(() => cluster.killAll());
  for (const line of network.about) screen.line(line);
  cluster.startAll();
  const pace = new Pace(cluster.events);
  await Promise.race([allUp(cluster), interrupt.asked]);
  load.start();
  const why = await untilEnd(cluster, load, blocks, interrupt);
  load.stop();
  await cluster.stopAll();
  screen.close();
  interrupt.close();
  const { lines, exit } = summaryOf(cluster.nodes, { why, blocks, pace, transactions: load });
  for (const line of lines) print(line);
  if (flags.record !== undefined && exit !== EXIT.usage)
    print(`traces in ${flags.record}: npx nodecli sim replay ${join(flags.record, 'node0.trace')}`);
  const left = leftOf(network, cluster.nodes, exit);
  if (left !== null) print(left);
  return exit;
}

/**
 * At the end a temporary network goes: what it was to show is shown, or no node had a port or a process, and no block is
 * there to look at. Otherwise it stays; where that is, and what for.
 */
export function leftOf(
  network: Network,
  nodes: readonly Pick<ClusterNode, 'height'>[],
  exit: Exit,
): string | null {
  const { folder, homes, isTemporary } = network;
  if (!isTemporary) return null;
  const isBlank = exit === EXIT.usage && nodes.every(({ height }) => height === 0n);
  if (exit !== EXIT.holds && !isBlank)
    return (
      `the network stays in ${folder} (keys, logs and blocks of each node): look into it, go on with ` +
      `npx nodecli cluster --home ${folder} --validators ${homes.length}, or remove it`
    );
  removeNetwork(folder);
  return null;
}

const removeNetwork = (folder: string): void => rmSync(folder, { recursive: true, force: true });

function mustTakeTraces(folder: string, isNew: boolean): void {
  const there = namesIn(folder, '--record').find((name) => name.endsWith('.trace'));
  if (there !== undefined && isNew)
    throw new CliError(`--record: ${join(folder, there)} is of another network: name an empty folder`);
}

/** It may lie in the network's own, which is there by now; where it cannot be, a temporary one goes, too. */
function mustBeWritable(folder: string, network: Network): void {
  try {
    makeFolder(folder);
    trying(`--record: nothing can be written into ${folder}`, () => accessSync(folder, constants.W_OK));
  } catch (error) {
    if (network.isTemporary) removeNetwork(network.folder);
    throw error;
  }
}

/** What is in a folder that need not be there yet. */
function namesIn(folder: string, option: string): string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw new CliError(`${option} takes a folder, and ${folder} is none: ${whyNot(error)}`);
  }
}

// --- the folders -------------------------------------------------------------------------------------------

export interface Network {
  readonly folder: string;
  readonly homes: readonly string[];
  readonly isTemporary: boolean;
  readonly about: readonly string[];
}

/** Of `lockFolder`: whoever was killed may have left one. */
const LOCK_NAME = /^LOCK(\.|$)/;

/** Takes the network's folder for this command, and makes the network if it is not there. */
export async function openNetwork(
  validators: number,
  flags: Pick<ClusterFlags, 'home' | 'basePort'>,
): Promise<Network> {
  const first = flags.basePort === undefined ? drawnPort() : countOf(flags.basePort, '--base-port');
  if (first > PORT_MAX) throw new CliError(`--base-port takes 1 to ${PORT_MAX}, not ${first}`);
  const isTemporary = flags.home === undefined;
  const goesOn = flags.home !== undefined && homesFound(flags.home) > 0;
  if (flags.home !== undefined && !goesOn) mustTakeNetwork(flags.home);
  const held = goesOn ? null : await holdPorts(first, validators);
  let folder = flags.home ?? '';
  try {
    if (isTemporary) folder = temporaryFolder('nodecli-cluster-', 'or name a folder with --home');
    makeFolder(folder);
    const onWatch = (line: string): void => console.error(line);
    process.once('exit', await lockFolder(folder, endsAll, { onWatch })); // until this command ends, whatever ends it
    const isNew = held !== null && homesFound(folder) === 0; // another may have made them since
    const homes = isNew ? makeHomes(folder, held.ports) : existingHomes(folder, validators);
    const what = !isNew ? 'goes on in' : isTemporary ? 'in the temporary folder' : 'in the new folder';
    const about = aboutNetwork(homes, `${what} ${folder}`);
    if (!isNew && flags.basePort !== undefined) about.push(...otherPorts(homes, first));
    return { folder, homes, isTemporary, about };
  } catch (error) {
    if (isTemporary && folder !== '') removeNetwork(folder); // half made it is of use to nobody
    throw error;
  } finally {
    await held?.free(); // its nodes listen within the second
  }
}

function mustTakeNetwork(folder: string): void {
  const other = namesIn(folder, '--home').find((name) => !name.startsWith('.') && !LOCK_NAME.test(name));
  if (other !== undefined)
    throw new CliError(`--home: ${folder} holds ${other}, and no network of ours: name a new folder`);
}

/** What a network that goes on was made with stays: the same command begins it and goes on with it. */
function otherPorts([home]: readonly string[], first: number): string[] {
  const { listenAddress } = readHome(home as string).config;
  const port = Number(new URL(listenAddress).port);
  return port === first
    ? []
    : [`--base-port is for a new network: this one listens from ${port} on, as its config.toml say`];
}

function aboutNetwork(homes: readonly string[], where: string): string[] {
  const genesis = parseGenesis(readHome(homes[0] as string).config.genesis);
  const chain = isRefusal(genesis) ? '?' : genesis.chainId;
  return [
    `network ${chain} of ${counted(homes.length, 'validator')} ${where}`,
    'peers do not prove who they are yet, so the nodes listen on 127.0.0.1 only',
    ...homes.map(whoIs),
  ];
}

/** What messages and blocks call a node. */
function whoIs(home: string): string {
  const { config, validatorKey } = readHome(home);
  return `${basename(home)}  id ${config.id}, validator ${hexOf(validatorKey.address)}`;
}

/** Errors of files and ports are for the person who typed the command. */
export async function asCliErrors<T>(run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    throw error instanceof SetupError ? new CliError(error.message) : error;
  }
}

// --- its end -----------------------------------------------------------------------------------------------

const START_MS_MAX = 30_000;

/** Every node has spoken, or is gone. */
async function allUp(cluster: Cluster): Promise<void> {
  const isSo = (): boolean => cluster.nodes.every(({ status, child }) => status !== null || child === null);
  if (isSo()) return;
  const all = cluster.events.pipe(filter(isSo));
  await firstValueFrom(race(all, timer(START_MS_MAX)));
}

/** Transactions of the last moment would be in no block: the load ends one height before the run. */
async function untilEnd(
  cluster: Cluster,
  load: ClusterLoad,
  blocks: bigint | null,
  interrupt: TwoStepEnd,
): Promise<Ending> {
  if (cluster.nodes.some(({ child }) => child === null)) return 'death';
  const { events } = cluster;
  const heights = events.pipe(filter(({ type }) => type === 'committed' || type === 'up'));
  const almost = heights.subscribe(({ node }) => {
    if (blocks !== null && node.height >= blocks - 1n) load.stop();
  });
  const reached = (): boolean => blocks !== null && cluster.nodes.every(({ height }) => height >= blocks);
  if (reached()) return 'blocks';
  const death = events.pipe(
    filter((event) => event.type === 'exited' && !event.isOurs),
    map((): Ending => 'death'),
  );
  const end = heights.pipe(
    filter(reached),
    map((): Ending => 'blocks'),
  );
  const ending = firstValueFrom(merge(death, end));
  const why = await Promise.race([ending, interrupt.asked.then((): Ending => 'signal')]);
  almost.unsubscribe();
  return why;
}
