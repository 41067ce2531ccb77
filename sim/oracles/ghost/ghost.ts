// The oracles' own picture of the chain, made from what nodes store and send: decoded bytes, own arithmetic, none of the product's rules.

import type { ResponseFinalizeBlock, ResponseInitChain } from '../../../protocol/abci.ts';
import { equalBytes, hexOf } from '../../../protocol/bytes.ts';
import { parseGenesis } from '../../../protocol/json/genesis.ts';
import { addressOf } from '../../../protocol/keys.ts';
import { Lately, LatelyAt, placeOfVote } from '../../../protocol/lately.ts';
import { isRefusal, unreachable } from '../../../protocol/refusal.ts';
import type {
  Block,
  ConsensusParams,
  ConsensusParamsUpdate,
  Genesis,
  Proposal,
  PublicKey,
  ValidatorUpdate,
  Vote,
} from '../../../protocol/types.ts';
import type { Machine } from '../../machine.ts';
import type { WorldAbout } from '../../oracle.ts';
import { proposalSignBytes, voteSignBytes } from '../canonical/bytes.ts';

export interface GhostValidator {
  /** Hex. */
  readonly address: string;
  readonly addressBytes: Uint8Array;
  readonly key: PublicKey;
  power: bigint;
  priority: bigint;
}

/** Strictly more than two thirds, in the oracle's own words. */
export const isQuorum = (sum: bigint, total: bigint): boolean => sum + sum + sum > total + total;

const bigger = (a: bigint, b: bigint): bigint => (a > b ? a : b);

/** One height's validators by power descending, then address: with the priorities of its round 0. */
export class GhostSet {
  readonly members: GhostValidator[];
  readonly total: bigint;
  /** Who proposes in round 0: the last one picked when the priorities were advanced to this height. */
  proposer: string;
  /** Who proposes in later rounds, as far as that was asked. */
  private readonly later = new Map<number, string>();

  /** `total`: the power of all, where it is known already. */
  constructor(members: GhostValidator[], proposer: string, total: bigint | null = null) {
    this.members = members;
    this.total = total ?? members.reduce((sum, member) => sum + member.power, 0n);
    this.proposer = proposer;
  }

  private copy(): GhostSet {
    const members = this.members.map(({ address, addressBytes, key, power, priority }) => ({
      address,
      addressBytes,
      key,
      power,
      priority,
    }));
    return new GhostSet(members, this.proposer, this.total);
  }

  /** One turn of the wheel: everybody gains its power, the richest pays the total and proposes. */
  private turn(): void {
    let richest = this.members[0] ?? unreachable('an empty set');
    for (const member of this.members) member.priority += member.power;
    for (const member of this.members) {
      if (member.priority > richest.priority) richest = member;
      else if (member.priority === richest.priority && member.address < richest.address) richest = member;
    }
    richest.priority -= this.total;
    this.proposer = richest.address;
  }

  /** Keeps the spread within twice the total, and the mean at zero. */
  private settle(): void {
    const window = 2n * this.total;
    let low = this.members[0]?.priority ?? 0n;
    let high = low;
    for (const { priority } of this.members) {
      if (priority < low) low = priority;
      high = bigger(high, priority);
    }
    if (high - low > window) {
      const ratio = (high - low + window - 1n) / window;
      for (const member of this.members) member.priority /= ratio;
    }
    let sum = 0n;
    for (const { priority } of this.members) sum += priority;
    const size = BigInt(this.members.length);
    let mean = sum / size;
    if (sum % size !== 0n && sum < 0n) mean -= 1n;
    for (const member of this.members) member.priority -= mean;
  }

  advanced(times: number): GhostSet {
    const next = this.copy();
    next.settle();
    for (let i = 0; i < times; i++) next.turn();
    return next;
  }

