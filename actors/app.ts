// The application as an actor: answers ABCI requests in the order they come, and writes what a commit changed
// to the store `app`.

import { type Application, KEY_BYTES_MAX } from '../machines/apps/application.ts';
import { equalBytes } from '../protocol/bytes.ts';
import { must, unreachable } from '../protocol/refusal.ts';
import { EMPTY_BYTES } from '../protocol/types.ts';
import { type AppMail, appMail } from './mail.ts';
import { type Effect, type Logic, NO_EFFECTS, type Reads } from './turn.ts';

/**
 * The kept-up digest is compared with one from scratch so often, and on a long chain after each eighth of its last power of two: it costs as
 * much as the state is large, which grows with the chain.
 */
const HEIGHTS_BETWEEN_AUDITS = 1024n;
const isAuditAt = (height: bigint): boolean =>
  height > 0n &&
  height % HEIGHTS_BETWEEN_AUDITS === 0n &&
  height % (1n << BigInt(height.toString(2).length - 4)) === 0n;

export interface AppConfig {
  /** A fresh application for every life of the node. */
  readonly application: () => Application;
}

export interface AppState {
  readonly application: Application;
  /** Of the last FinalizeBlock: what the next Commit makes last. */
  height: bigint;
}

const WHOLE_STORE: Reads = { logs: [], stores: [{ store: 'app', from: EMPTY_BYTES, to: EMPTY_BYTES }] };

export function appLogic(config: AppConfig): Logic<AppState, AppMail> {
  return {
    name: 'app',
    words: appMail,
    reads: WHOLE_STORE,
    start: (boot) => {
      const application = config.application();
      application.restore(boot.stores[0] ?? unreachable('the boot holds what this actor reads'));
      return { state: { application, height: 0n }, effects: NO_EFFECTS };
    },
    receive: (state, message) =>
      message.type === 'request'
        ? onRequest(state, message)
        : unreachable(`app asked for no ${message.type}`),
    look: (state) => ({ application: state.application.name, height: state.height }),
  };
}

function onRequest(state: AppState, { from, tag, request }: Extract<AppMail, { type: 'request' }>): Effect[] {
  const response = state.application.answer(request);
  const reply: Effect = { type: 'tell', to: from, message: { type: 'answer', tag, response } };
  if (request.type === 'finalize-block') state.height = request.value.height;
  if (response.type !== 'commit') return [reply];
  // Not durable on purpose: an application of others may be behind after a crash too, so the handshake must
  // cope (spec 5.8). But who lets go of blocks must never need them again.
  const durable = response.value.retainHeight > 0n;
  const writes = state.application.drainWrites();
  const odd = writes.find(({ key }) => key.length < 1 || key.length > KEY_BYTES_MAX);
  must(!odd, `the application writes a key of ${odd?.key.length} bytes; a store takes 1 to ${KEY_BYTES_MAX}`);
  const stateDigest = digestOf(state);
  const applied: Effect = { type: 'publish', event: { type: 'applied', height: state.height, stateDigest } };
  if (writes.length === 0) return [reply, applied];
  return [{ type: 'store', store: 'app', writes, durable }, reply, applied];
}

function digestOf({ application, height }: AppState): Uint8Array {
  const digest = application.digest();
  must(
    !isAuditAt(height) || equalBytes(digest, application.digestFromScratch()),
    'the application lost count of its state',
  );
  return digest;
}
