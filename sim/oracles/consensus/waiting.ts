// Where blocks without transactions are not made, or not at once (create_empty_blocks, its interval): nobody begins a height without a reason,
// and who has one, a transaction or a changed app hash, or is in a later round, does not wait (CometBFT enterNewRound, spec 5.2).

import type { AppMail, MempoolMail, ValidatorMail } from '../../../actors/mail.ts';
import { byteKey, equalBytes } from '../../../protocol/bytes.ts';
import type { Machine } from '../../machine.ts';
import type { Oracle, OracleMaker, Report, WorldAbout } from '../../oracle.ts';
import { STEP } from '../../steps.ts';
import type { GhostChain } from '../ghost/ghost.ts';
import { HOP_NS, saidLateNs } from '../ghost/pace.ts';
import { PerMachine } from '../ghost/per-machine.ts';
import { idOf, Pool } from '../mempool/pool.ts';

/** The mempool tells at once that it has something, and a round that begins goes on as soon as a disk lets it. */
const PATIENCE_NS = 2_000_000_000;
/** Some node may be that far behind the others. */
const HEIGHTS_REMEMBERED = 64n;

export const waitingOracle =
  (ghost: GhostChain): OracleMaker =>
  (report, about): Oracle => {
    if (!about.machines.some(mayWait)) return { name: 'waiting', effects: [] };
    const watch = new Watch(ghost, report, about);
    return {
      name: 'waiting',
      effects: ['tell', 'schedule'],
      events: ['step', 'committed', 'checked'],
      started: (at) => watch.starts(at),
      published(at, _actor, event) {
        if (!about.isHonest(at)) return;
        if (event.type === 'step') watch.enters(at, event);
        else if (event.type === 'committed') watch.commits(event);
        else if (event.type === 'checked' && event.code === 0 && event.because === '')
          watch.takes(at, byteKey(event.hash));
      },
      leaving(at, _actor, effect) {
        if (!about.isHonest(at)) return;
        if (effect.type === 'tell') watch.hears(at, effect.message as AppMail | MempoolMail | ValidatorMail);
        // A node that waits says where it stands from time to time.
        else watch.looks();
      },
    };
  };

const mayWait = ({ config: { consensus } }: Machine): boolean =>
  !consensus.createEmptyBlocks || consensus.createEmptyBlocksIntervalNs > 0n;

/** When a node began to wait for transactions: by its own clock, and by the world's. */
interface Wait {
  readonly height: bigint;
  readonly count: number;
  readonly atNs: number;
}

/** A round that began after others. */
interface Later {
  readonly height: bigint;
  readonly round: number;
  readonly atNs: number;
}

/** One node, in this life. */
class Waiting {
  readonly pool: Pool;
  /** Its mempool has told of something since it was told of the last block. */
  hasTold = false;
  /** Until then it may tell of what it had before that block, of which it hears a moment later. */
  oldUntilNs = Number.NEGATIVE_INFINITY;
  wait: Wait | null = null;
  /** It has begun this round and nothing in it. */
  later: Later | null = null;

  constructor(pool: Pool) {
    this.pool = pool;
  }
}

class Watch {
  private readonly report: Report;
  private readonly about: WorldAbout;
  private readonly nodes: PerMachine<Waiting>;
  private readonly hasLiar: boolean;
  private readonly initialHeight: bigint;
  private readonly appHashes = new Map<bigint, Uint8Array>();
  /** The last height that somebody began: who begins it later has heard of that. */
  private begun = 0n;

  constructor(ghost: GhostChain, report: Report, about: WorldAbout) {
    this.nodes = new PerMachine((at) => new Waiting(new Pool(ghost, at)));
    this.initialHeight = ghost.genesis.initialHeight;
    this.report = report;
    this.about = about;
    this.hasLiar = about.machines.some((each) => !about.isHonest(each));
  }

  starts(at: Machine): void {
    this.nodes.delete(at);
  }

  // --- what there is -------------------------------------------------------------------------------------------

  takes(at: Machine, id: string): void {
    this.nodes.of(at).pool.owes(id, at.height + 1n);
  }

  hears(at: Machine, mail: AppMail | MempoolMail | ValidatorMail): void {
    const node = this.nodes.of(at);
    const { pool } = node;
    const now = this.about.now();
    if (mail.type === 'txs-available') this.tells(at, node);
    if (mail.type === 'committed') {
      if (!node.hasTold && (pool.owedTxs > 0 || pool.mayHaveMore(now))) node.oldUntilNs = now + HOP_NS;
      node.hasTold = false;
    }
    pool.hears(mail, now);
    if (mail.type === 'committed') for (const tx of mail.txs) pool.frees(idOf(tx));
  }

