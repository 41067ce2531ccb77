// What proposing liars share: for each block that a liar proposes to a victim in its turn, another one
// instead, with its parts, truly signed.

import type { Payload } from '../../actors/turn.ts';
import { equalBytes } from '../../protocol/bytes.ts';
import { headerHash } from '../../protocol/hashes.ts';
import { merkleProofs } from '../../protocol/merkle.ts';
import { CHANNEL_DATA } from '../../protocol/messages.ts';
import { PartSet, splitIntoParts } from '../../protocol/part-set.ts';
import { isRefusal } from '../../protocol/refusal.ts';
import type { Block, PartSetHeader, Proposal } from '../../protocol/types.ts';
import { decodeBlock, encodeBlock } from '../../protocol/wire/index.ts';
import { addressFor } from '../addresses.ts';
import { consensusMessage } from '../oracles/ghost/messages.ts';
import { isItsPlace, type LiarKit, type Lie, partPayload, Remembered, signedProposal } from './liar.ts';

interface Other {
  /** Hash of the true block's parts: what the victims are not told. */
  readonly instead: Uint8Array;
  readonly payloads: readonly Payload[];
}

/** What a liar proposes in place of its block; what is not given is the truth about it. */
export interface Proposed {
  readonly block: Block;
  /** The round of the polka that its proposal claims. */
  readonly polRound?: number;
  /** The bytes that say it. */
  readonly bytes?: Uint8Array;
  /** The hash by which its proposal names it. */
  readonly hash?: Uint8Array;
  /** The parts that its proposal promises. */
  readonly parts?: PartSetHeader;
  /** Its bytes, cut into parts otherwise than every 64 KiB. */
  readonly pieces?: readonly Uint8Array[];
}

/**
 * `change` says what it proposes in place of a block of its own; null: the truth this time. Blocks that are proposed again, with their polka, are
 * left alone where it does not ask for those, too: they may be others' blocks.
 */
export function aboutOwnBlocks(
  kit: LiarKit,
  what: string,
  change: (block: Block, proposal: Proposal) => Proposed | null,
  which: 'new' | 'all' = 'new',
): Lie {
  const others = new Remembered<Other | null>();
  return (to, payloads) => {
    if (!kit.victims.has(to)) return null;
    for (const payload of payloads) {
      const message = payload.channel === CHANNEL_DATA ? consensusMessage(payload) : null;
      if (message?.type !== 'proposal') continue;
      const { proposal } = message;
      if (proposal.polRound >= 0 && which === 'new') continue;
      const other = others.get(`${proposal.height}/${proposal.round}`, () => {
        const block = ownBlock(kit, proposal, payloads);
        if (!block || !isItsPlace(kit.words, proposal.height, proposal.round) || !kit.lies()) return null;
        const changed = change(block, proposal);
        if (changed) kit.count(what);
        return changed && proposedInstead(kit, proposal, changed);
      });
      if (!other || !equalBytes(other.instead, proposal.blockId.parts.hash)) continue;
      return payloads.flatMap((each) => {
        if (each === payload) return other.payloads;
        return isPartOf(each, proposal) ? [] : [each];
      });
    }
    return null;
  };
}

function isPartOf(payload: Payload, { height, round }: Proposal): boolean {
  const message = payload.channel === CHANNEL_DATA ? consensusMessage(payload) : null;
  return message?.type === 'block-part' && message.height === height && message.round === round;
}

/** Null: it is not what it proposes itself, or not whole in this envelope. */
function ownBlock(kit: LiarKit, proposal: Proposal, payloads: readonly Payload[]): Block | null {
  const parts = new PartSet(proposal.blockId.parts);
  for (const payload of payloads) {
    const message = payload.channel === CHANNEL_DATA ? consensusMessage(payload) : null;
    if (message?.type === 'block-part') parts.add(message.part);
  }
  if (!parts.isComplete) return null;
  const block = decodeBlock(parts.bytes());
  if (isRefusal(block)) return null;
  const isOwn =
    proposal.polRound < 0
      ? equalBytes(block.header.proposerAddress, addressFor(kit.machine))
      : kit.hasTurn(proposal.height, proposal.round);
  return isOwn ? block : null;
}

function proposedInstead(kit: LiarKit, proposal: Proposal, proposed: Proposed): Other {
  const { block, polRound = proposal.polRound, hash = headerHash(block.header) } = proposed;
  const { pieces } = proposed;
  const cut = pieces ? partsOf(pieces) : splitIntoParts(proposed.bytes ?? encodeBlock(block));
  const blockId = { hash, parts: proposed.parts ?? cut.header };
  const { height, round } = proposal;
  const payloads = [
    signedProposal(kit, { ...proposal, polRound, blockId }),
    ...cut.parts.map((part) => partPayload(height, round, part)),
  ];
  return { instead: proposal.blockId.parts.hash, payloads };
}

function partsOf(pieces: readonly Uint8Array[]): ReturnType<typeof splitIntoParts> {
  const { root, proofs } = merkleProofs(pieces);
  const parts = proofs.map((proof, index) => ({ index, bytes: pieces[index] as Uint8Array, proof }));
  return { header: { total: parts.length, hash: root }, parts };
}

/** True, and cut at its half: others would cut it otherwise, and give its parts another hash. */
export function inHalves(block: Block): Proposed {
  const bytes = encodeBlock(block);
  const half = bytes.length >> 1;
  return { block, pieces: [bytes.subarray(0, half), bytes.subarray(half)] };
}
