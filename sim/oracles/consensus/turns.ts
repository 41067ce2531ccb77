// Whose turn it is proposes (lines 14 to 19): a proposer that had the time for it, and prevotes nil there or leaves the round without having made a
// proposal, in this life or an earlier one, has left out what nobody else may do. Its signer signs a proposal again that it has signed before, and
// whatever else it is asked for, unless a later round was asked for meanwhile.

import type { AppMail, SignerMail, ValidatorMail } from '../../../actors/mail.ts';
import { BUSY_KEY } from '../../../actors/signer.ts';
import type { Proposal } from '../../../protocol/types.ts';
import { hexFor } from '../../addresses.ts';
import type { Machine } from '../../machine.ts';
import type { Oracle, OracleMaker } from '../../oracle.ts';
import { SIGNING } from '../../sim-crypto.ts';
import { STEP } from '../../steps.ts';
import { equalBlockId } from '../canonical/block-id.ts';
import { PREVOTE } from '../canonical/numbers.ts';
import type { GhostChain } from '../ghost/ghost.ts';
import { PerMachine } from '../ghost/per-machine.ts';

/** Of what a signer is asked for. */
const STEP_PROPOSE = 1;

/** Less is not enough to ask the pool, the application and the signer, each behind a disk. */
const TIME_ENOUGH_NS = 1_000_000_000;
/** The signer may be busy with what nobody needs any more. */
const SIGNATURES = 2;

type Refused = Extract<ValidatorMail, { type: 'sign-refused' }>;

interface Place {
  readonly height: bigint;
  readonly round: number;
}
const isBefore = (a: Place, b: Place): boolean =>
  a.height < b.height || (a.height === b.height && a.round < b.round);

class Turn {
  height = -1n;
  round = -1;
  /** When it began, or the node came back to it, or its application had made a block. */
  sinceNs = 0;
  /** When its life, or its part in consensus, began: what its log says of its turns it says in that moment. */
  backNs = -1;
  /** Blocks that its application is making, or will when it is through with something else: a slow one may have one to make for a round that is over. */
  preparing = 0;
  /** The last proposal that its signer was asked for, in any life, and how many records the signer's log had then; null: it was refused. */
  asked: { readonly proposal: Proposal; readonly records: number } | null = null;
  /** The last vote that its signer was asked for, in any life: behind one of its round no proposal may be signed, be it for the first time. */
  voted: Place = { height: -1n, round: -1 };
  /** The latest round that its signer was asked for, in this life. */
  latest: Place = { height: -1n, round: -1 };
  /** It was signed in a life before, as far as anybody can see. */
  isAgain = false;
  /** The last place for which its signer gave it a proposal, or would not, in any life. */
  done = '';
}

