// What an application of one's own answers, looked at as it comes: in JavaScript nothing else says that a field is missing or of another kind.

import type { Application } from '../../machines/apps/application.ts';
import type { AbciRequest, AbciResponse } from '../../protocol/abci.ts';
import {
  type Check,
  Checker,
  isPromise,
  isText,
  listOf,
  maybe,
  object,
  type Shape,
  tagged,
  yesOrNo,
} from './checks.ts';
import { ScenarioError } from './words.ts';

const bigInt: Check = {
  expects: 'a bigint of 64 bits',
  holds: (value) => typeof value === 'bigint' && BigInt.asIntN(64, value) === value,
};
/** The rules of the chain judge it, and name it where it is too large. */
const judged: Check = { expects: 'a bigint', holds: (value) => typeof value === 'bigint' };
const unsigned: Check = {
  expects: 'a bigint of 64 bits, not negative',
  holds: (value) => typeof value === 'bigint' && BigInt.asUintN(64, value) === value,
};
const bytes: Check = { expects: 'a Uint8Array', holds: (value) => value instanceof Uint8Array };
const code: Check = {
  expects: 'a whole number from 0 to 4294967295',
  holds: (value) => Number.isInteger(value) && (value as number) >= 0 && (value as number) <= 0xffff_ffff,
};
/** Nobody looks into these. */
const anything: Check = { expects: 'anything' };
const params = maybe(
  object({
    block: maybe(object({ maxBytes: bigInt, maxGas: bigInt })),
    evidence: maybe(object({ maxAgeBlocks: bigInt, maxAgeNs: judged, maxBytes: bigInt })),
    validator: maybe(object({ publicKeyTypes: listOf(isText) })),
    version: maybe(object({ app: unsigned })),
    abci: maybe(object({ voteExtensionsEnableHeight: bigInt })),
  }),
);

const events = listOf(object({ type: isText, attributes: listOf(anything) }));
const result: Shape = {
  code,
  data: bytes,
  log: isText,
  info: isText,
  gasWanted: judged,
  gasUsed: judged,
  events,
  codespace: isText,
};
const updates = listOf(object({ publicKey: object({ type: isText, bytes }), power: judged }));

const VALUES: Readonly<Record<AbciResponse['type'], Shape>> = {
  exception: { error: isText },
  info: {
    data: isText,
    version: isText,
    appVersion: unsigned,
    lastBlockHeight: bigInt,
    lastBlockAppHash: bytes,
  },
  'init-chain': { consensusParams: params, validators: updates, appHash: bytes },
  query: {
    code,
    log: isText,
    info: isText,
    index: bigInt,
    key: bytes,
    value: bytes,
    height: bigInt,
    codespace: isText,
  },
  'check-tx': { ...result, gasWanted: bigInt, gasUsed: bigInt },
  'prepare-proposal': { txs: listOf(bytes) },
  'process-proposal': { status: code },
  'finalize-block': {
    events,
    txResults: listOf(object(result)),
    validatorUpdates: updates,
    consensusParamUpdates: params,
    appHash: bytes,
  },
  commit: { retainHeight: bigInt },
};

const answerCheck = tagged(
  'type',
  Object.fromEntries(Object.entries(VALUES).map(([type, shape]) => [type, { value: object(shape) }])),
);

/** @throws ScenarioError that names the request, and the field. */
function mustAnswer({ type }: AbciRequest, answer: AbciResponse): void {
  const checker = new Checker('the answer');
  checker.check(answerCheck, answer, '');
  const other = checker.problem === null && answer.type !== type && answer.type !== 'exception';
  const problem = other ? `type: expected ${type}, not ${answer.type}` : checker.problem;
  if (problem !== null) throw new ScenarioError(`app: its answer to ${type}: ${problem}`);
}

const writes = listOf(object({ key: bytes, value: bytes, remove: yesOrNo }));

/** @throws ScenarioError that names the method, and the field. */
function mustGive<T>(method: string, check: Check, given: T): T {
  mustBeOver(method, given);
  const checker = new Checker();
  checker.check(check, given, `${method}()`);
  if (checker.problem !== null) throw new ScenarioError(`app: ${checker.problem}`);
  return given;
}

/** What is given away may be changed there; the node's own, which its neighbours share, may not. Of plain data: a machine is itself. */
export function copyOf<T>(value: T): T {
  if (value instanceof Uint8Array) return value.slice() as T;
  if (Array.isArray(value)) return value.map(copyOf) as T;
  if (typeof value !== 'object' || value === null || Object.getPrototypeOf(value) !== Object.prototype)
    return value;
  return Object.fromEntries(Object.entries(value).map(([field, inner]) => [field, copyOf(inner)])) as T;
}

/** @throws ScenarioError when the method waits for something: nobody would wait for it. */
function mustBeOver(method: string, given: unknown): void {
  if (!isPromise(given)) return;
  given.then(undefined, () => {}); // what it throws later is of no interest any more
  throw new ScenarioError(`app: ${method}() gives a promise; it must not be async`);
}

/** The same application, with copies of its own, and all that it gives is looked at. */
export const withAnswersChecked = (app: Application): Application => ({
  name: app.name,
  answer(request) {
    const answer = app.answer(copyOf(request));
    mustBeOver('answer', answer);
    mustAnswer(request, answer);
    return answer;
  },
  drainWrites: () => mustGive('drainWrites', writes, app.drainWrites()),
  restore: (pairs) => mustBeOver('restore', app.restore(copyOf(pairs))),
  digest: () => mustGive('digest', bytes, app.digest()),
  digestFromScratch: () => mustGive('digestFromScratch', bytes, app.digestFromScratch()),
});
