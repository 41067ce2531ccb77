// Agreement, validity, integrity, certificates, determinism, recovery, proposers and time: read from what nodes store and publish at each commit.

import type { AppMail, SignerMail } from '../../../actors/mail.ts';
import type { NodeEvent } from '../../../actors/turn.ts';
import { heightOfKey, STATE_KEY } from '../../../machines/chain/keys.ts';
import { equalBytes, hexOf, settled } from '../../../protocol/bytes.ts';
import { isRefusal } from '../../../protocol/refusal.ts';
import type { Verify } from '../../../protocol/signatures.ts';
import type { Block, Commit } from '../../../protocol/types.ts';
import {
  decodeBlock,
  decodeChainState,
  decodeCommit,
  decodeMempoolMessage,
  decodeResponseFinalizeBlock,
  encodeCommit,
} from '../../../protocol/wire/index.ts';
import type { Machine } from '../../machine.ts';
import type { Oracle, OracleMaker, Report, WorldAbout } from '../../oracle.ts';
import { headerHash, resultsHash } from '../canonical/bytes.ts';
import { CHANNEL_MEMPOOL } from '../canonical/numbers.ts';
import { Chosen } from '../ghost/chosen.ts';
import type { GhostChain } from '../ghost/ghost.ts';
import { Heights } from '../ghost/heights.ts';
import { PerMachine } from '../ghost/per-machine.ts';
import { firstStored } from '../ghost/stored.ts';
import { Transactions } from '../ghost/transactions.ts';
import { Certificates } from './certificates.ts';
import { wrongTime, wrongWith } from './validity.ts';
import { VoteTimes } from './vote-times.ts';

/** The label of a run whose validator set changes. */
export const SET_CHANGES = 'the validator set changes';

const FAMILY = { block: 'b'.charCodeAt(0), commit: 's'.charCodeAt(0), response: 'r'.charCodeAt(0) };
/** A letter and a height. */
const HEIGHT_KEY_BYTES = 9;
const SHORT_BYTES = 6;
const NOBODY = new Uint8Array(0);
const short = (bytes: Uint8Array): string => hexOf(bytes.subarray(0, SHORT_BYTES));

/** Two that are not equal, so much of each that this is seen: an application's hash may begin with words. */
function apart(a: Uint8Array, b: Uint8Array): readonly [string, string] {
  let at = 0;
  while (at < a.length && a[at] === b[at]) at++;
  const seen = (bytes: Uint8Array): string =>
    at < SHORT_BYTES ? short(bytes) : `${short(bytes)}...${hexOf(bytes.subarray(at, at + SHORT_BYTES))}`;
  return [seen(a), seen(b)];
}

type Told<T extends NodeEvent['type']> = Extract<NodeEvent, { readonly type: T }>;

/**
 * Agreement, validity, integrity, certificates, application determinism, proposers, time, recovery: one pass over the same decoded blocks, one
 * name per promise.
 */
export const chainOracle =
  (ghost: GhostChain, verify: Verify): OracleMaker =>
  (report, about): Oracle => {
    const watch = new Watch(ghost, verify, report, about);
    const times = new VoteTimes(ghost, report, about);
    const chosen = new Chosen();
    return {
      name: 'chain',
      effects: ['store', 'tell'],
      events: ['committed', 'applied'],
      submitted: (_at, tx) => watch.transactions.submitted(tx),
      corrupted({ channel, bytes }) {
        const message = channel === CHANNEL_MEMPOOL ? decodeMempoolMessage(bytes) : null;
        if (message && !isRefusal(message)) for (const tx of message.txs) watch.transactions.corrupted(tx);
      },
      started(at) {
        chosen.starts(at);
        watch.starts(at);
      },
      leaving(at, actor, effect) {
        // A liar lies to its peers: its application is as the others'.
        if (effect.type === 'tell')
          for (const tx of chosen.hears(at, effect.message)?.added ?? []) watch.transactions.brings(tx);
        if (!about.isHonest(at)) return;
        if (effect.type === 'tell' && actor === 'validator') {
          if (effect.to === 'app') times.asksApp(effect.message as AppMail);
          else if (effect.to === 'signer') times.asksSigner(at, effect.message as SignerMail);
        }
        if (effect.type !== 'store' || effect.store !== 'chain') return;
        for (const { key, value, remove } of effect.writes) {
          if (remove) continue;
          if (key.length === HEIGHT_KEY_BYTES)
            watch.stores(at, key, value); // of no bytes, too: that may be an answer
          else if (equalBytes(key, STATE_KEY)) watch.goesOnWith(at, value);
        }
      },
      published(at, _actor, event) {
        if (!about.isHonest(at)) return;
        if (event.type === 'committed') watch.executes(at, event);
        else if (event.type === 'applied') watch.applies(at, event);
      },
    };
  };

