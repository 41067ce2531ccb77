// Crashes of a validator that locks, and locks again: after each effect, with any part of the log that was not synced lost.

import { describe, expect, it } from 'vitest';
import { encodeRecord, hasEnded, logRecord, recordsOf } from '../../actors/validator/logbook.ts';
import { commitOf } from '../../machines/chain/commits.ts';
import { isBlockKey, STATE_KEY } from '../../machines/chain/keys.ts';
import { PROCESS_PROPOSAL_REJECT } from '../../protocol/abci.ts';
import { hexOf } from '../../protocol/bytes.ts';
import { PRECOMMIT, PREVOTE } from '../../protocol/types.ts';
import { decodeWords } from '../../protocol/words.ts';
import { genesisOf } from '../protocol/rules/people.ts';
import {
  copyDisk,
  type Disk,
  Home,
  type Made,
  newDisk,
  nextBlock,
  notProposers,
  proposalOf,
  signedVote,
} from './home.ts';

const FOUR = genesisOf([10n, 10n, 10n, 10n]);

interface Moment {
  readonly disk: Disk;
  /** Records that a crash cannot take. */
  readonly synced: number;
  readonly said: readonly string[];
  readonly step: string;
}

const probe = new Home({ genesis: FOUR, me: 0 });
/** Proposes in none of the rounds 0, 1, 2. */
const me = notProposers(probe, 0, 1, 2)[0]!;
const others = [0, 1, 2, 3].filter((i) => i !== me);

function votes(home: Home, type: number, round: number, made: Made | null, n: number): void {
  const said = others.slice(0, n).map((who) => signedVote(home, who, type, round, made?.id ?? null));
  home.hear('peer', ...said.map((vote) => ({ type: 'vote', vote }) as const));
}

/** Locks B in round 0 and C in round 1; precommits nil in round 2. */
function play(home: Home): void {
  home.peerUp('peer');
  home.fire('start');
  const B = nextBlock(home, ['b']);
  const C = nextBlock(home, ['c']);
  home.hear('peer', ...proposalOf(home, B, 0));
  votes(home, PREVOTE, 0, B, 2);
  votes(home, PRECOMMIT, 0, null, 2);
  home.fire('precommit');
  home.hear('peer', ...proposalOf(home, C, 1));
  votes(home, PREVOTE, 1, C, 3);
  votes(home, PRECOMMIT, 1, null, 2);
  home.fire('precommit');
  home.fire('propose');
  votes(home, PREVOTE, 2, null, 2);
}

const parse = (word: string) => {
  const [type, at, name] = word.split(' ') as [string, string, string];
  return { place: `${type} ${at}`, type, round: Number(at.split('/')[1]), name };
};

function moments(begin: Disk): Moment[] {
  const found: Moment[] = [];
  let synced = begin.consensus.length;
  const home: Home = new Home({
    genesis: FOUR,
    me,
    disk: begin,
    crash: (effect, at) => {
      found.push({
        disk: copyDisk(at.disk),
        synced,
        said: at.sent ? at.said : [],
        step: at.validator ? at.state.consensus.step : '',
      });
      if (effect.type === 'sync' && effect.log === 'consensus') synced = at.disk.consensus.length;
      return false;
    },
  });
  play(home);
  const places = home.said.map((word) => parse(word).place);
  expect(places).toEqual(['0', '1', '2'].flatMap((round) => [`prevote 1/${round}`, `precommit 1/${round}`]));
  return found;
}

/** What one validator said in all its lives: one vote per place, and the lock holds over them. */
function judge(before: readonly string[], home: Home): void {
  const places = new Map<string, string>();
  for (const word of [...before, ...home.said]) {
    const { place, name } = parse(word);
    expect([place, places.get(place) ?? name]).toEqual([place, name]);
    places.set(place, name);
  }
}

