// What an application is told, asked and believed: a user's own chain acts upon it and has no way to check. It is told what the block says,
// in the order of ABCI; its proposal is proposed, its refusal is heeded, and its answer is what the chain keeps.

import type { AppMail, SignerMail, ValidatorMail } from '../../../actors/mail.ts';
import type { Effect } from '../../../actors/turn.ts';
import { heightOfKey } from '../../../machines/chain/keys.ts';
import type {
  AbciRequest,
  RequestFinalizeBlock,
  RequestInfo,
  RequestInitChain,
  RequestPrepareProposal,
  RequestProcessProposal,
  ResponseFinalizeBlock,
} from '../../../protocol/abci.ts';
import { byteKey, equalBytes, hexOf } from '../../../protocol/bytes.ts';
import { addressOf } from '../../../protocol/keys.ts';
import type { Block, Header, Vote } from '../../../protocol/types.ts';
import { encodeFinalizedGenerated } from '../../../protocol/wire/abci-parts.ts';
import { encodeConsensusParams, encodeResponseFinalizeBlock } from '../../../protocol/wire/index.ts';
import { machinesByAddress } from '../../addresses.ts';
import type { Machine } from '../../machine.ts';
import type { Oracle, OracleMaker, Report, WorldAbout } from '../../oracle.ts';
import { evidenceListBytes } from '../canonical/block.ts';
import { headerHash } from '../canonical/bytes.ts';
import { PROCESS_PROPOSAL_ACCEPT } from '../canonical/numbers.ts';
import { blockBytesMax, roomOfProposer } from '../chain/room.ts';
import type { GhostChain, GhostSet } from '../ghost/ghost.ts';
import { PerMachine } from '../ghost/per-machine.ts';
import { Judgements } from './judgements.ts';
import { Talk } from './talk.ts';
import { difference, wrongVersion } from './told.ts';

/** Blocks that requests are compared with; a node further behind executes what others were told of. */
const BLOCKS_KEPT = 256;
/** It judges so many proposals at once: what rounds leave that fail meanwhile would come before the block that is decided. */
const JUDGED_AT_ONCE_MAX = 2;
/** Heights of which proposals are remembered: a height is over long before. */
const HEIGHTS_KEPT = 3;

/** Families of the store `chain`: blocks, and the application's answers. */
const BLOCK = 'b'.charCodeAt(0);
const RESPONSE = 'r'.charCodeAt(0);
const PARAMS = 'p'.charCodeAt(0);

/** What it proposes in answer stands in the block, not what it was given. */
interface Prepared {
  readonly request: RequestPrepareProposal;
  readonly txs: readonly Uint8Array[];
}

/** A block of the chain, and the requests that were found to say the same: nodes of one process share them. */
interface Decided {
  readonly block: Block;
  readonly hash: Uint8Array;
  readonly good: RequestFinalizeBlock[];
}

/** What one node's application was asked in the height under way, over its lives. */
interface Proposals {
  /** Hashes that it accepted. */
  readonly accepted: Set<string>;
  readonly prepared: Prepared[];
}

export const applicationOracle =
  (ghost: GhostChain): OracleMaker =>
  (report, about): Oracle => {
    const watch = new Watch(ghost, report, about);
    ghost.onBlock.push((at, block) => watch.decides(at, block));
    return {
      name: 'application',
      effects: ['tell', 'store'],
      started: (at) => watch.starts(at),
      leaving(at, _actor, effect) {
        if (!about.isHonest(at)) return;
        if (effect.type === 'tell') watch.hears(at, effect);
        else if (effect.type === 'store' && effect.store === 'chain')
          for (const { key, value, remove } of effect.writes) {
            if (key.length !== 9) continue;
            if (remove) {
              if (key[0] === BLOCK) watch.letsGo(at, heightOfKey(key));
            } else if (key[0] === RESPONSE) watch.keeps(at, heightOfKey(key), value);
            else if (key[0] === PARAMS) watch.keepsParams(at, heightOfKey(key), value);
          }
      },
    };
  };