  changed(updates: readonly ValidatorUpdate[]): GhostSet {
    if (updates.length === 0) return this.copy();
    const next = new Map(this.members.map((member) => [member.address, { ...member }]));
    const added: GhostValidator[] = [];
    let removed = 0n;
    for (const { publicKey, power } of updates) {
      const address = hexOf(addressOf(publicKey));
      const known = next.get(address);
      if (power === 0n) {
        removed += known?.power ?? 0n;
        next.delete(address);
      } else if (known) known.power = power;
      else added.push(newcomer(publicKey, power));
    }
    for (const member of added) next.set(member.address, member);
    const members = [...next.values()].sort(inOrder);
    if (members.length === 0) return this.copy(); // no chain goes on from there: its nodes say so
    // A newcomer starts behind everybody: 1.125 times the power of the set with those who leave still in it.
    const before = members.reduce((sum, member) => sum + member.power, 0n) + removed;
    for (const member of added) member.priority = -(before + (before >> 3n));
    const set = new GhostSet(members, this.proposer);
    set.settle();
    return set;
  }

  powerOf(address: string): bigint {
    return this.members.find((member) => member.address === address)?.power ?? 0n;
  }

  atRound(round: number): string {
    if (round === 0) return this.proposer;
    let proposer = this.later.get(round);
    if (proposer === undefined) {
      proposer = this.advanced(round).proposer;
      this.later.set(round, proposer);
    }
    return proposer;
  }
}

function newcomer(key: PublicKey, power: bigint): GhostValidator {
  const addressBytes = addressOf(key);
  return { address: hexOf(addressBytes), addressBytes, key, power, priority: 0n };
}

const inOrder = (a: GhostValidator, b: GhostValidator): number =>
  a.power !== b.power
    ? a.power > b.power
      ? -1
      : 1
    : a.address < b.address
      ? -1
      : a.address > b.address
        ? 1
        : 0;

/** Sets kept, by height: who is further behind is judged by the blocks alone. */
const SETS_KEPT = 16;
/** For longer it is known who they were: a node that is far behind stores commits of then, and evidence may be about any of these blocks. */
const PAST_KEPT = 256;

/** From which height on the validators, and the parameters, are as they are. An application that names the same again has changed them. */
export interface Changes {
  readonly validators: bigint;
  readonly params: bigint;
}

/** Which validators hold which height: genesis, then each committed block's updates two heights later. */
export class GhostChain {
  readonly genesis: Genesis;
  readonly chainId: string;
  readonly genesisTimeNs: bigint;
  /** The validators of the genesis; InitChain may put others in their place. */
  readonly founders: GhostSet;
  /** Told of every block of the chain once, in order: when the first honest node stores it. */
  readonly onBlock: ((at: Machine, block: Block) => void)[] = [];
  private readonly sets = new Map<number, GhostSet>();
  private readonly past = new Map<number, GhostSet>();
  private readonly paramsBy = new Map<number, ConsensusParams>();
  /** By the height of the block after which it is so. */
  private readonly changesBy = new Map<number, Changes>();
  private readonly times = new Map<number, bigint>();
  private isInitialised = false;
  private readonly seen = new Set<number>();

  constructor(genesisText: string) {
    const genesis = parseGenesis(genesisText);
    if (isRefusal(genesis)) unreachable(`the genesis text was checked: ${genesis.because}`);
    this.genesis = genesis;
    this.chainId = genesis.chainId;
    this.genesisTimeNs = genesis.genesisTimeNs;
    this.paramsBy.set(Number(genesis.initialHeight), genesis.consensusParams);
    this.founders = newSet(genesis.validators);
    const { initialHeight } = genesis;
    this.changesBy.set(Number(initialHeight) - 1, { validators: initialHeight, params: initialHeight });
    this.begins(this.founders);
    this.onBlock.push((_at, { header }) => {
      const height = Number(header.height);
      this.times.set(height, header.timeNs);
      this.times.delete(height - PAST_KEPT);
    });
  }

  private begins(first: GhostSet): void {
    const height = Number(this.genesis.initialHeight);
    this.sets.set(height, first);
    this.sets.set(height + 1, first.advanced(1));
  }

  set(height: bigint): GhostSet | undefined {
    return this.sets.get(Number(height));
  }

  /** Who held this height, also where that is long ago: for what was signed and stored then, and not for who is to do what. */
  setThen(height: bigint): GhostSet | undefined {
    return this.set(height) ?? this.past.get(Number(height));
  }

  /** In force at this height, as far as anybody knows. */
  params(height: bigint): ConsensusParams | undefined {
    return this.paramsBy.get(Number(height));
  }

  /** As the block of this height left it; before the first block: as the genesis says. */
  changes(height: bigint): Changes | undefined {
    return this.changesBy.get(Number(height === 0n ? this.genesis.initialHeight - 1n : height));
  }

