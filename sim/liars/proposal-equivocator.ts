// The proposal equivocator: when it is its turn it makes a second valid block, with other transactions, and
// proposes that one to its victims.

import { utf8Encode } from '#platform';
import type { Payload } from '../../actors/turn.ts';
import { equalBytes } from '../../protocol/bytes.ts';
import { dataHash, headerHash } from '../../protocol/hashes.ts';
import { PartSet } from '../../protocol/part-set.ts';
import { isRefusal, unreachable } from '../../protocol/refusal.ts';
import { proposalSignBytes } from '../../protocol/sign-bytes.ts';
import type { Block, Proposal } from '../../protocol/types.ts';
import { decodeBlock, encodeBlock } from '../../protocol/wire/index.ts';
import { consensusMessage } from '../oracles/ghost.ts';
import { addressFor } from '../oracles/votes.ts';
import { isInItsHeights, type Liar, type LiarKit, partPayload, proposalPayload, Remembered } from './liar.ts';

interface Twin {
  /** Hash of the true block's parts: what the victims are not told. */
  readonly instead: Uint8Array;
  readonly payloads: readonly Payload[];
}

export const proposalEquivocator: Liar = (kit) => {
  const twins = new Remembered<Twin | null>();
  return (to, payloads) => {
    if (!kit.victims.has(to)) return null;
    for (const payload of payloads) {
      if (payload.channel !== 0x21) continue;
      const message = consensusMessage(payload.bytes);
      if (message?.type === 'proposal' && message.proposal.polRound < 0) {
        const { proposal } = message;
        const twin = twins.get(`${proposal.height}/${proposal.round}`, () =>
          makeTwin(kit, proposal, payloads),
        );
        if (twin && equalBytes(twin.instead, proposal.blockId.parts.hash)) return [...twin.payloads];
      }
    }
    return null;
  };
};

/** Null: not its own proposal, not whole in this envelope, or it tells the truth this time. */
function makeTwin(kit: LiarKit, proposal: Proposal, payloads: readonly Payload[]): Twin | null {
  if (!isInItsHeights(kit.words, proposal.height)) return null;
  const parts = new PartSet(proposal.blockId.parts);
  for (const { channel, bytes } of payloads) {
    const message = channel === 0x21 ? consensusMessage(bytes) : null;
    if (message?.type === 'block-part') parts.add(message.part);
  }
  if (!parts.isComplete) return null;
  const block = decodeBlock(parts.bytes());
  if (isRefusal(block)) return null;
  const mine = kit.machine.member.publicKey;
  if (!mine || !isOwn(kit, block) || !kit.lies()) return null;
  const twin = twinOf(kit, block);
  const whole = PartSet.whole(encodeBlock(twin));
  const unsigned = { ...proposal, blockId: { hash: headerHash(twin.header), parts: whole.header } };
  const key = kit.machine.key ?? unreachable('a liar has a key');
  const signature = key.sign(proposalSignBytes(kit.chainId, unsigned));
  kit.count('lie: another block');
  const said = [proposalPayload({ ...unsigned, signature })];
  for (let i = 0; i < whole.header.total; i++) {
    said.push(partPayload(proposal.height, proposal.round, whole.part(i) ?? unreachable('a whole set')));
  }
  return { instead: proposal.blockId.parts.hash, payloads: said };
}

const isOwn = (kit: LiarKit, block: Block): boolean =>
  equalBytes(block.header.proposerAddress, addressFor(kit.machine));

/** As valid as the first: without its last transaction, or with one of the liar's own. */
function twinOf(kit: LiarKit, block: Block): Block {
  const own = utf8Encode(`twin${block.header.height}=x`);
  const txs = block.txs.length > 0 ? block.txs.slice(0, -1) : [own];
  if (block.txs.length === 0) kit.submitted(own);
  return { ...block, txs, header: { ...block.header, dataHash: dataHash(txs) } };
}
