// Who asks an honest node for blocks is answered: with a block, or with the word that it is not there; and knows of them as soon as the node does
// (status-debts.ts). But a node does not read for one peer without end, however much that one asks.

import type { Payload, PeerId } from '../../../actors/turn.ts';
import type { Machine } from '../../machine.ts';
import type { Oracle, OracleMaker } from '../../oracle.ts';
import { CHANNEL_BLOCKSYNC } from '../canonical/numbers.ts';
import { Greeted } from '../ghost/greeted.ts';
import { PerMachine } from '../ghost/per-machine.ts';
import { StatusDebts } from './status-debts.ts';

/** It is a matter of a few letters within the node; who asks waits five seconds before it asks again. */
const PATIENCE_NS = 4_000_000_000;

/** What it reads for one peer at once: an honest one has asked for twenty. */
const READS_MAX = 50;

/** The first byte of a message of this channel says which one it is: the tag of its field (blocksync/types.proto). */
const TAG = { blockRequest: 0x0a, noBlockResponse: 0x12, blockResponse: 0x1a, status: 0x2a } as const;

const tagOf = ({ channel, bytes }: Payload): number | undefined =>
  channel === CHANNEL_BLOCKSYNC ? bytes[0] : undefined;

const isRequest = (payload: Payload): boolean => tagOf(payload) === TAG.blockRequest;
const isAnswer = (payload: Payload): boolean => {
  const tag = tagOf(payload);
  return tag === TAG.blockResponse || tag === TAG.noBlockResponse;
};

const isStatus = (payload: Payload): boolean => tagOf(payload) === TAG.status;

export const servingOracle: OracleMaker = (report, about): Oracle => {
  /** Whom a node owes an answer, and since when. */
  const owed = new PerMachine(() => new Map<PeerId, number>());
  const greeted = new Greeted();
  const statuses = new StatusDebts(report, about, greeted);
  /** What a node has begun to read at this moment. */
  const reads = new PerMachine(() => ({ atNs: -1, count: 0 }));

  const readsMore = (at: Machine): void => {
    const begun = reads.of(at);
    const now = about.now();
    begun.count = begun.atNs === now ? begun.count + 1 : 1;
    begun.atNs = now;
    const most = READS_MAX * (about.machines.length - 1);
    if (begun.count === most + 1)
      report(`${at.name} reads more than ${most} blocks for peers at once`, at, at.height);
  };

  return {
    name: 'serving',
    effects: ['send', 'load'],
    events: ['peer', 'mode'],
    started(at) {
      statuses.starts(at);
      greeted.starts(at);
      owed.delete(at);
    },
    published(at, _actor, event) {
      if (event.type === 'mode' && event.mode === 'sync' && about.isHonest(at)) statuses.opens(at);
      if (event.type !== 'peer') return;
      statuses.settles(at, [event.peer]);
      greeted.greets(at, event.peer, event.up, about.now());
      owed.get(at)?.delete(event.peer);
    },
    heard(at, from, payloads) {
      if (!payloads.some(isRequest) || !about.isHonest(at)) return;
      const now = about.now();
      // Before its handshake is over it does not know what it has.
      const isReady = at.mode !== 'handshake' && at.halted === null;
      const isThere = isReady && at.node?.isPaused === false && greeted.hears(at, from, now);
      const peers = owed.of(at);
      const since = peers.get(from);
      if (!isThere) peers.delete(from);
      else if (since === undefined || at.heldUntilNs >= since) peers.set(from, now);
      else if (now - since > PATIENCE_NS) {
        const seconds = Math.round((now - since) / 1e9);
        report(`${at.name} has not answered a peer that asks for blocks for ${seconds} s`, at, at.height);
      }
    },
    leaving(at, actor, effect) {
      if (effect.type === 'send') statuses.judge(at);
      if (actor !== 'blocksync') return;
      if (effect.type === 'load' && about.isHonest(at)) readsMore(at);
      if (effect.type !== 'send') return;
      if (effect.payloads.some(isStatus)) statuses.settles(at, effect.to);
      if (!effect.payloads.some(isAnswer)) return;
      for (const peer of effect.to) owed.get(at)?.delete(peer);
    },
  };
};