class Watch {
  private readonly ghost: GhostChain;
  private readonly report: Report;
  private readonly about: WorldAbout;
  private readonly byAddress: ReadonlyMap<string, Machine>;
  private readonly talks = new PerMachine(() => new Talk());
  /** By node, then height. */
  private readonly proposals = new PerMachine(() => new Map<number, Proposals>());
  /** Requests to judge a proposal, by its hash: what they were about is known when it is decided. */
  private readonly judged = new Map<
    string,
    { readonly height: number; readonly requests: Set<RequestProcessProposal> }
  >();
  private readonly decided = new Map<number, Decided>();
  private readonly judgements = new Judgements();
  /** Its own, as the application told it first. */
  private appVersion: bigint | null = null;
  /** Parameters of InitChain bring a version with them, whether they name it or not. */
  private hasParams = false;
  /** The last height of which an answer was encoded anew. */
  private encoded = -1n;

  constructor(ghost: GhostChain, report: Report, about: WorldAbout) {
    this.ghost = ghost;
    this.report = report;
    this.about = about;
    this.byAddress = machinesByAddress(about);
  }

  /** A life begins: the application may have less than it had, and is asked. */
  starts(at: Machine): void {
    this.talks.delete(at);
  }

  private proposalsOf(at: Machine, height: bigint): Proposals {
    const heights = this.proposals.of(at);
    const number = Number(height);
    let found = heights.get(number);
    if (!found) {
      found = { accepted: new Set(), prepared: [] };
      heights.set(number, found);
      for (const old of heights.keys()) if (old <= number - HEIGHTS_KEPT) heights.delete(old);
    }
    return found;
  }

  private bad(at: Machine, height: bigint, what: string): void {
    this.report(`${at.name} ${what}`, at, height);
  }

  // --- mail ------------------------------------------------------------------------------------------------

  hears(at: Machine, { to, message }: Extract<Effect, { type: 'tell' }>): void {
    if (to === 'app') {
      const mail = message as AppMail;
      if (mail.type !== 'request') return;
      if (mail.from === 'validator') this.asks(at, mail.tag, mail.request);
      else if (at.mode === 'handshake')
        this.bad(at, at.height + 1n, 'asks its application about a transaction before the handshake is over');
    } else if (to === 'validator') {
      const mail = message as ValidatorMail;
      if (mail.type === 'answer') this.answers(at, mail);
    } else if (to === 'signer') {
      const mail = message as SignerMail;
      if (mail.type === 'sign-vote') this.votes(at, mail.vote);
      else if (mail.type === 'sign-proposal')
        this.isStillOpen(at, this.talks.of(at), mail.proposal.height, 'prepares');
    }
  }

  private asks(at: Machine, tag: number, request: AbciRequest): void {
    const talk = this.talks.of(at);
    talk.asked.push({ tag, request });
    if (request.type === 'info') this.introduces(at, request.value);
    else if (request.type === 'init-chain') this.begins(at, request.value);
    else if (request.type === 'prepare-proposal')
      this.isStillOpen(at, talk, request.value.height, 'prepares');
    else if (request.type === 'process-proposal') this.judges(at, talk, request.value);
    else if (request.type === 'finalize-block') this.executes(at, talk, request.value);
    else if (request.type === 'commit') {
      if (talk.executing === null)
        this.bad(at, at.height + 1n, 'asks its application to commit, and no block was executed');
      talk.committed = talk.executing;
      talk.executing = null;
    }
  }

  private answers(at: Machine, { tag, response }: Extract<ValidatorMail, { type: 'answer' }>): void {
    const talk = this.talks.of(at);
    const request = talk.answered(tag);
    if (request?.type === 'info' && response.type === 'info') this.appVersion ??= response.value.appVersion;
    else if (request?.type === 'process-proposal' && response.type === 'process-proposal') {
      const { height, hash } = request.value;
      const isAccepted = response.value.status === PROCESS_PROPOSAL_ACCEPT;
      if (isAccepted) this.proposalsOf(at, height).accepted.add(byteKey(hash));
      const other = this.judgements.judges(at.name, request.value, isAccepted);
      if (other) this.bad(at, height, other);
    } else if (request?.type === 'init-chain' && response.type === 'init-chain') {
      this.ghost.initialised(response.value);
      if (response.value.consensusParams) this.hasParams = true;
    } else if (request?.type === 'prepare-proposal' && response.type === 'prepare-proposal')
      this.proposalsOf(at, request.value.height).prepared.push({
        request: request.value,
        txs: response.value.txs,
      });
    else if (request?.type === 'finalize-block' && response.type === 'finalize-block')
      talk.answer = { height: request.value.height, response: response.value };
    else if (request?.type === 'commit' && response.type === 'commit') {
      const { retainHeight } = response.value;
      // Of a block that is not there yet it cannot let go.
      const isThere = retainHeight <= (talk.answer?.height ?? 0n);
      if (isThere && retainHeight > talk.retain) talk.retain = retainHeight;
    }
  }

