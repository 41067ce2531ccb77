// What one may make others keep: of the double votes of one voter no more than a few dozen wait for a block. Who makes more is punished for some, and
// leaves others their place. And what is taken out was in: else something stays for ever.

import type { Write } from '../../../actors/turn.ts';
import { PENDING_EVIDENCE } from '../../../machines/chain/keys.ts';
import { byteKey, hexOf } from '../../../protocol/bytes.ts';
import { isRefusal } from '../../../protocol/refusal.ts';
import { decodeEvidence } from '../../../protocol/wire/index.ts';
import type { Machine } from '../../machine.ts';
import type { Report } from '../../oracle.ts';
import { PerMachine } from '../ghost/per-machine.ts';

const PENDING = PENDING_EVIDENCE.from[0];
const OF_ONE_MAX = 64;

/** By the key of evidence: the key, and who is accused. */
type Waiting = Map<string, { readonly key: Uint8Array; readonly accused: string }>;

export class StoreShares {
  private readonly report: Report;
  /** The double votes that wait on each disk, but for what came back with a crash. */
  private readonly waiting = new PerMachine((): Waiting => new Map());

  constructor(report: Report) {
    this.report = report;
  }

  /** Of what was written some is lost. */
  starts(at: Machine): void {
    const waiting = this.waiting.get(at);
    if (!waiting) return;
    for (const [name, { key }] of waiting) if (at.disk.read('chain', key) === undefined) waiting.delete(name);
  }

  writes(at: Machine, { key, value, remove }: Write): void {
    if (key[0] !== PENDING) return;
    const waiting = this.waiting.of(at);
    const name = byteKey(key);
    if (!remove) {
      if (!waiting.has(name)) this.waits(at, waiting, name, { key, value });
    } else if (!waiting.delete(name) && at.disk.read('chain', key) === undefined)
      this.report(`${at.name} removes evidence that it does not keep: ${hexOf(key)}`, at, at.height);
  }

  private waits(
    at: Machine,
    waiting: Waiting,
    name: string,
    { key, value }: Pick<Write, 'key' | 'value'>,
  ): void {
    const evidence = decodeEvidence(value);
    if (isRefusal(evidence) || evidence.kind !== 'duplicate-vote') return;
    const accused = hexOf(evidence.voteA.validatorAddress);
    waiting.set(name, { key, accused });
    if (waiting.size <= OF_ONE_MAX) return;
    const count = [...waiting.values()].filter((each) => each.accused === accused).length;
    if (count <= OF_ONE_MAX) return;
    const what = `keeps ${count} double votes of ${accused.slice(0, 12)}, which is more than anybody's share`;
    this.report(`${at.name} ${what}`, at, at.height);
  }
}
