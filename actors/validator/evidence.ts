// Evidence that peers offer: what is true is kept and passed on, what is false costs the connection, and what memory does not reach is looked up first.

import { isRefusal } from '../../protocol/refusal.ts';
import { evidenceHeight, isExpired } from '../../protocol/rules/evidence.ts';
import type { Evidence } from '../../protocol/types.ts';
import { decodeEvidenceMessage } from '../../protocol/wire/index.ts';
import type { PeerId } from '../turn.ts';
import { storeEvidence } from './execute.ts';
import { gossipEvidence } from './gossiping.ts';
import { forgetRead, missingFor, readForEvidence } from './recall.ts';
import type { Missing, ValidatorState } from './state.ts';

/** Of a message (CometBFT evidence/reactor.go `maxMsgSize`). */
const EVIDENCE_BYTES_MAX = 1_048_576;

export function hearEvidence(v: ValidatorState, peer: PeerId, bytes: Uint8Array): void {
  if (bytes.length > EVIDENCE_BYTES_MAX)
    return v.score(peer, `evidence of ${bytes.length} bytes; a message may have ${EVIDENCE_BYTES_MAX}`);
  const message = decodeEvidenceMessage(bytes);
  if (isRefusal(message)) return v.score(peer, message.because);
  if (v.mode !== 'consensus') return;
  let isNew = false;
  for (const evidence of message.evidence) {
    if (v.isGivenUp(peer)) break;
    if (!deferIfMissing(v, peer, evidence) && tryAdd(v, peer, evidence)) isNew = true;
  }
  if (isNew) gossipEvidence(v);
}

/** Something of our past was read: the evidence that waits for it goes on, to the next that it needs or to its end. */
export function onAccusationRead(v: ValidatorState, { what, height }: Missing): void {
  const { accusation } = v;
  if (accusation?.waitsFor.what !== what || accusation.waitsFor.height !== height) return;
  v.accusation = null;
  const { peer, evidence } = accusation;
  if (v.mode !== 'consensus' || deferIfMissing(v, peer, evidence)) return;
  if (tryAdd(v, peer, evidence)) gossipEvidence(v);
  forgetRead(v);
}

/**
 * Whether it cannot be judged now, for something of our past is being read: for it, or for other evidence, and then it is let fall, as peers
 * offer it again. One read at a time, and none for what is too old by its own word: a liar may name all of our past.
 */
function deferIfMissing(v: ValidatorState, peer: PeerId, evidence: Evidence): boolean {
  const missing = missingFor(v, evidence);
  if (!missing || v.evidencePool.isUnwanted(evidence)) return false;
  const { lastBlockHeight, lastBlockTimeNs, consensusParams } = v.chain;
  const ageBlocks = lastBlockHeight - evidenceHeight(evidence);
  if (isExpired(consensusParams, ageBlocks, lastBlockTimeNs - evidence.timeNs)) return false;
  if (v.accusation) return true;
  v.accusation = { peer, evidence, waitsFor: missing };
  readForEvidence(v, missing);
  return true;
}

/** Whether it is new, and holds. */
function tryAdd(v: ValidatorState, peer: PeerId, evidence: Evidence): boolean {
  const added = v.evidencePool.add(evidence, v.facts(), v.config.verify);
  if (added === null) return false;
  if (isRefusal(added)) {
    // What we cannot look up is not the peer's fault; what is false is.
    if (added.refused !== 'evidence-unknown-height' && added.refused !== 'evidence-expired')
      v.score(peer, added.because);
    return false;
  }
  storeEvidence(v, added);
  v.evidenceTold.heardFrom(peer, added, v.turn.monoNs);
  return true;
}
