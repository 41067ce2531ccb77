// Agreement, validity, integrity, certificates, determinism, recovery, proposers and time: read from what nodes store and publish at each commit.

import { utf8Decode, utf8Encode } from '#platform';
import { heightOfKey } from '../../machines/chain/keys.ts';
import { equalBlockId } from '../../protocol/block-id.ts';
import { byteKey, equalBytes, hexOf, settled } from '../../protocol/bytes.ts';
import {
  commitHash,
  dataHash,
  evidenceListHash,
  headerHash,
  paramsHash,
  resultsHash,
  txHash,
} from '../../protocol/hashes.ts';
import { CHANNEL_MEMPOOL } from '../../protocol/messages.ts';
import { isRefusal } from '../../protocol/refusal.ts';
import type { Verify } from '../../protocol/signatures.ts';
import type { Block, Commit } from '../../protocol/types.ts';
import {
  decodeBlock,
  decodeCommit,
  decodeMempoolMessage,
  decodeResponseFinalizeBlock,
  encodeCommit,
  encodeEvidenceList,
} from '../../protocol/wire/index.ts';
import type { Machine } from '../machine.ts';
import type { Oracle, OracleMaker } from '../oracle.ts';
import { Certificates } from './certificates.ts';
import type { GhostChain, GhostSet } from './ghost.ts';

/** The label of a run whose validator set changes. */
export const SET_CHANGES = 'the validator set changes';

const FAMILY = { block: 'b'.charCodeAt(0), commit: 's'.charCodeAt(0), response: 'r'.charCodeAt(0) };
/** Blocks kept whole; of older heights only hashes and digests stay, to compare late nodes with. */
const BLOCKS_KEPT = 64;
/** Half a hash tells transactions apart, in the least memory: there is one per transaction of a run. */
const txKey = (tx: Uint8Array): string => byteKey(txHash(tx).subarray(0, 16));
const SHORT_BYTES = 6;
const short = (bytes: Uint8Array): string => hexOf(bytes.subarray(0, SHORT_BYTES));

/** Two that are not equal, so much of each that this is seen: an application's hash may begin with words. */
function apart(a: Uint8Array, b: Uint8Array): readonly [string, string] {
  let at = 0;
  while (at < a.length && a[at] === b[at]) at++;
  const seen = (bytes: Uint8Array): string =>
    at < SHORT_BYTES ? short(bytes) : `${short(bytes)}...${hexOf(bytes.subarray(at, at + SHORT_BYTES))}`;
  return [seen(a), seen(b)];
}

interface Height {
  readonly hash: Uint8Array;
  /** Null when it is long ago: what late nodes are compared with stays. */
  block: Block | null;
  bytes: Uint8Array | null;
  readonly by: string;
  round: number;
  /** As nodes say they have it. */
  appHash: Uint8Array | null;
  /** As the application answered. */
  answeredAppHash: Uint8Array | null;
  answeredResultsHash: Uint8Array | null;
  /** Whether it changed parameters: those bring their own version of the application, whatever else they change. */
  changedVersion: boolean;
  stateDigest: Uint8Array | null;
  appliedDigest: Uint8Array | null;
}

/** The earliest time that half of the power which voted is not later than; null: nobody voted. */
function medianOf(commit: Commit | null, set: GhostSet | undefined): bigint | null {
  const times: { readonly timeNs: bigint; readonly power: bigint }[] = [];
  let left = 0n;
  for (const [index, { flag, timeNs }] of (commit?.signatures ?? []).entries()) {
    const power = set?.members[index]?.power;
    if (flag === 1 || power === undefined) continue;
    times.push({ timeNs, power });
    left += power;
  }
  left /= 2n;
  times.sort((a, b) => (a.timeNs < b.timeNs ? -1 : a.timeNs > b.timeNs ? 1 : 0));
  for (const { timeNs, power } of times) {
    if (left <= power) return timeNs;
    left -= power;
  }
  return null;
}

/**
 * 1 agreement, 2 validity, 3 integrity, 8 certificates, 15 application determinism, 17 proposers, 18 time, 21 recovery: one pass over the
 * same decoded blocks, one name per promise.
 */
