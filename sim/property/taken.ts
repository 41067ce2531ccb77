// Whether an application takes any of the load that a property gives it: over empty blocks everything holds, and shows nothing.

import { utf8Decode } from '#platform';
import type { Application } from '../../machines/apps/application.ts';
import { applicationNamed } from '../../machines/apps/named.ts';
import type { AbciRequest, AbciResponse } from '../../protocol/abci.ts';
import { hexOf } from '../../protocol/bytes.ts';
import { isRefusal } from '../../protocol/refusal.ts';
import { runScenario } from '../run.ts';
import { ownApplication } from '../scenario/own.ts';
import type { Scenario } from '../scenario/play.ts';
import { ScenarioError } from '../scenario/words.ts';

const SEED = 1;
const SHOWN_MAX = 24;

/** What the applications of all nodes said in a run. */
interface Heard {
  /** Transactions that pools asked about, in hex: an application may add others to its blocks. */
  readonly asked: Set<string>;
  /** Those of them that had no error in a block; and, of an application that writes others in their place, any. */
  taken: number;
  /** It proposed as many as it was given, and none of those: it may write them anew. */
  rewrites: boolean;
  /** The first that was refused, and how; null: none was. */
  refused: { readonly tx: Uint8Array; readonly how: string } | null;
}

/**
 * Performs `calm` once.
 * @throws ScenarioError when it holds, and no transaction comes into a block and has no error there.
 */
export function mustTakeSome(calm: Scenario): void {
  const make = makerOf(calm.app);
  if (make === null) return;
  const heard: Heard = { asked: new Set(), taken: 0, rewrites: false, refused: null };
  const { holds, transactions } = runScenario(
    { ...calm, app: () => listened(make(), heard) },
    { seed: SEED, shape: false },
  );
  if (!holds || heard.taken > 0) return;
  throw new ScenarioError(
    `load: in a run without faults ${inVain(heard, transactions.submitted)}, so the property would show nothing; write load: txs({ perBlock: 2, make: (stream, n) => ... })` +
      " with such as it takes, or load: 'none'",
  );
}

function inVain({ refused }: Heard, submitted: number): string {
  if (submitted === 0) return 'nobody gives a transaction';
  if (refused === null) return `none of ${submitted} transactions comes into a block`;
  return `the application takes none of ${submitted} transactions, such as ${shown(refused.tx)} (${refused.how})`;
}

function makerOf(app: Scenario['app']): (() => Application) | null {
  if (typeof app === 'function') return ownApplication(app);
  const named = applicationNamed(app);
  return isRefusal(named) ? null : () => applicationNamed(app) as Application;
}

const listened = (app: Application, heard: Heard): Application => ({
  name: app.name,
  answer: (request) => {
    const answer = app.answer(request);
    hear(heard, request, answer);
    return answer;
  },
  drainWrites: () => app.drainWrites(),
  restore: (pairs) => app.restore(pairs),
  digest: () => app.digest(),
  digestFromScratch: () => app.digestFromScratch(),
});

function hear(heard: Heard, request: AbciRequest, answer: AbciResponse): void {
  const judge = (tx: Uint8Array, { code, log }: { readonly code: number; readonly log: string }): void => {
    if (code === 0) return;
    heard.refused ??= { tx, how: `${request.type} says code ${code}${log === '' ? '' : `: ${log}`}` };
  };
  if (request.type === 'check-tx' && answer.type === 'check-tx') {
    heard.asked.add(hexOf(request.value.tx));
    judge(request.value.tx, answer.value);
  }
  if (request.type === 'prepare-proposal' && answer.type === 'prepare-proposal') {
    const [given, proposed] = [request.value.txs, answer.value.txs];
    const isOther = !proposed.some((tx) => heard.asked.has(hexOf(tx)));
    if (given.length > 0 && proposed.length >= given.length && isOther) heard.rewrites = true;
  }
  if (request.type !== 'finalize-block' || answer.type !== 'finalize-block') return;
  for (const [i, result] of answer.value.txResults.entries()) {
    const tx = request.value.txs[i] ?? new Uint8Array();
    if (!heard.rewrites && !heard.asked.has(hexOf(tx))) continue;
    if (result.code === 0) heard.taken++;
    judge(tx, result);
  }
}

/** As a text where it is one. */
function shown(tx: Uint8Array): string {
  const text = utf8Decode(tx);
  if (/^[ -~]+$/.test(text))
    return JSON.stringify(text.length > SHOWN_MAX ? `${text.slice(0, SHOWN_MAX)}...` : text);
  return tx.length > SHOWN_MAX ? `0x${hexOf(tx.subarray(0, SHOWN_MAX))}...` : `0x${hexOf(tx)}`;
}