  // --- the chain begins ------------------------------------------------------------------------------------

  /** The first request of a life. */
  private introduces(at: Machine, request: RequestInfo): void {
    const wrong = wrongVersion(request);
    if (wrong) this.bad(at, at.height + 1n, `tells its application that it speaks ${wrong}`);
  }

  private begins(at: Machine, request: RequestInitChain): void {
    const { genesis, founders } = this.ghost;
    const { members } = founders;
    const wrong = [
      request.chainId !== genesis.chainId && 'chain id',
      request.timeNs !== genesis.genesisTimeNs && 'time',
      request.initialHeight !== genesis.initialHeight && 'initial height',
      !equalBytes(request.appStateBytes, genesis.appState) && 'application state',
      !equalBytes(
        encodeConsensusParams(request.consensusParams),
        encodeConsensusParams(genesis.consensusParams),
      ) && 'parameters',
      (request.validators.length !== members.length ||
        !request.validators.every(({ publicKey, power }, i) => {
          const member = members[i];
          return member?.power === power && equalBytes(addressOf(publicKey), member.addressBytes);
        })) &&
        'validators',
    ].find((field) => field !== false);
    if (wrong) this.bad(at, 1n, `tells its application at InitChain other ${wrong} than the genesis has`);
  }

  // --- blocks ----------------------------------------------------------------------------------------------

  private executes(at: Machine, talk: Talk, request: RequestFinalizeBlock): void {
    const { height } = request;
    if (talk.executing !== null)
      this.bad(at, height, `asks its application to execute ${height} before it committed ${talk.executing}`);
    else if (talk.committed !== null && height !== talk.committed + 1n)
      this.bad(at, height, `asks its application to execute ${height} after ${talk.committed}`);
    talk.executing = height;
    const decided = this.decided.get(Number(height));
    if (!decided || decided.good.includes(request)) return;
    const { txs, hash, decidedLastCommit } = request;
    const wrong = difference(request, txs, hash, decidedLastCommit, decided, this.voters(height));
    if (wrong)
      this.bad(
        at,
        height,
        `tells its application at FinalizeBlock another ${wrong} than block ${height} has`,
      );
    decided.good.push(request);
  }

  /** It asks for a block to propose, or for the signature of one, or what to say of another's. */
  private isStillOpen(at: Machine, { executing, committed }: Talk, height: bigint, does: string): void {
    const last = executing ?? committed;
    if (last !== null && height <= last)
      this.bad(at, height, `${does} a block of ${height}, and its application has executed ${last}`);
  }

  private judges(at: Machine, talk: Talk, request: RequestProcessProposal): void {
    this.isStillOpen(at, talk, request.height, 'asks about');
    let open = 0;
    for (const { request: other } of talk.asked) if (other.type === 'process-proposal') open++;
    if (open > JUDGED_AT_ONCE_MAX)
      this.bad(at, request.height, `asks its application about ${open} proposals at once`);
    const key = byteKey(request.hash);
    let judged = this.judged.get(key);
    if (!judged) {
      judged = { height: Number(request.height), requests: new Set() };
      this.judged.set(key, judged);
    }
    judged.requests.add(request);
  }

  /** The first block has the version that the application began with; later ones follow (see the oracle of the chain). */
  private checksVersion(at: Machine, { height, version }: Header): void {
    if (height !== this.ghost.genesis.initialHeight) return;
    const began = this.hasParams ? this.ghost.params(height)?.version.app : this.appVersion;
    if (began === null || began === version.app) return;
    this.bad(
      at,
      height,
      `stores block ${height} of version ${version.app} of the application, which says ${began}`,
    );
  }