describe('recovery by the log', () => {
  const all = moments(newDisk());

  it('sees many moments', () => {
    expect(all.length).toBeGreaterThan(80);
    expect(new Set(all.map(({ disk }) => disk.consensus.length)).size).toBeGreaterThan(20);
  });

  it('never says another vote and never forgets a lock, wherever the power went', () => {
    let lives = 0;
    for (const { disk, synced, said } of all) {
      for (let kept = synced; kept <= disk.consensus.length; kept++) {
        lives++;
        const copy = copyDisk(disk);
        copy.consensus.length = kept;
        const home = new Home({ genesis: FOUR, me, disk: copy });
        const { consensus } = home.state;
        const locks = said.map(parse).filter(({ type, name }) => type === 'precommit' && name !== 'nil');
        const lock = locks.at(-1);
        if (lock) {
          expect(consensus.lockedRound).toBeGreaterThanOrEqual(lock.round);
          if (consensus.lockedRound === lock.round)
            expect(hexOf(consensus.lockedId!.hash).slice(0, 6)).toBe(lock.name);
        }
        judge(said, home);
        // A new block in the round where it stands: prevoted only without a lock.
        home.peerUp('peer');
        if (consensus.step === 'newHeight') home.fire('start');
        const { round } = consensus;
        if (notProposers(home, round).includes(me)) {
          const D = nextBlock(home, ['d']);
          home.hear('peer', ...proposalOf(home, D, round));
          const word = home.said.find((each) => each.includes(hexOf(D.id.hash).slice(0, 6)));
          if (lock) expect(word).toBeUndefined();
        }
        for (const kind of ['propose', 'prevote', 'precommit'])
          if ([...home.timers.keys()].some((id) => id.startsWith(`${kind} `))) home.fire(kind);
        judge(said, home);
        expect(home.halted).toBeNull();
      }
    }
    expect(lives).toBeGreaterThan(all.length);
  });

  it('keeps its lock where its log is lost, or cut as damaged: the signer remembers', () => {
    let locked = 0;
    for (const { disk, synced, said } of all) {
      const lock = said
        .map(parse)
        .filter(({ type, name }) => type === 'precommit' && name !== 'nil')
        .at(-1);
      if (!lock) continue;
      for (let kept = 0; kept < synced; kept += 3) {
        locked++;
        const copy = copyDisk(disk);
        copy.consensus.length = kept;
        const home = new Home({ genesis: FOUR, me, disk: copy });
        const { consensus } = home.state;
        // It may have signed for a later round, and said nothing of that.
        expect(consensus.lockedRound).toBeGreaterThanOrEqual(lock.round);
        if (consensus.lockedRound === lock.round)
          expect(hexOf(consensus.lockedId!.hash).slice(0, 6)).toBe(lock.name);
        home.peerUp('peer');
        if (consensus.step === 'newHeight') home.fire('start');
        for (const round of [0, 1, 2]) {
          home.hear('peer', ...proposalOf(home, nextBlock(home, ['d']), round));
          votes(home, PREVOTE, round, null, 2);
          votes(home, PRECOMMIT, round, null, 2);
          if ([...home.timers.keys()].some((id) => id.startsWith('precommit '))) home.fire('precommit');
        }
        judge(said, home);
        const D = hexOf(nextBlock(home, ['d']).id.hash).slice(0, 6);
        expect(home.said.filter((word) => word.includes(D))).toEqual([]);
      }
    }
    expect(locked).toBeGreaterThan(20);
  });

  it('stands where it stood, or behind, when nothing was lost', () => {
    const { disk } = all.at(-1)!;
    const home = new Home({ genesis: FOUR, me, disk: copyDisk(disk) });
    expect(home.state.consensus.round).toBe(2);
    expect(home.state.consensus.lockedRound).toBe(1);
  });
});