export const turnsOracle =
  (ghost: GhostChain): OracleMaker =>
  (report, about): Oracle => {
    const turns = new PerMachine(() => new Turn());

    const isOver = (at: Machine, turn: Turn): void => {
      const { height, round } = turn;
      turn.height = -1n;
      if (turn.done === `${height}/${round}` || turn.preparing > 0) return;
      if (height < 0n || ghost.set(height)?.atRound(round) !== hexFor(at)) return;
      const ns = about.now() - Math.max(turn.sinceNs, at.heldUntilNs);
      if (ns < TIME_ENOUGH_NS + SIGNATURES * at.signing.maxNs) return;
      const seconds = Math.floor(ns / 1e8) / 10;
      report(
        `${at.name} has the turn at ${height}/${round}, and proposes nothing in ${seconds} s`,
        at,
        height,
      );
    };

    const begins = (at: Machine, height: bigint, round: number): void => {
      const turn = turns.of(at);
      if (turn.height === height && turn.round < round) isOver(at, turn);
      Object.assign(turn, { height, round, sinceNs: about.now() });
    };

    const asks = (at: Machine, proposal: Proposal): void => {
      const turn = turns.of(at);
      const { asked } = turn;
      const records = at.disk.counts('privval').written;
      turn.isAgain =
        asked !== null &&
        records > asked.records &&
        isBefore(turn.voted, proposal) &&
        proposal.height === asked.proposal.height &&
        proposal.round === asked.proposal.round &&
        proposal.polRound === asked.proposal.polRound &&
        equalBlockId(proposal.blockId, asked.proposal.blockId);
      if (!turn.isAgain) turn.asked = { proposal, records };
    };

    /** It signed another one in a life before, and may not sign a second; the same, whenever that is made, it may. */
    const refuses = (at: Machine, { height, round }: Refused): void => {
      const turn = turns.of(at);
      turn.done = `${height}/${round}`;
      turn.asked = null;
      if (!turn.isAgain || at.signing.maxNs > SIGNING.maxNs) return; // a slow one has others to sign first
      report(
        `the signer of ${at.name} refuses the proposal of ${height}/${round} that it signed before`,
        at,
        height,
      );
    };

    /** A slow key lets go of what is of earlier rounds, and signs one after the other what is of one. */
    const letsGo = (at: Machine, { height, round, because }: Refused): void => {
      const { latest } = turns.of(at);
      if (!because.startsWith(BUSY_KEY) || latest.height !== height || latest.round !== round) return;
      report(
        `the signer of ${at.name} leaves ${height}/${round} unsigned for what is of the same round`,
        at,
        height,
      );
    };

    const isAsked = (at: Machine, { height, round }: Place): void => {
      turns.of(at).latest = { height, round };
    };

    const votes = (at: Machine, { vote }: Extract<SignerMail, { type: 'sign-vote' }>): void => {
      const turn = turns.of(at);
      const { height, round } = vote;
      turn.voted = { height, round };
      if (vote.type !== PREVOTE || vote.blockId.hash.length > 0) return;
      if (height === turn.height && round === turn.round) isOver(at, turn);
    };

    const prepared = (turn: Turn): void => {
      turn.preparing--;
      if (turn.preparing === 0) turn.sinceNs = about.now();
    };

    const passes = (at: Machine, mail: AppMail | SignerMail | ValidatorMail): void => {
      if (mail.type === 'sign-vote') isAsked(at, mail.vote);
      else if (mail.type === 'sign-proposal') isAsked(at, mail.proposal);
      else if (mail.type === 'sign-refused') letsGo(at, mail);
      if (mail.type === 'sign-vote') votes(at, mail);
      else if (mail.type === 'sign-proposal') asks(at, mail.proposal);
      else if (mail.type === 'signed-proposal')
        turns.of(at).done = `${mail.proposal.height}/${mail.proposal.round}`;
      else if (mail.type === 'sign-refused' && mail.step === STEP_PROPOSE) refuses(at, mail);
      else if (mail.type === 'request' && mail.request.type === 'prepare-proposal') turns.of(at).preparing++;
      else if (mail.type === 'answer' && mail.response.type === 'prepare-proposal') prepared(turns.of(at));
    };

    return {
      name: 'turns',
      effects: ['tell'],
      events: ['step', 'mode'],
      started(at) {
        Object.assign(turns.of(at), { preparing: 0, latest: { height: -1n, round: -1 } });
      },
      published(at, _actor, event) {
        if (!about.isHonest(at)) return;
        const turn = turns.of(at);
        if (event.type === 'mode') {
          // It comes back: into this round, which it then says, or to wait for it once more.
          turn.height = -1n;
          turn.backNs = about.now();
        } else if (event.type !== 'step') return;
        else if (event.step === STEP.propose) begins(at, event.height, event.round);
        // By its log it is beyond this turn already.
        else if (event.step > STEP.propose && turn.backNs === about.now()) turn.height = -1n;
      },
      leaving(at, _actor, effect) {
        if (effect.type === 'tell' && about.isHonest(at))
          passes(at, effect.message as AppMail | SignerMail | ValidatorMail);
      },
    };
  };