export const chainOracle =
  (ghost: GhostChain, verify: Verify): OracleMaker =>
  (report, about): Oracle => {
    /** By height as a number: a bigint is slow as a key. */
    const heights = new Map<number, Height>();
    const submitted = new Set<string>();
    const committedTxs = new Map<string, bigint>();
    const lastCommitted = new Map<Machine, bigint>();
    const lastApplied = new Map<Machine, bigint>();
    const certificates = new Certificates(ghost, verify, about.chainId, report);
    const heightAt = (height: bigint): Height | undefined => heights.get(Number(height));

    const stored = (at: Machine, block: Block, bytes: Uint8Array): void => {
      const { height } = block.header;
      const hash = headerHash(block.header);
      const known = heightAt(height);
      if (known) {
        if (!equalBytes(known.hash, hash)) {
          report(
            `agreement: ${known.by} committed ${short(known.hash)} at height ${height}, ${at.name} ${short(hash)}`,
            at,
            height,
          );
        }
        return;
      }
      heights.set(Number(height), {
        hash: settled(hash),
        block,
        bytes,
        by: at.name,
        round: -1,
        appHash: null,
        answeredAppHash: null,
        answeredResultsHash: null,
        changedVersion: false,
        stateDigest: null,
        appliedDigest: null,
      });
      validity(at, block, bytes);
      times(at, block);
      for (const told of ghost.onBlock) told(at, block);
      forgetBlock(Number(height) - BLOCKS_KEPT);
    };

    const forgetBlock = (height: number): void => {
      const old = heights.get(height);
      if (!old) return;
      old.block = null;
      old.bytes = null;
    };

    const validity = (at: Machine, block: Block, bytes: Uint8Array): void => {
      const { header, lastCommit } = block;
      const { height } = header;
      const bad = (what: string): void => report(`validity: block ${height} ${what}`, at, height);
      const before = heightAt(height - 1n);
      const params = ghost.params(height);
      if (params && !equalBytes(header.consensusHash, paramsHash(params)))
        bad('has another consensus hash than the parameters in force');
      const maxBytes = params?.block.maxBytes ?? -1n;
      if (maxBytes >= 0n && BigInt(bytes.length) > maxBytes)
        bad(`has ${bytes.length} bytes; block.max_bytes is ${maxBytes}`);
      const evidenceBytes = block.evidence.length > 0 ? encodeEvidenceList(block.evidence).length : 0;
      if (params && BigInt(evidenceBytes) > params.evidence.maxBytes)
        bad(`has ${evidenceBytes} bytes of evidence; evidence.max_bytes is ${params.evidence.maxBytes}`);
      if (header.chainId !== about.chainId) bad(`is of chain ${header.chainId}`);
      if (before && !equalBytes(header.lastBlockId.hash, before.hash))
        bad('does not follow the block before it');
      if (lastCommit && lastCommit.height > 0n && !equalBlockId(header.lastBlockId, lastCommit.blockId))
        bad('names another block before it than its last commit is for');
      const version = before?.block?.header.version;
      const isSameVersion = header.version.block === version?.block && header.version.app === version.app;
      if (version && !isSameVersion && !before?.changedVersion)
        bad(
          `is of version ${header.version.block}/${header.version.app}, the one before of ${version.block}/${version.app}`,
        );
      if (!equalBytes(header.dataHash, dataHash(block.txs)))
        bad('has another data hash than its transactions');
      if (lastCommit && !equalBytes(header.lastCommitHash, commitHash(lastCommit)))
        bad('has a wrong last commit hash');
      if (!equalBytes(header.evidenceHash, evidenceListHash(block.evidence)))
        bad('has a wrong evidence hash');
      const answered = before?.answeredAppHash ?? before?.appHash;
      if (answered && !equalBytes(header.appHash, answered))
        bad('carries another app hash than the application gave');
      const results = before?.answeredResultsHash;
      if (results && !equalBytes(header.lastResultsHash, results))
        bad('carries another hash of results than those that the application gave');
      for (const tx of block.txs) transaction(at, height, tx, bad);
      if (lastCommit && lastCommit.height > 0n)
        certificates.verify(at, lastCommit, encodeCommit(lastCommit), 'last commit of the next block');
      const proposer = hexOf(header.proposerAddress);
      if (ghost.set(height) && ghost.set(height)?.powerOf(proposer) === 0n)
        bad(`was proposed by ${proposer}, no validator`);
    };

    const transaction = (at: Machine, height: bigint, tx: Uint8Array, bad: (what: string) => void): void => {
      const id = txKey(tx);
      const before = committedTxs.get(id);
      if (before !== undefined)
        report(
          `integrity: transaction ${short(txHash(tx))} is in blocks ${before} and ${height}`,
          at,
          height,
        );
      committedTxs.set(id, height);
      if (!submitted.has(id)) bad(`holds transaction ${short(txHash(tx))}, which nobody submitted`);
    };

    /** What the application has not executed may come again: nobody keeps it out of pools. */
    const forgive = (block: Block | null, results: readonly { readonly code: number }[]): void => {
      block?.txs.forEach((tx, i) => {
        if (results[i]?.code !== 0) committedTxs.delete(txKey(tx));
      });
    };

    /** 18. What the last commit says; strictly increasing; never ahead of every honest clock, but for the millisecond that each block must add. */
    const times = (at: Machine, block: Block): void => {
      const { height, timeNs } = block.header;
      const median = medianOf(block.lastCommit, ghost.set(height - 1n));
      if (median !== null && timeNs !== median)
        report(`time: block ${height} is not of the median time of its last commit`, at, height);
      const before = heightAt(height - 1n)?.block?.header.timeNs;
      if (before !== undefined && timeNs <= before)
        report(`time: block ${height} is not later than the block before it`, at, height);
      let latest = ghost.genesisTimeNs;
      for (const machine of about.machines) {
        const wall = machine.clock.wallNs();
        if (about.isHonest(machine) && wall > latest) latest = wall;
      }
      if (timeNs > latest && (before === undefined || timeNs > before + 1_000_000n)) {
        report(`time: block ${height} is ${timeNs - latest} ns ahead of every honest clock`, at, height);
      }
    };

    /** 17. The proposer is the one that the priorities name for a round up to the deciding one. */
    const proposers = (at: Machine, height: bigint, round: number): void => {
      const known = heightAt(height);
      const set = ghost.set(height);
      if (!known?.block || !set || known.round >= 0) return;
      known.round = round;
      const proposer = hexOf(known.block.header.proposerAddress);
      for (let r = 0; r <= round; r++) if (set.atRound(r) === proposer) return;
      report(
        `proposer: block ${height} decided in round ${round} was proposed by ${proposer.slice(0, 12)}, out of turn`,
        at,
        height,
      );
    };

    const same = (
      at: Machine,
      height: bigint,
      field: 'appHash' | 'stateDigest' | 'appliedDigest',
      value: Uint8Array,
      promise: string,
    ): void => {
      const known = heightAt(height);
      if (!known) return;
      const before = known[field];
      if (before === null) known[field] = settled(value);
      else if (!equalBytes(before, value)) {
        const [here, there] = apart(value, before);
        report(
          `${promise}: at height ${height} ${at.name} has ${here} where others have ${there}`,
          at,
          height,
        );
      }
    };

    return {
      name: 'chain',
      effects: ['store'],
      submitted(_at, tx) {
        submitted.add(txKey(tx));
        // The one named rule that makes a transaction of another: kvstore's PrepareProposal writes `:` as `=`.
        const text = utf8Decode(tx);
        if (text.includes(':')) submitted.add(txKey(utf8Encode(text.replace(':', '='))));
      },
      corrupted({ channel, bytes }) {
        // Plain links have no seal: a transaction with a flipped bit is another transaction, and nobody's fault.
        const message = channel === CHANNEL_MEMPOOL ? decodeMempoolMessage(bytes) : null;
        if (message && !isRefusal(message)) for (const tx of message.txs) submitted.add(txKey(tx));
      },
      started(at) {
        // A crash may take the word that a height was executed, and keep the deed: within a life they are in step.
        lastApplied.delete(at);
        lastCommitted.delete(at);
      },
      leaving(at, _actor, effect) {
        if (effect.type !== 'store' || effect.store !== 'chain' || !about.isHonest(at)) return;
        for (const { key, value, remove } of effect.writes) {
          if (key.length !== 9 || remove) continue; // nothing at all may be an answer
          if (key[0] === FAMILY.block) {
            // Byte for byte what is known already is nothing new.
            const known = heightAt(heightOfKey(key));
            if (known?.bytes && equalBytes(known.bytes, value)) continue;
            const block = decodeBlock(value);
            if (!isRefusal(block)) stored(at, block as Block, value);
          } else if (key[0] === FAMILY.commit) {
            if (certificates.isKnown(Number(heightOfKey(key)), value)) continue;
            const commit = decodeCommit(value);
            if (!isRefusal(commit)) certificates.verify(at, commit as Commit, value, 'seen commit of');
          } else if (key[0] === FAMILY.response) {
            const height = heightOfKey(key);
            if (ghost.set(height + 2n)) continue;
            const answer = decodeResponseFinalizeBlock(value);
            if (isRefusal(answer)) continue;
            ghost.finalized(height, answer);
            if (answer.validatorUpdates.length > 0) about.reached(SET_CHANGES);
            const known = heightAt(height);
            if (!known) continue;
            known.answeredAppHash = settled(answer.appHash);
            known.answeredResultsHash = settled(resultsHash(answer.txResults));
            known.changedVersion = answer.consensusParamUpdates !== undefined;
            forgive(known.block, answer.txResults);
          }
        }
      },
      published(at, _actor, event) {
        if (!about.isHonest(at)) return;
        if (event.type === 'committed') {
          const before = lastCommitted.get(at);
          if (before !== undefined && event.height > before + 1n) {
            report(`integrity: ${at.name} executed ${event.height} right after ${before}`, at, event.height);
          }
          lastCommitted.set(at, event.height);
          const known = heightAt(event.height);
          if (!known)
            report(
              `integrity: ${at.name} executed height ${event.height} and never stored it`,
              at,
              event.height,
            );
          else if (!equalBytes(known.hash, event.hash)) {
            report(
              `agreement: ${at.name} executed ${short(event.hash)} at ${event.height}, not ${short(known.hash)}`,
              at,
              event.height,
            );
          }
          proposers(at, event.height, event.round);
          same(at, event.height, 'appHash', event.appHash, 'app hash');
          same(at, event.height, 'stateDigest', event.stateDigest, 'recovery');
        } else if (event.type === 'applied') {
          const before = lastApplied.get(at);
          if (before !== undefined && event.height !== before + 1n) {
            report(
              `integrity: the application of ${at.name} applied ${event.height} after ${before}`,
              at,
              event.height,
            );
          }
          lastApplied.set(at, event.height);
          same(at, event.height, 'appliedDigest', event.stateDigest, 'application state');
        }
      },
    };
  };