describe('two crashes', () => {
  /** Height 1 is decided, height 2 locks; the state of height 1 was never flushed. */
  function lockedAtTwo(): { disk: Disk; said: readonly string[] } {
    const home = new Home({ genesis: FOUR, me });
    const before = copyDisk(home.disk);
    home.peerUp('peer');
    home.fire('start');
    const B = nextBlock(home, ['b']);
    home.hear('peer', ...proposalOf(home, B, 0));
    votes(home, PREVOTE, 0, B, 3);
    const precommits = others.map((who) => signedVote(home, who, PRECOMMIT, 0, B.id));
    home.hear('peer', ...precommits.map((vote) => ({ type: 'vote', vote }) as const));
    expect(home.state.chain.lastBlockHeight).toBe(1n);
    expect(home.disk.consensus.length).toBe(1);
    home.fire('start');
    const round = notProposers(home, 0).includes(me) ? 0 : 1;
    if (round === 1) {
      home.fire('propose');
      votes(home, PREVOTE, 0, null, 2);
      votes(home, PRECOMMIT, 0, null, 3);
      home.fire('precommit');
    }
    const { precommits: decisive } = home.state.consensus.lastCommit!;
    const D = nextBlock(home, ['d'], commitOf(decisive, 1n, 0, B.id));
    home.hear('peer', ...proposalOf(home, D, round));
    votes(home, PREVOTE, round, D, 3);
    expect(home.state.consensus.lockedRound).toBe(round);
    // The log and the stored block are durable; the state of height 1 and the application's commit are lost.
    const disk = copyDisk(home.disk);
    const state = [...before.chain].find(([key]) => key === hexOf(STATE_KEY))!;
    disk.chain.set(...state);
    disk.app = before.app;
    return { disk, said: home.said };
  }

  it('the handshake applies the block again and leaves the votes of the next height in the log', () => {
    const { disk, said } = lockedAtTwo();
    for (let life = 0; life < 3; life++) {
      const home = new Home({ genesis: FOUR, me, disk });
      expect(home.halted).toBeNull();
      expect(home.state.chain.lastBlockHeight).toBe(1n);
      expect(home.state.consensus.lockedRound).toBeGreaterThanOrEqual(0);
      judge(said, home);
    }
  });
});

describe('a vote that was signed and not logged is said in the next life, whatever that one would have voted', () => {
  /** Dies as the signer tells of the vote of this type for a block; then these timers had fired while it signed. */
  function diesAsSigned(type: number, fired: readonly string[], act: (home: Home, B: Made) => void): Home {
    const disk = newDisk();
    const home = new Home({
      genesis: FOUR,
      me,
      disk,
      crash: (effect) =>
        effect.type === 'tell' &&
        effect.message.type === 'signed-vote' &&
        effect.message.vote.type === type &&
        effect.message.vote.blockId.hash.length > 0,
    });
    home.peerUp('peer');
    home.fire('start');
    act(home, nextBlock(home, ['b']));
    expect(home.isDown).toBe(true);
    for (const step of fired)
      disk.consensus.push(encodeRecord({ type: 'timeout', step, height: 1n, round: 0 }));
    return new Home({ genesis: FOUR, me, disk });
  }
  const B = ({ state }: Home) => state.consensus.rounds.at(0).proposals[0]!.blockId;
  const own = ({ state }: Home, type: 'prevotes' | 'precommits') =>
    state.consensus.rounds.at(0)[type].votes[state.consensus.index]?.blockId;

  it('a prevote: the timer is in the log, the answer of the application is not', () => {
    const home = diesAsSigned(PREVOTE, ['propose'], (first, block) => {
      first.hear('peer', ...proposalOf(first, block, 0));
    });
    expect(own(home, 'prevotes')).toEqual(B(home));
    home.peerUp('peer');
    votes(home, PREVOTE, 0, { id: B(home) } as Made, 2);
    expect(own(home, 'precommits')).toEqual(B(home));
    expect(home.state.consensus.lockedRound).toBe(0);
  });

  it('a prevote: and an application that rejects its block, too late, does not take it back', () => {
    const home = diesAsSigned(PREVOTE, [], (first, block) => {
      first.hear('peer', ...proposalOf(first, block, 0));
      first.disk.app.silent.add('process-proposal');
    });
    const [asked, ...more] = home.unanswered;
    expect(more).toEqual([]);
    home.fire('propose');
    expect(own(home, 'prevotes')).toEqual(B(home));
    const value = { status: PROCESS_PROPOSAL_REJECT } as const;
    home.tell({ type: 'answer', tag: asked!, response: { type: 'process-proposal', value } });
    home.peerUp('peer');
    votes(home, PREVOTE, 0, { id: B(home) } as Made, 2);
    expect(own(home, 'precommits')).toEqual(B(home));
  });

  it('a precommit: and its lock holds', () => {
    const home = diesAsSigned(PRECOMMIT, ['prevote'], (first, block) => {
      first.fire('propose');
      votes(first, PREVOTE, 0, block, 3);
      first.hear('peer', ...proposalOf(first, block, 0));
    });
    expect(own(home, 'prevotes')!.hash.length).toBe(0);
    expect(own(home, 'precommits')).toEqual(B(home));
    expect(home.state.consensus.lockedId).toEqual(B(home));
    expect(home.state.consensus.lockedRound).toBe(0);
  });
});

