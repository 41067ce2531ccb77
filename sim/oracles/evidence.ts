// Accountability, the part that a running chain shows: only liars are punished, each lie once, by evidence that
// proves it, and a double vote that one honest node could prove does not go unpunished.

import type { Payload, PeerId } from '../../actors/turn.ts';
import { equalBlockId } from '../../protocol/block-id.ts';
import { equalBytes, hexOf } from '../../protocol/bytes.ts';
import { evidenceIdentity } from '../../protocol/hashes.ts';
import { CHANNEL_EVIDENCE } from '../../protocol/messages.ts';
import { isRefusal } from '../../protocol/refusal.ts';
import {
  type Block,
  type DuplicateVoteEvidence,
  type Evidence,
  FLAG_COMMIT,
  type LightClientAttackEvidence,
  PRECOMMIT,
} from '../../protocol/types.ts';
import { decodeEvidenceMessage } from '../../protocol/wire/index.ts';
import { hexFor, honestPeers } from '../addresses.ts';
import type { Machine } from '../machine.ts';
import type { Oracle, OracleMaker } from '../oracle.ts';
import { STEP } from '../steps.ts';
import { validatorsHash, voteSignBytes } from './canonical.ts';
import { type GhostChain, isTrueVote } from './ghost.ts';
import { GivenUp } from './given-up.ts';
import { Greeted } from './greeted.ts';
import { endsEnvelope, messagesIn } from './messages.ts';
import { PassedOn } from './passed-on.ts';
import { Retold } from './retold.ts';
import { placeOf, Unpunished } from './unpunished.ts';

/** The double votes that these messages are evidence of. */
function* doubleVotesIn(payloads: readonly Payload[]): Generator<DuplicateVoteEvidence> {
  for (const { channel, bytes } of payloads) {
    const message = channel === CHANNEL_EVIDENCE ? decodeEvidenceMessage(bytes) : null;
    if (!message || isRefusal(message)) continue;
    for (const each of message.evidence) if (each.kind === 'duplicate-vote') yield each;
  }
}

const placeOfEvidence = ({ voteA }: DuplicateVoteEvidence): string =>
  placeOf(hexOf(voteA.validatorAddress), voteA);

const placesIn = (payloads: readonly Payload[]): Set<string> =>
  new Set([...doubleVotesIn(payloads)].map(placeOfEvidence));

/** What nodes were told of lately, which is far less than that. */
const TOLD_MAX = 1_024;