class Watch {
  readonly transactions: Transactions;
  private readonly ghost: GhostChain;
  private readonly report: Report;
  private readonly about: WorldAbout;
  private readonly certificates: Certificates;
  private readonly heights = new Heights();
  /** The block that each node stored last: its commit comes behind it. */
  private readonly lastStored = new PerMachine<Uint8Array>(() => NOBODY);
  private readonly lastCommitted = new Map<Machine, bigint>();
  private readonly lastApplied = new Map<Machine, bigint>();
  /** The state that was compared last, and its height: most nodes write the same. */
  private state: Uint8Array = NOBODY;
  private stateHeight = 0n;

  constructor(ghost: GhostChain, verify: Verify, report: Report, about: WorldAbout) {
    this.ghost = ghost;
    this.report = report;
    this.about = about;
    this.certificates = new Certificates(ghost, verify, about, report);
    this.transactions = new Transactions(
      Math.min(...about.machines.map(({ config }) => config.mempool.cacheSize)),
    );
  }

  /** A crash may take the word that a height was executed, and keep the deed: within a life they are in step. */
  starts(at: Machine): void {
    this.lastApplied.delete(at);
    this.lastCommitted.delete(at);
    this.transactions.startsBehind(at.height, firstStored(at), this.lowest(at.height));
  }

  /** Where the node is that is furthest behind. */
  private lowest(height: bigint): bigint {
    return this.about.machines.reduce(
      (low, { isUp, height: its }) => (isUp && its < low ? its : low),
      height,
    );
  }

  // --- what it stores --------------------------------------------------------------------------------------

  /** Under the key of a height. Byte for byte what is known already is nothing new. */
  stores(at: Machine, key: Uint8Array, value: Uint8Array): void {
    const height = heightOfKey(key);
    if (key[0] === FAMILY.block) this.storesBlock(at, height, value);
    else if (key[0] === FAMILY.commit) this.storesCommit(at, height, value);
    else if (key[0] === FAMILY.response) this.storesAnswer(height, value);
  }

  private storesBlock(at: Machine, height: bigint, value: Uint8Array): void {
    const known = this.heights.at(height);
    if (known?.bytes && equalBytes(known.bytes, value)) {
      this.lastStored.set(at, known.hash);
      return;
    }
    const block = decodeBlock(value);
    if (isRefusal(block)) return this.isUnreadable(at, 'block', height);
    this.lastStored.set(at, headerHash(block.header));
    this.agrees(at, block as Block, value);
  }

  private storesCommit(at: Machine, height: bigint, value: Uint8Array): void {
    if (this.certificates.isKnown(Number(height), value)) return;
    const commit = decodeCommit(value);
    if (isRefusal(commit)) return this.isUnreadable(at, 'commit', height);
    this.fits(at, height, commit as Commit);
    this.certificates.verify(at, commit as Commit, value, 'seen commit of');
  }

  private isUnreadable(at: Machine, what: string, height: bigint): void {
    this.report(`${at.name} stores a ${what} of ${height} that nobody can read`, at, height, 'validity');
  }

  /** A commit that is true may be of another height, or another block. */
  private fits(at: Machine, height: bigint, commit: Commit): void {
    const hash = this.lastStored.of(at);
    if (commit.height === height && (hash.length === 0 || equalBytes(commit.blockId.hash, hash))) return;
    const what = `stores under ${height} a commit of ${commit.height} for ${short(commit.blockId.hash)}`;
    this.report(`${at.name} ${what}`, at, height, 'certificate');
  }

  /** Agreement. Whoever stores a block of this height stores the same. */
  private agrees(at: Machine, block: Block, bytes: Uint8Array): void {
    const { height } = block.header;
    const hash = headerHash(block.header);
    const known = this.heights.at(height);
    if (!known) {
      this.heights.add(block, bytes, hash, at.name);
      this.isValid(at, block, bytes);
      for (const told of this.ghost.onBlock) told(at, block);
    } else if (!equalBytes(known.hash, hash)) {
      const what = `${known.by} committed ${short(known.hash)} at height ${height}, ${at.name} ${short(hash)}`;
      this.report(what, at, height, 'agreement');
    } else if (known.bytes && !equalBytes(known.bytes, bytes)) {
      const what = `stores other bytes of block ${height} than ${known.by}, and one hash names them`;
      this.report(`${at.name} ${what}`, at, height, 'agreement');
    }
  }

  /** Validity, certificates, time: of a block of a new height. */
  private isValid(at: Machine, block: Block, bytes: Uint8Array): void {
    const { about, ghost, report, transactions } = this;
    const { height } = block.header;
    const { lastCommit } = block;
    const before = this.heights.at(height - 1n);
    for (const what of wrongWith(block, bytes, before, ghost))
      report(`block ${height} ${what}`, at, height, 'validity');
    for (const { promise, what } of transactions.take(block, this.lowest(height)))
      report(what, at, height, promise);
    if (lastCommit && lastCommit.height > 0n)
      this.certificates.verify(at, lastCommit, encodeCommit(lastCommit), 'last commit of the next block');
    for (const what of wrongTime(block, before, ghost, about))
      report(`block ${height} ${what}`, at, height, 'time');
  }

