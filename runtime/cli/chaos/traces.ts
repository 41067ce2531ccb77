// Replays the recording of a real node in the simulator's way, and hears what it said on the wire and how its
// state stood at every height.

import { configOfValue, nodeCast } from '../../../actors/node.ts';
import type { Effect } from '../../../actors/turn.ts';
import { CHANNEL_DATA, CHANNEL_VOTE } from '../../../protocol/messages.ts';
import { isRefusal } from '../../../protocol/refusal.ts';
import { rememberingVerify, verifySignature } from '../../../protocol/signatures.ts';
import { decodeConsensusMessage } from '../../../protocol/wire/index.ts';
import { publishedIn, Replay } from '../../kernel/replay.ts';
import { TraceFile } from '../traces/trace-file.ts';
import { CliError } from '../usage.ts';
import type { Agreement, Problems, Signatures } from './facts.ts';
import { Promises } from './promises.ts';

export interface TraceFacts {
  readonly records: number;
  readonly lives: number;
  readonly bytes: number;
  /** Heights whose state digest was compared. */
  readonly heights: number;
  /** What a life had to find on the disk because an earlier one relied on it. */
  readonly promises: number;
}

export function checkTrace(
  name: string,
  path: string,
  facts: { readonly problems: Problems; readonly agreement: Agreement; readonly signatures: Signatures },
): TraceFacts {
  const { problems, agreement, signatures } = facts;
  const who = `the recording of ${name}`;
  let records = 0;
  let lives = 0;
  const heights = new Set<bigint>();
  let bytes = 0;
  const promises = new Promises(who, problems);
  try {
    const trace = new TraceFile(path);
    bytes = trace.bytes;
    const verify = rememberingVerify(verifySignature);
    const replay = new Replay(trace.header, (node) => nodeCast(configOfValue(node), { verify }));
    for (const record of trace.records()) {
      const done = replay.step(record);
      records++;
      if ('why' in done) {
        problems.add(`${who} diverges at record ${done.record}, ${done.actor} ${done.message}: ${done.why}`);
        break;
      }
      promises.look(record, done);
      if (done.kind === 'boot' && done.actor === 'validator') lives++;
      for (const effect of done.effects) hearSent(effect, who, signatures);
      for (const event of publishedIn(done.effects)) {
        if (event.type === 'applied') {
          agreement.claim('application digest', event.height, event.stateDigest, who);
        } else if (event.type === 'committed') {
          heights.add(event.height);
          agreement.claim('block', event.height, event.hash, who);
          agreement.claim('app hash', event.height, event.appHash, who);
          agreement.claim('state digest', event.height, event.stateDigest, who);
        }
      }
    }
    if (trace.torn) problems.add(`${who} is cut short at byte ${trace.torn.offset}`);
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    problems.add(error.message);
  }
  return { records, lives, bytes, heights: heights.size, promises: promises.checked };
}

/** Votes and proposals that left the node: its own, and those of others that it passed on. */
function hearSent(effect: Effect, who: string, signatures: Signatures): void {
  if (effect.type !== 'send') return;
  for (const { channel, bytes } of effect.payloads) {
    if (channel !== CHANNEL_VOTE && channel !== CHANNEL_DATA) continue;
    const message = decodeConsensusMessage(bytes);
    if (isRefusal(message)) continue;
    if (message.type === 'vote') signatures.vote(message.vote, who);
    else if (message.type === 'proposal') signatures.proposal(message.proposal, who);
  }
}