export const evidenceOracle =
  (ghost: GhostChain): OracleMaker =>
  (report, about): Oracle => {
    const punished = new Set<string>();
    const guilty = new Set<string>();
    const unpunished = new Unpunished(ghost, about, report);
    const greeted = new Greeted();
    const givenUp = new GivenUp(ghost, about);
    const retold = new Retold();
    const passedOn = new PassedOn(honestPeers(about));
    /** Of which double vote it is evidence: by its hash, when somebody was told of it. */
    const told = new Map<string, string>();
    const learns = (at: Machine, from: PeerId, evidence: DuplicateVoteEvidence): void => {
      const hash = hexOf(evidenceIdentity(evidence));
      passedOn.isToldBy(from, at, hash);
      told.set(hash, placeOfEvidence(evidence));
      if (told.size > TOLD_MAX)
        for (const oldest of [...told.keys()].slice(0, TOLD_MAX / 2)) told.delete(oldest);
    };
    /** What a link has changed is nobody's evidence. */
    const changed = new WeakSet<Payload>();
    const byId = new Map(about.machines.map((machine) => [machine.member.id, machine]));
    const honest = new Map(
      about.machines.filter(about.isHonest).map((machine) => [hexFor(machine), machine.name]),
    );

    const accused = (evidence: Evidence): readonly string[] =>
      evidence.kind === 'duplicate-vote'
        ? [hexOf(evidence.voteA.validatorAddress)]
        : evidence.byzantineValidators.map(({ address }) => hexOf(address));

    /** What is wrong with it; null: nothing, or nobody knows that height any more. `isOurs`: an honest node proposes it. */
    const flaw = ({ voteA, voteB, ...claim }: DuplicateVoteEvidence, isOurs: boolean): string | null => {
      if (voteA.height !== voteB.height || voteA.round !== voteB.round || voteA.type !== voteB.type)
        return 'its votes are of two steps';
      if (equalBlockId(voteA.blockId, voteB.blockId)) return 'its votes are for the same block';
      if (!equalBytes(voteA.validatorAddress, voteB.validatorAddress))
        return 'its votes are of two validators';
      if (isOfAnotherTime(voteA.height, claim)) return 'its time is not that of the block of its height';
      const set = ghost.setThen(voteA.height);
      if (!set) return null;
      const power = set.powerOf(hexOf(voteA.validatorAddress));
      if (claim.validatorPower !== power || claim.powerTotal !== set.total)
        return 'its powers are not those of its height';
      // Where a vote stands in its set, and what hangs on it, is no part of what is proven; but nobody honest took it so from others.
      const member = set.members.find(({ addressBytes }) => equalBytes(addressBytes, voteA.validatorAddress));
      const isSigned = [voteA, voteB].every(
        (vote) =>
          member &&
          about.verify(member.key, voteSignBytes(about.chainId, vote), vote.signature) &&
          (!isOurs || isTrueVote(about, set, vote)),
      );
      return isSigned ? null : 'its votes are not signed by who is accused';
    };

    const isOfAnotherTime = (height: bigint, claim: { readonly timeNs: bigint }): boolean => {
      const timeNs = ghost.timeNs(height);
      return timeNs !== undefined && claim.timeNs !== timeNs;
    };

    /** Too old for this block, as far as anybody remembers (spec 5.10: both ages, counted to the block before). */
    const isExpired = (evidence: Evidence, height: bigint): boolean => {
      const of = evidence.kind === 'duplicate-vote' ? evidence.voteA.height : evidence.commonHeight;
      const params = ghost.params(height)?.evidence;
      const [thenNs, beforeNs] = [ghost.timeNs(of), ghost.timeNs(height - 1n)];
      if (!params || thenNs === undefined || beforeNs === undefined) return false;
      return height - 1n - of > params.maxAgeBlocks && beforeNs - thenNs > params.maxAgeNs;
    };

    /** The same of an attack on light clients, but for whether it was they who are accused. */
    const flawOfAttack = (evidence: LightClientAttackEvidence): string | null => {
      const { commonHeight, conflictingBlock, byzantineValidators, ...claim } = evidence;
      if (isOfAnotherTime(commonHeight, claim)) return 'its time is not that of the block of its height';
      const set = ghost.setThen(commonHeight);
      if (!set) return null;
      const { header } = conflictingBlock.signedHeader;
      const there = ghost.setThen(header.height);
      // Under a header of the chain's own validators of a later height they may be named by their powers there.
      const isLater = header.height !== commonHeight && there !== undefined;
      const isByThere = isLater && equalBytes(header.validatorsHash, validatorsHash(there.members));
      const isOfAnotherPower =
        !isByThere && byzantineValidators.some(({ address, power }) => power !== set.powerOf(hexOf(address)));
      if (isOfAnotherPower || claim.powerTotal !== set.total) return 'its powers are not those of its height';
      const { height, round, blockId, signatures } = conflictingBlock.signedHeader.commit;
      const signers = set.members.filter(({ addressBytes, key }) =>
        signatures.some(({ flag, validatorAddress, timeNs: signedNs, signature }) => {
          if (flag !== FLAG_COMMIT || !equalBytes(validatorAddress, addressBytes)) return false;
          const vote = { type: PRECOMMIT, height, round, blockId, timeNs: signedNs } as const;
          return about.verify(key, voteSignBytes(about.chainId, vote), signature);
        }),
      );
      const power = signers.reduce((sum, each) => sum + each.power, 0n);
      return 3n * power > set.total ? null : 'no third of its validators signed what it shows';
    };

    const inBlock = (at: Machine, block: Block): void => {
      const { header, evidence } = block;
      const { height } = header;
      for (const each of evidence) {
        const id = hexOf(evidenceIdentity(each));
        if (punished.has(id)) report(`evidence of block ${height} was in a block before`, at, height);
        punished.add(id);
        const isOurs = honest.has(hexOf(header.proposerAddress));
        const wrong = each.kind === 'duplicate-vote' ? flaw(each, isOurs) : flawOfAttack(each);
        if (wrong) report(`block ${height} punishes by evidence that proves nothing: ${wrong}`, at, height);
        if (isExpired(each, height))
          report(`block ${height} punishes by evidence that is too old`, at, height);
        for (const address of accused(each)) {
          const name = honest.get(address);
          if (name) report(`framing: block ${height} punishes ${name}, who never lied`, at, height);
          if (each.kind === 'duplicate-vote') guilty.add(placeOf(address, each.voteA));
        }
      }
      unpunished.passes(block, guilty);
    };
    ghost.onBlock.push(inBlock);

    const tells = (at: Machine, peers: readonly PeerId[], payloads: readonly Payload[]): void => {
      const peer = retold.tells(at, peers, payloads, about.now());
      if (peer !== null)
        report(
          `${at.name} tells ${byId.get(peer)?.name} of one evidence again and again`,
          at,
          at.height + 1n,
        );
      if (passedOn.debts.areOpen(at))
        for (const each of doubleVotesIn(payloads))
          passedOn.debts.tells(at, peers, hexOf(evidenceIdentity(each)));
    };

    const hasTold = (at: Machine, height: bigint): void => {
      const missed = passedOn.debts.missed(at, about.now());
      if (!missed) return;
      const what = `keeps evidence that it was told of, and does not tell ${byId.get(missed.peer)?.name}`;
      report(`${at.name} ${what}`, at, height);
    };

    return {
      name: 'evidence',
      effects: ['send'],
      events: ['committed', 'step', 'evidence', 'peer'],
      corrupted(payload) {
        changed.add(payload);
      },
      started(at) {
        greeted.starts(at);
        unpunished.starts(at);
        retold.starts(at);
        passedOn.starts(at);
      },
      leaving(at, _actor, effect) {
        if (effect.type !== 'send') return;
        if (about.isHonest(at)) tells(at, effect.to, effect.payloads);
        if (!unpunished.isEmpty) unpunished.offers(at, placesIn(effect.payloads));
      },
      published(at, _actor, event) {
        if (event.type === 'committed') {
          unpunished.decides(at, event.round);
          if (about.isHonest(at)) hasTold(at, event.height);
        } else if (event.type === 'step' && event.step === STEP.newRound) unpunished.begins(at);
        else if (event.type === 'evidence') {
          const hash = hexOf(event.hash);
          unpunished.stores(at, hexOf(event.validator), event.height, told.get(hash) ?? null);
          passedOn.keeps(at, hash, event.height, about.now());
        } else if (event.type === 'peer') {
          greeted.greets(at, event.peer, event.up, about.now());
          retold.greets(at, event.peer);
          passedOn.greets(at, event.peer);
        }
      },
      heard(at, from, payloads) {
        if (honest.size === about.machines.length || !about.isHonest(at)) return;
        if (!greeted.hears(at, from, about.now())) return;
        for (const each of doubleVotesIn(payloads)) learns(at, from, each);
        const sender = byId.get(from);
        if (givenUp.mayBe(from, payloads)) return;
        const isTaken = !unpunished.isEmpty && at.mode === 'consensus' && at.node?.isPaused === false;
        if (sender && isTaken)
          unpunished.isHeardFrom(sender, placesIn(payloads.filter((each) => !changed.has(each))));
        const messages = messagesIn(payloads);
        for (let i = 0; i < messages.length; i++) {
          const message = messages[i];
          if (message?.type === 'new-round-step') passedOn.stands(at, from, message.height, about.now());
          else if (message?.type === 'vote') {
            const address = hexOf(message.vote.validatorAddress);
            if (!honest.has(address)) unpunished.hears(at, address, message.vote);
          } else if (!message && endsEnvelope(payloads[i]?.channel ?? 0)) return;
        }
      },
    };
  };