  /** A block of the chain, the first time that an honest node stores it. */
  decides(at: Machine, block: Block): void {
    const { height, proposerAddress } = block.header;
    const number = Number(height);
    this.checksVersion(at, block.header);
    const decided = { block, hash: headerHash(block.header), good: [] };
    this.decided.set(number, decided);
    this.decided.delete(number - BLOCKS_KEPT);
    for (const request of this.judged.get(byteKey(decided.hash))?.requests ?? []) {
      const { txs, hash, proposedLastCommit } = request;
      const wrong = difference(request, txs, hash, proposedLastCommit, decided, this.voters(height));
      if (wrong)
        this.report(
          `an application was told at ProcessProposal another ${wrong} than block ${height} has`,
          at,
          height,
        );
    }
    for (const [key, judged] of this.judged) if (judged.height <= number) this.judged.delete(key);
    const proposer = this.byAddress.get(hexOf(proposerAddress));
    if (!proposer || !this.about.isHonest(proposer)) return;
    const room = this.roomIn(block);
    const wrong = this.proposalsOf(proposer, height).prepared.map(
      ({ request, txs }) =>
        difference(request, txs, null, request.localLastCommit, decided, this.voters(height)) ??
        (room !== null && request.maxTxBytes !== room ? 'room for transactions' : null),
    );
    if (wrong.every((field) => field !== null))
      this.bad(
        proposer,
        height,
        `proposed block ${height}, and its application prepared none with this ${wrong.at(-1) ?? 'height'}`,
      );
  }

  /** Bytes of transactions that its proposer had room for; null: it is not known any more. */
  private roomIn({ header, evidence }: Block): bigint | null {
    const params = this.ghost.params(header.height);
    const set = this.ghost.set(header.height);
    if (!params || !set) return null;
    const { maxBytes } = params.block;
    const bytes = evidence.length > 0 ? evidenceListBytes(evidence).length : 0;
    const signers = this.voters(header.height)?.members.length ?? 0;
    return roomOfProposer(blockBytesMax(maxBytes), set.members.length, signers, bytes);
  }

  /** Of the last commit in a block of this height. */
  private voters(height: bigint): GhostSet | undefined {
    return this.ghost.setThen(height - 1n);
  }

  // --- answers ---------------------------------------------------------------------------------------------

  /** It asks for a signature under a vote. A log may bring back what an earlier life found good. */
  private votes(at: Machine, { height, blockId }: Vote): void {
    if (blockId.hash.length === 0 || this.proposalsOf(at, height).accepted.has(byteKey(blockId.hash))) return;
    const id = hexOf(blockId.hash).slice(0, 12);
    this.bad(at, height, `votes for ${id} at ${height}, which its application has not accepted`);
  }

  /** It stores the answer to FinalizeBlock: all that follows is made from it. */
  keeps(at: Machine, height: bigint, bytes: Uint8Array): void {
    const { answer } = this.talks.of(at);
    const isOwn =
      answer?.height === height && equalBytes(encodeResponseFinalizeBlock(answer.response), bytes);
    if (isOwn && (height <= this.encoded || this.isEncoded(height, answer.response, bytes))) return;
    this.bad(at, height, `stores another answer to block ${height} than its application gave`);
  }

  /** Once for each height: what is written in a way of our own is what the generated code writes. */
  private isEncoded(height: bigint, response: ResponseFinalizeBlock, bytes: Uint8Array): boolean {
    this.encoded = height;
    try {
      return equalBytes(encodeFinalizedGenerated(response), bytes);
    } catch {
      return false; // a number is too large for its field
    }
  }

  /** It removes a block: one that its application has let go of, in this life. */
  letsGo(at: Machine, height: bigint): void {
    const { retain } = this.talks.of(at);
    if (height >= retain)
      this.bad(at, height, `removes block ${height}, and its application wants those from ${retain} on`);
  }

  /** It stores the parameters from a height on. Headers show those of blocks alone. */
  keepsParams(at: Machine, height: bigint, bytes: Uint8Array): void {
    const params = this.ghost.params(height);
    if (!params || equalBytes(encodeConsensusParams(params), bytes)) return;
    this.bad(at, height, `stores other parameters from ${height} on than its application gave`);
  }
}
