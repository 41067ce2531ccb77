// All plays, by what they are about: whatever a file of this folder exports is a play of `sim list`.

import type { Play } from '../sim/scenario/play.ts';
import * as accusations from './accusations.ts';
import * as attacks from './attacks.ts';
import * as blockSync from './block-sync.ts';
import * as brokenApplication from './broken-application.ts';
import * as brokenWords from './broken-words.ts';
import * as burdens from './burdens.ts';
import * as calm from './calm.ts';
import * as clocksAndDisks from './clocks-and-disks.ts';
import * as edges from './edges.ts';
import * as emptyBlocks from './empty-blocks.ts';
import * as failingApplication from './failing-application.ts';
import * as floods from './floods.ts';
import * as forgeries from './forgeries.ts';
import * as forks from './forks.ts';
import * as halfABlock from './half-a-block.ts';
import * as hiddenLock from './hidden-lock.ts';
import * as large from './large.ts';
import * as laterRounds from './later-rounds.ts';
import * as leftBehind from './left-behind.ts';
import * as lockSplits from './lock-splits.ts';
import * as locks from './locks.ts';
import * as longAgo from './long-ago.ts';
import * as lostLogs from './lost-logs.ts';
import * as noSuchSet from './no-such-set.ts';
import * as otherParts from './other-parts.ts';
import * as ownApplication from './own-application.ts';
import * as partitions from './partitions.ts';
import * as pools from './pools.ts';
import * as powerCut from './power-cut.ts';
import * as proposers from './proposers.ts';
import * as recovery from './recovery.ts';
import * as roomInBlocks from './room-in-blocks.ts';
import * as slowApplication from './slow-application.ts';
import * as swarm from './swarm.ts';
import * as tour from './tour.ts';
import * as transactions from './transactions.ts';
import * as usualSettings from './usual-settings.ts';
import * as validatorSet from './validator-set.ts';

interface Chapter {
  readonly about: string;
  /** By name. */
  readonly plays: readonly Play[];
}

const byName = (a: Play, b: Play): number => (a.name < b.name ? -1 : 1);

const chapter = (about: string, ...files: readonly Readonly<Record<string, Play>>[]): Chapter => ({
  about,
  plays: files.flatMap((file) => Object.values(file)).sort(byName),
});

export const chapters: readonly Chapter[] = [
  chapter('to begin with', tour, calm, swarm, usualSettings),
  chapter('locks, and rounds after the first', locks, hiddenLock, lockSplits, laterRounds),
  chapter('proposers, and who votes twice', proposers),
  chapter('networks that are cut', partitions),
  chapter('crashes, and what disks keep', recovery, lostLogs, powerCut, longAgo),
  chapter('who missed something', leftBehind, blockSync),
  chapter('clocks and disks', clocksAndDisks),
  chapter('validators that come and go', validatorSet, noSuchSet),
  chapter('transactions and pools', transactions, pools, roomInBlocks, emptyBlocks),
  chapter('applications', ownApplication, slowApplication, brokenApplication, failingApplication),
  chapter('lies about blocks and votes', forgeries, otherParts, halfABlock, brokenWords),
  chapter('evidence', accusations, attacks),
  chapter('more than a third lies', forks),
  chapter('burdens', floods, burdens),
  chapter('where something ends', edges, large),
];

export const plays: readonly Play[] = chapters.flatMap(({ plays }) => plays);