  /** An answer of the application, when the first node stores it. */
  private storesAnswer(height: bigint, value: Uint8Array): void {
    const { ghost } = this;
    if (ghost.set(height + 2n)) return;
    const answer = decodeResponseFinalizeBlock(value);
    if (isRefusal(answer)) return;
    ghost.finalized(height, answer);
    if (answer.validatorUpdates.length > 0) this.about.reached(SET_CHANGES);
    const known = this.heights.at(height);
    if (!known) return;
    known.answeredAppHash = settled(answer.appHash);
    known.answeredResultsHash = settled(resultsHash(answer.txResults));
    known.changedVersion = answer.consensusParamUpdates !== undefined;
    this.transactions.forgive(known.block?.txs ?? [], answer.txResults);
  }

  // --- whose turn it is ------------------------------------------------------------------------------------

  /** Proposers. The priorities that a node goes on with, of the next height and the one after it. */
  goesOnWith(at: Machine, value: Uint8Array): void {
    const { ghost } = this;
    if (equalBytes(value, this.state)) return;
    const state = decodeChainState(value);
    if (isRefusal(state) || state.lastBlockHeight < this.stateHeight) return;
    this.stateHeight = state.lastBlockHeight;
    this.state = settled(value);
    const first = state.lastBlockHeight === 0n ? ghost.genesis.initialHeight : state.lastBlockHeight + 1n;
    for (const [i, { validators }] of [state.validators, state.nextValidators].entries()) {
      const height = first + BigInt(i);
      const members = ghost.set(height)?.members;
      const wrong = members?.findIndex(
        ({ addressBytes, power, priority }, index) =>
          !equalBytes(addressBytes, validators[index]?.address ?? NOBODY) ||
          validators[index]?.power !== power ||
          validators[index]?.priority !== priority,
      );
      if (wrong === undefined || (wrong < 0 && members?.length === validators.length)) continue;
      const what = `keeps another set for ${height} than the chain decided, or other priorities in it`;
      this.report(`${at.name} ${what}`, at, state.lastBlockHeight, 'proposer');
    }
  }

  /** Proposers. The one of a block is the one that the priorities name for a round up to the deciding one. */
  private isInTurn(at: Machine, height: bigint, round: number): void {
    const known = this.heights.at(height);
    const set = this.ghost.set(height);
    if (!known?.block || !set || known.round >= 0) return;
    known.round = round;
    const proposer = hexOf(known.block.header.proposerAddress);
    for (let r = 0; r <= round; r++) if (set.atRound(r) === proposer) return;
    const what = `decided in round ${round} was proposed by ${proposer.slice(0, 12)}, out of turn`;
    this.report(`block ${height} ${what}`, at, height, 'proposer');
  }

  // --- what it executes ------------------------------------------------------------------------------------

  executes(at: Machine, event: Told<'committed'>): void {
    const { heights, report } = this;
    const { height } = event;
    const before = this.lastCommitted.get(at);
    this.lastCommitted.set(at, height);
    if (before !== undefined && height > before + 1n)
      report(`${at.name} executed ${height} right after ${before}`, at, height, 'integrity');
    const known = heights.at(height);
    if (!known) report(`${at.name} executed height ${height} and never stored it`, at, height, 'integrity');
    else if (!equalBytes(known.hash, event.hash)) {
      const what = `${at.name} executed ${short(event.hash)} at ${height}, not ${short(known.hash)}`;
      report(what, at, height, 'agreement');
    }
    this.isInTurn(at, height, event.round);
    this.isSame(at, height, 'appHash', event.appHash, 'app hash');
    this.isSame(at, height, 'stateDigest', event.stateDigest, 'recovery');
  }

  applies(at: Machine, { height, stateDigest }: Told<'applied'>): void {
    const before = this.lastApplied.get(at);
    this.lastApplied.set(at, height);
    if (before !== undefined && height !== before + 1n) {
      const what = `the application of ${at.name} applied ${height} after ${before}`;
      this.report(what, at, height, 'integrity');
    }
    this.isSame(at, height, 'appliedDigest', stateDigest, 'application state');
  }

  /** App hash, application state, recovery. What the first said of this height the others say, too. */
  private isSame(
    at: Machine,
    height: bigint,
    field: 'appHash' | 'stateDigest' | 'appliedDigest',
    value: Uint8Array,
    promise: string,
  ): void {
    const known = this.heights.at(height);
    if (!known) return;
    const before = known[field];
    if (before === null) known[field] = settled(value);
    else if (!equalBytes(before, value)) {
      const [here, there] = apart(value, before);
      const what = `at height ${height} ${at.name} has ${here} where others have ${there}`;
      this.report(what, at, height, promise);
    }
  }
}