it('a block that came after its decision is there in the next life, too', () => {
  const disk = newDisk();
  const home = new Home({
    genesis: FOUR,
    me,
    disk,
    crash: (effect) => effect.type === 'store' && effect.writes.some(({ key }) => isBlockKey(key)),
  });
  home.peerUp('peer');
  home.fire('start');
  const B = nextBlock(home, ['b']);
  votes(home, PRECOMMIT, 0, B, 3);
  expect(home.state.consensus.decision).not.toBeNull();
  home.hear('peer', ...proposalOf(home, B, 0));
  expect(home.isDown).toBe(true);
  const again = new Home({ genesis: FOUR, me, disk });
  expect([again.halted, again.state.chain.lastBlockHeight]).toEqual([null, 1n]);
});

it('who waited for its empty block before the crash does not wait for it once more', () => {
  const genesis = genesisOf([10n]);
  const consensus = { createEmptyBlocksIntervalNs: 60_000_000_000n };
  const life = (disk: Disk, crash: (height: bigint) => boolean): Home =>
    new Home({
      genesis,
      me: 0,
      disk,
      consensus,
      crash: (effect, { state }) =>
        effect.type === 'tell' && effect.message.type === 'reap' && crash(state.consensus.height),
    });
  const disk = newDisk();
  disk.app.finalize = () => ({ appHash: new Uint8Array(0) }); // nothing to prove after the first block
  let isFatal = false;
  const first = life(disk, () => isFatal);
  first.fire('start');
  first.fire('start');
  const { height, step } = first.state.consensus;
  expect(step).toBe('newRound');
  isFatal = true;
  first.fire('empty');
  expect([first.isDown, first.state.chain.lastBlockHeight]).toEqual([true, height - 1n]);
  const again = life(disk, () => false);
  expect([again.halted, again.state.chain.lastBlockHeight]).toEqual([null, height]);
});

describe('the logbook', () => {
  it('finds the records after the end of the height before', () => {
    const home = new Home({ genesis: FOUR, me });
    play(home);
    const log = home.disk.consensus;
    expect(recordsOf(log, 1n, 1n)?.length).toBe(log.length);
    expect(recordsOf(log, 2n, 1n)).toBeNull();
    expect(hasEnded(log, 1n)).toBe(false);
    const kinds = new Set(log.map((record) => decodeWords(logRecord, record)?.type));
    expect([...kinds].sort()).toEqual(['heard', 'own', 'timeout']);
    const torn = [...log.slice(0, 5), new Uint8Array([255, 1]), ...log.slice(5)];
    expect(recordsOf(torn, 1n, 1n)?.length).toBe(5);
  });
});
