// Whom a node can reach by what the config.toml of a network say: who can meet nobody makes no block, and waits without a word.

import { equalBytes } from '../../../protocol/bytes.ts';
import { parseGenesis } from '../../../protocol/json/index.ts';
import { isRefusal } from '../../../protocol/refusal.ts';
import { hasTwoThirds } from '../../../protocol/rules/quorum.ts';
import { SetupError } from '../disk/files.ts';
import type { NodeHome } from './home.ts';

type Config = NodeHome['config'];

const portOf = (address: string): string => new URL(address).port;
const placeOf = (address: string): string => address.replace(/^ws:\/\//, '');

const othersOf = ({ id, peers }: Config): Config['peers'] => peers.filter(({ peer }) => peer !== id);

/** For the person who runs the node: it dials nobody, and needs others. Null: it does, or it is a network of one. */
export function whyAlone({ paths, config, validatorKey }: NodeHome): string | null {
  if (othersOf(config).length > 0) return null;
  const genesis = parseGenesis(config.genesis);
  if (isRefusal(genesis)) return null; // it was read before
  const { validators } = genesis;
  const total = validators.reduce((sum, { power }) => sum + power, 0n);
  const own = validators.find(({ address }) => equalBytes(address, validatorKey.address))?.power ?? 0n;
  if (hasTwoThirds(own, total)) return null;
  return (
    `p2p.persistent_peers of ${paths.config} names no peer, and without others this node sees no block: it waits until ` +
    `one dials it at ${config.listenAddress}. Write persistent_peers = "ID@127.0.0.1:PORT,..." below [p2p]`
  );
}

/** Refuses (SetupError) a network on this machine some of whose nodes never meet the others, for want of one that dials where another listens. */
export function mustMeet(homes: readonly NodeHome[]): void {
  const isHere = (id: string): boolean => homes.some(({ config }) => config.id === id);
  // Those that are elsewhere may bring them together.
  if (homes.some(({ config }) => config.peers.some(({ peer }) => !isHere(peer)))) return;
  const [first] = homes;
  const met = new Set(first && [first]);
  for (const one of met) for (const other of homes) if (meet(one.config, other.config)) met.add(other);
  if (met.size === homes.length) return;
  const isApart = (home: NodeHome): boolean => met.has(home) === met.size * 2 <= homes.length;
  const apart = homes.find(isApart) as NodeHome;
  throw new SetupError(`${apart.paths.config}: ${whyApart(apart, homes)}`);
}

/** By ports: a machine has many names for itself. */
const dials = (from: Config, to: Config): boolean =>
  from.peers.some(({ peer, address }) => peer === to.id && portOf(address) === portOf(to.listenAddress));
const meet = (one: Config, other: Config): boolean => dials(one, other) || dials(other, one);

function whyApart({ config }: NodeHome, homes: readonly NodeHome[]): string {
  const others = homes.filter((each) => each.config !== config);
  const dialled = others.flatMap((each) => each.config.peers).find(({ peer }) => peer === config.id);
  const peers = others.map((each) => `${each.config.id}@${placeOf(each.config.listenAddress)}`).join(',');
  const names = othersOf(config).length === 0 ? 'names no peer' : 'names no peer where that one listens';
  const laddr = dialled
    ? `, and the others dial it at ${placeOf(dialled.address)} while it listens at ${placeOf(config.listenAddress)}`
    : ', and no other names it';
  const also = dialled ? ` and laddr = "tcp://${placeOf(dialled.address)}"` : '';
  return (
    `p2p.persistent_peers ${names}${laddr}, so this node would never meet the others. ` +
    `Write persistent_peers = "${peers}"${also} below [p2p]`
  );
}
