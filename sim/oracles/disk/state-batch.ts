// What is written in one batch with the state after a block: the marks of the evidence that the block punishes, which waits no more, and the
// validators and parameters that are new with it. A crash between two batches would leave a state without them, and nobody executes that block again.

import type { Write } from '../../../actors/turn.ts';
import {
  COMMITTED_EVIDENCE,
  committedEvidenceKey,
  evidenceKey,
  heightOfKey,
  identityOfKey,
  paramsKey,
  STATE_KEY,
  validatorsKey,
} from '../../../machines/chain/keys.ts';
import { equalBytes } from '../../../protocol/bytes.ts';
import { evidenceIdentity } from '../../../protocol/hashes.ts';
import type { Evidence } from '../../../protocol/types.ts';
import type { Machine } from '../../machine.ts';
import type { Report } from '../../oracle.ts';
import { heightOfCrime } from '../evidence/proofs.ts';
import type { GhostChain } from '../ghost/ghost.ts';

/** Blocks whose evidence is remembered: of who is further behind nobody says anything. */
const HEIGHTS_KEPT = 64;

const MARK = COMMITTED_EVIDENCE.from[0];
/** What leaves a node with its state or not at all, by the first byte of its key. */
const OF_A_STATE: ReadonlyMap<number | undefined, string> = new Map([
  [MARK, 'the mark of evidence'],
  [validatorsKey(0n)[0], 'validators'],
  [paramsKey(0n)[0], 'parameters'],
]);

const markOf = (evidence: Evidence): Uint8Array =>
  committedEvidenceKey(heightOfCrime(evidence), evidenceIdentity(evidence));

export class StateBatch {
  private readonly report: Report;
  /** By height of the block: the marks of its evidence. Of blocks without any there is nothing. */
  private readonly marks = new Map<number, readonly Uint8Array[]>();

  constructor(ghost: GhostChain, report: Report) {
    this.report = report;
    ghost.onBlock.push((_at, { header, evidence }) => {
      const height = Number(header.height);
      if (evidence.length > 0) this.marks.set(height, evidence.map(markOf));
      for (const old of this.marks.keys()) if (old <= height - HEIGHTS_KEPT) this.marks.delete(old);
    });
  }

  /** A batch as it leaves its node: the disk does not have it yet. */
  writes(at: Machine, writes: readonly Write[]): void {
    let isOfState = false;
    let first: Write | null = null;
    for (const write of writes) {
      if (write.remove) continue;
      if (equalBytes(write.key, STATE_KEY)) isOfState = true;
      else if (OF_A_STATE.has(write.key[0])) first ??= write;
    }
    if (first && !isOfState) this.isApart(at, first);
    if (!first || !isOfState) return;
    for (const { key, remove } of writes) if (!remove && key[0] === MARK) this.isDone(at, key, writes);
  }

  private isApart(at: Machine, { key }: Write): void {
    const what = `${OF_A_STATE.get(key[0])} of ${heightOfKey(key)}`;
    this.report(`${at.name} writes ${what} apart from the state that it belongs to`, at, at.height + 1n);
  }

  /** What is punished waits no more. */
  private isDone(at: Machine, mark: Uint8Array, writes: readonly Write[]): void {
    const waiting = evidenceKey(heightOfKey(mark), identityOfKey(mark));
    if (writes.some(({ key, remove }) => remove && equalBytes(key, waiting))) return;
    if (at.disk.read('chain', waiting) === undefined) return;
    const what = `writes that evidence of ${heightOfKey(mark)} is punished, and leaves it waiting`;
    this.report(`${at.name} ${what}`, at, at.height + 1n);
  }

  commits(at: Machine, height: bigint): void {
    for (const mark of this.marks.get(Number(height)) ?? [])
      if (at.disk.read('chain', mark) === undefined)
        this.report(`${at.name} does not store that evidence of block ${height} is punished`, at, height);
  }
}