  /** When the block of this height was made, as it says itself. */
  timeNs(height: bigint): bigint | undefined {
    return this.times.get(Number(height));
  }

  /** The application's answer to InitChain, the first time that a node has it. */
  initialised({ validators, consensusParams }: ResponseInitChain): void {
    if (this.isInitialised) return;
    this.isInitialised = true;
    if (validators.length > 0) this.begins(newSet(validators));
    this.paramsBy.set(
      Number(this.genesis.initialHeight),
      merged(this.genesis.consensusParams, consensusParams),
    );
  }

  /** Its answer for a height, the first time that a node stores it. */
  finalized(at: bigint, { validatorUpdates, consensusParamUpdates }: ResponseFinalizeBlock): void {
    const height = Number(at);
    if (this.seen.has(height)) return;
    const next = this.sets.get(height + 1);
    const params = this.paramsBy.get(height);
    const before = this.changesBy.get(height - 1);
    if (!next || !params || !before) return;
    this.seen.add(height);
    this.changesBy.set(height, {
      validators: validatorUpdates.length > 0 ? at + 2n : before.validators,
      params: consensusParamUpdates ? at + 1n : before.params,
    });
    this.changesBy.delete(height - SETS_KEPT);
    this.sets.set(height + 2, next.changed(validatorUpdates).advanced(1));
    const last = this.sets.get(height - SETS_KEPT);
    if (last) this.past.set(height - SETS_KEPT, last);
    this.sets.delete(height - SETS_KEPT);
    this.past.delete(height - PAST_KEPT);
    this.paramsBy.set(height + 1, merged(params, consensusParamUpdates));
    this.paramsBy.delete(height - SETS_KEPT);
  }
}

/** The same members with the same powers, whatever their priorities. */
export const isSameSet = ({ members }: GhostSet, { members: others }: GhostSet): boolean =>
  members.length === others.length &&
  members.every(({ address, power }, i) => others[i]?.address === address && others[i]?.power === power);

/** At the beginning everybody is a newcomer, and all alike: the mean takes that away again. */
function newSet(validators: readonly { readonly publicKey: PublicKey; readonly power: bigint }[]): GhostSet {
  const members = validators.map(({ publicKey, power }) => newcomer(publicKey, power)).sort(inOrder);
  const total = members.reduce((sum, member) => sum + member.power, 0n);
  for (const member of members) member.priority = -(total + (total >> 3n));
  return new GhostSet(members, '').advanced(1);
}

/** What an update names replaces all of its kind. The same object when it names nothing. */
const merged = (params: ConsensusParams, update: ConsensusParamsUpdate | undefined): ConsensusParams =>
  update ? { ...params, ...Object.fromEntries(Object.entries(update).filter(([, value]) => value)) } : params;

/** Votes that were found true, with the set that says so: each reaches many nodes, and a set is of one world. */
const foundTrue = new LatelyAt<Vote, GhostSet>(1024);

/** The signature is that of the member whom it names, at the place where it stands. */
export function isTrueVote(
  { chainId, verify }: Pick<WorldAbout, 'chainId' | 'verify'>,
  set: GhostSet,
  vote: Vote,
): boolean {
  const place = placeOfVote(vote);
  if (foundTrue.get(place, vote) === set) return true;
  const member = set.members[vote.validatorIndex];
  if (!member || !equalBytes(member.addressBytes, vote.validatorAddress)) return false;
  if (vote.extension.length + vote.extensionSignature.length > 0) return false; // no chain here asks for them
  const isTrue = verify(member.key, voteSignBytes(chainId, vote), vote.signature);
  if (isTrue) foundTrue.set(place, vote, set);
  return isTrue;
}

const foundProposed = new Lately<Proposal, GhostSet>(8);

/** The signature is that of the round's proposer. */
export function isTrueProposal({ chainId, verify }: WorldAbout, set: GhostSet, proposal: Proposal): boolean {
  if (foundProposed.get(proposal) === set) return true;
  const proposer = set.atRound(proposal.round);
  const member = set.members.find(({ address }) => address === proposer);
  const isTrue = !!member && verify(member.key, proposalSignBytes(chainId, proposal), proposal.signature);
  if (isTrue) foundProposed.set(proposal, set);
  return isTrue;
}