  /** Of what the application has not accepted since the last block nobody knows whether it is a reason for the next one. */
  private tells(at: Machine, node: Waiting): void {
    node.hasTold = true;
    if (!node.pool.isKnown || node.pool.heldSinceNs() !== null) return;
    if (this.about.now() < Math.max(node.oldUntilNs, at.heldUntilNs + HOP_NS)) return;
    const what = 'and has none that its application accepts after the last block';
    this.report(`${at.name} tells its validator of transactions, ${what}`, at, at.height + 1n);
  }

  commits({ height, appHash }: { readonly height: bigint; readonly appHash: Uint8Array }): void {
    this.appHashes.set(height, appHash);
    this.appHashes.delete(height - HEIGHTS_REMEMBERED);
  }

  // --- who waits -----------------------------------------------------------------------------------------------

  enters(
    at: Machine,
    { height, round, step }: { readonly height: bigint; readonly round: number; readonly step: number },
  ): void {
    const node = this.nodes.of(at);
    const { wait } = node;
    node.wait = null;
    node.later = null;
    if (round > 0) {
      if (step === STEP.newRound) node.later = { height, round, atNs: this.about.now() };
      return;
    }
    if (step === STEP.newRound) node.wait = { height, count: at.clock.count(), atNs: this.about.now() };
    else if (step === STEP.propose && height > this.begun) {
      this.begun = height;
      if (wait?.height === height) this.begins(at, node, wait);
    }
  }

  /** The first of all to begin this height. */
  private begins(at: Machine, { hasTold }: Waiting, { height, count, atNs }: Wait): void {
    const { createEmptyBlocksIntervalNs: intervalNs } = at.config.consensus;
    if (this.hasLiar || hasTold || this.isProofDue(height) !== false || at.heldUntilNs >= atNs) return;
    const waited = at.clock.count() - count;
    // With an interval there are some even where none are to be (CometBFT enterNewRound).
    if (intervalNs > 0n && waited + saidLateNs(at) >= Number(intervalNs)) return;
    const interval = intervalNs > 0n ? `the interval is ${intervalNs} ns` : 'none is to be';
    this.report(`${at.name} begins an empty block after ${waited} ns; ${interval}`, at, height);
  }

  /** The header of this height is the first that proves what the application answered; null: nobody knows. */
  private isProofDue(height: bigint): boolean | null {
    if (height === this.initialHeight) return true; // what InitChain answered
    const last = this.appHashes.get(height - 1n);
    const before = this.appHashes.get(height - 2n);
    return last === undefined || before === undefined ? null : !equalBytes(last, before);
  }

  looks(): void {
    const now = this.about.now();
    for (const [at, { pool, wait, later }] of this.nodes) {
      if (at.node?.isPaused !== false) continue;
      if (later) this.goesOn(at, later);
      if (!wait) continue;
      const { height } = wait;
      this.isDue(at, wait);
      const beganNs = Math.max(wait.atNs, at.heldUntilNs);
      if (now - beganNs <= PATIENCE_NS) continue;
      const isProofDue = this.isProofDue(height) === true;
      const since = isProofDue ? beganNs : pool.heldSinceNs();
      const waitedNs = since === null ? 0 : now - Math.max(beganNs, since);
      if (waitedNs <= PATIENCE_NS) continue;
      const proof = height === this.initialHeight ? 'InitChain answered' : `block ${height - 1n} did`;
      const what = isProofDue ? `owes the header that proves what ${proof}` : 'has a transaction';
      const late = `does not begin height ${height} for ${Math.round(waitedNs / 1e8) / 10} s`;
      this.report(`${at.name} ${what} and ${late}`, at, height);
    }
  }

  /** Only a height waits: its later rounds are under way as they begin. */
  private goesOn(at: Machine, { height, round, atNs }: Later): void {
    if (this.about.now() - Math.max(atNs, at.heldUntilNs) <= PATIENCE_NS || at.halted !== null) return;
    this.report(`${at.name} begins round ${round} of height ${height}, and waits`, at, height);
  }

  /** The interval after which there is an empty block, by its own clock (CometBFT enterNewRound). */
  private isDue(at: Machine, { height, count, atNs }: Wait): void {
    const intervalNs = Number(at.config.consensus.createEmptyBlocksIntervalNs);
    const waited = at.clock.count() - count;
    if (intervalNs === 0 || waited <= intervalNs + PATIENCE_NS) return;
    if (this.about.now() - Math.max(atNs, at.heldUntilNs) <= PATIENCE_NS) return;
    const late = `does not begin height ${height} for ${Math.round(waited / 1e8) / 10} s`;
    this.report(`${at.name} ${late}; the interval of empty blocks is ${intervalNs} ns`, at, height);
  }
}
