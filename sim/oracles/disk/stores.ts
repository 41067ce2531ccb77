// What a node keeps for good (spec 11.1): its store begins and ends with blocks that are there, as it tells its peers (store-claims.ts), and has the
// validators and parameters of each height, for who asks later; its state is that of the chain (state-kept.ts), and what belongs to a state comes with it
// (state-batch.ts); what nobody needs has left it (store-leavings.ts), and nobody fills it alone (store-shares.ts).

import type { Effect } from '../../../actors/turn.ts';
import {
  GENESIS_KEY,
  paramsKey,
  STATE_KEY,
  STORE_RANGE_KEY,
  validatorsKey,
} from '../../../machines/chain/keys.ts';
import { equalBytes } from '../../../protocol/bytes.ts';
import { isRefusal } from '../../../protocol/refusal.ts';
import type { ConsensusParams } from '../../../protocol/types.ts';
import { decodeValidatorSet, encodeConsensusParams } from '../../../protocol/wire/index.ts';
import type { Machine } from '../../machine.ts';
import type { Oracle, OracleMaker, Report } from '../../oracle.ts';
import { type GhostChain, type GhostSet, isSameSet } from '../ghost/ghost.ts';
import { StateBatch } from './state-batch.ts';
import { StateKept } from './state-kept.ts';
import { StoreClaims } from './store-claims.ts';
import { StoreLeavings } from './store-leavings.ts';
import { StoreShares } from './store-shares.ts';

export const storesOracle =
  (ghost: GhostChain): OracleMaker =>
  (report, about): Oracle => {
    const claims = new StoreClaims(report, about);
    const leavings = new StoreLeavings(ghost, report, about);
    const contents = new Contents(ghost, report);
    const batches = new StateBatch(ghost, report);
    const shares = new StoreShares(report);
    const states = new StateKept(ghost, report);

    const writes = (at: Machine, { writes }: Extract<Effect, { type: 'store' }>): void => {
      batches.writes(at, writes);
      for (const write of writes) {
        shares.writes(at, write);
        const { key, value, remove } = write;
        if (remove) continue;
        if (equalBytes(key, STORE_RANGE_KEY)) claims.writes(at, value, writes);
        else if (equalBytes(key, STATE_KEY)) states.writes(at, value);
        else leavings.writes(at, key, value);
      }
    };

    return {
      name: 'stores',
      effects: ['store', 'tell', 'send'],
      events: ['committed'],
      started(at) {
        claims.starts(at);
        leavings.starts(at);
        shares.starts(at);
      },
      leaving(at, actor, effect) {
        if (!about.isHonest(at)) return;
        if (effect.type === 'send' && actor === 'blocksync') claims.says(at, effect.payloads);
        else if (effect.type === 'store' && effect.store === 'chain') writes(at, effect);
        else if (effect.type === 'tell' && actor === 'app') {
          const { message } = effect;
          if (message.type === 'answer' && message.response.type === 'commit')
            leavings.retains(at, message.response.value.retainHeight);
        }
      },
      published(at, _actor, event) {
        if (event.type !== 'committed') return;
        leavings.commits(at, event.height);
        if (!about.isHonest(at)) return;
        contents.commits(at, event.height);
        batches.commits(at, event.height);
      },
    };
  };

/** Validators and parameters, from each height on at which they are new. */
class Contents {
  private readonly ghost: GhostChain;
  private readonly report: Report;
  /** The last block whose sets were compared, and whether the validators that its answer leads to are others than before. */
  private changes = { height: 0n, validators: false };

  constructor(ghost: GhostChain, report: Report) {
    this.ghost = ghost;
    this.report = report;
  }

  commits(at: Machine, height: bigint): void {
    const set = this.changesValidators(height) ? this.ghost.setThen(height + 2n) : undefined;
    if (set) this.keepsSet(at, height, set);
    if (height === this.ghost.genesis.initialHeight) this.keepsTheFirst(at, height);
    const [before, params] = [this.ghost.params(height), this.ghost.params(height + 1n)];
    if (before && params && before !== params && !hasParams(at, height + 1n, params))
      this.report(`${at.name} does not store the parameters of ${height + 1n}, which are new`, at, height);
  }

  private changesValidators(height: bigint): boolean {
    if (this.changes.height !== height) {
      const [before, after] = [this.ghost.setThen(height + 1n), this.ghost.setThen(height + 2n)];
      this.changes = { height, validators: !!before && !!after && !isSameSet(before, after) };
    }
    return this.changes.validators;
  }

  private keepsSet(at: Machine, height: bigint, { members }: GhostSet): void {
    const value = at.disk.read('chain', validatorsKey(height + 2n));
    const stored = value && decodeValidatorSet(value);
    const isThere =
      stored &&
      !isRefusal(stored) &&
      stored.validators.length === members.length &&
      stored.validators.every(({ address, power }, i) => {
        const member = members[i];
        return !!member && member.power === power && equalBytes(member.addressBytes, address);
      });
    if (!isThere)
      this.report(`${at.name} does not store the validators of ${height + 2n}, which are new`, at, height);
  }

  /** What the chain began with, for who asks for it later. */
  private keepsTheFirst(at: Machine, height: bigint): void {
    const params = this.ghost.params(height);
    if (params && !hasParams(at, height, params))
      this.report(`${at.name} does not store the parameters of ${height}, the first`, at, height);
    if (at.disk.read('chain', GENESIS_KEY) === undefined)
      this.report(`${at.name} does not store which genesis its chain began with`, at, height);
  }
}

function hasParams(at: Machine, height: bigint, params: ConsensusParams): boolean {
  const value = at.disk.read('chain', paramsKey(height));
  return value !== undefined && equalBytes(value, encodeConsensusParams(params));
}
