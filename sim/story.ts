// The story of a run in plain English: "v0 locks 4c6a2702 at 3/0", "the network splits: v0 | v1 v2".

import { utf8Encode } from '#platform';
import type { NodeEvent } from '../actors/turn.ts';
import { hexOf } from '../protocol/bytes.ts';
import type { Latency } from './latency.ts';
import type {
  Action,
  CrashPoint,
  Death,
  LinkChange,
  MessageKind,
  NodeName,
  RuleAction,
} from './scenario/play.ts';
import type { Happening } from './scenario/witness.ts';
import { STEP } from './steps.ts';

const HASH_SHOWN = 8;
const nameOf = (hash: Uint8Array | null): string =>
  hash === null || hash.length === 0 ? 'nil' : hexOf(hash).slice(0, HASH_SHOWN);

/** The name of who has this address; null: of a stranger. */
export type NameOfAddress = (hex: string) => string | null;

const whoIs = (hex: string, nameBy: NameOfAddress): string => nameBy(hex) ?? hex.slice(0, HASH_SHOWN);

/** Null: not worth a line. */
export function lineOf(happening: Happening, nameBy: NameOfAddress): string | null {
  const line = deedOf(happening, nameBy);
  return line !== null && happening.isLie ? `${line} (a lie)` : line;
}

function deedOf(happening: Happening, nameBy: NameOfAddress): string | null {
  const { does, height, round, hash, step } = happening;
  const where = `${height}/${round}`;
  switch (does) {
    case 'enters':
      return round > 0 && step === STEP.propose ? `begins round ${round} of height ${height}` : null;
    case 'proposes':
      return `proposes ${nameOf(hash)} at ${where}`;
    case 'prevotes':
      return `prevotes ${nameOf(hash)} at ${where}`;
    case 'precommits':
      return `precommits ${nameOf(hash)} at ${where}`;
    case 'locks':
      return `locks ${nameOf(hash)} at ${where}`;
    case 'values':
      return null; // it goes with the lock, or the next proposal shows it
    case 'halts':
      return null; // it says so itself
    case 'decides':
      return `decides ${nameOf(hash)} at ${where}`;
    case 'punishes': {
      const { against, pieces } = happening;
      const evidence = pieces === 1 ? 'evidence' : `${pieces} pieces of evidence`;
      return `stores block ${height} with ${evidence} against ${whoIs(against, nameBy)}`;
    }
    case 'drops':
      return `ends its connection to ${happening.against}: ${happening.because}`;
    case 'joins':
      return `takes part in consensus after height ${height}`;
    case 'starts':
      return happening.node.lives > 1 ? `starts again (life ${happening.node.lives})` : 'starts';
    case 'crashes':
      return `dies after height ${height}${round > 0 ? `, in round ${round}` : ''}`;
  }
}

const EVERYDAY: ReadonlySet<Happening['does']> = new Set([
  'joins',
  'proposes',
  'prevotes',
  'precommits',
  'locks',
  'decides',
]);

/** What happens all the time in a healthy network. */
export const isEveryday = ({ does, node }: Happening): boolean =>
  EVERYDAY.has(does) || (does === 'starts' && node.lives === 1);

/** Of events, the only one that has a line. */
export const isEverydayEvent = (event: NodeEvent): boolean => event.type === 'mode';

export function eventText(event: NodeEvent, nameBy: NameOfAddress): string | null {
  if (event.type === 'warning') return `warns: ${event.what}`;
  if (event.type === 'refused') return `refuses ${hexOf(event.hash).slice(0, 8)}: ${event.because}`;
  if (event.type === 'halted') return `halts: ${event.what}`;
  if (event.type === 'evidence') {
    const { validator, height } = event;
    const of =
      validator.length > 0 ? `against ${whoIs(hexOf(validator), nameBy)}` : 'of an attack on light clients,';
    return `has evidence ${of} of height ${height}`;
  }
  if (event.type === 'mode' && event.mode === 'sync') return 'asks its peers for blocks';
  return null;
}

const seconds = (ms: number): string => `${ms / 1000} s`;
const list = (names: readonly NodeName[] | undefined, otherwise: string): string =>
  names?.join(' ') ?? otherwise;
const ever = (forEver: true | undefined): string => (forEver ? ' for ever' : '');

const KIND_TEXT: Readonly<Record<MessageKind, string>> = {
  proposals: 'proposals',
  parts: 'block parts',
  prevotes: 'prevotes',
  precommits: 'precommits',
  transactions: 'transactions',
  evidence: 'evidence',
  'block-sync': 'block sync messages',
  everything: 'everything',
};

const msText = (ns: number): string => `${ns / 1_000_000} ms`;
/** Parts in a million, as people say it. */
const share = (ppm: number): string => `${Math.round(ppm / 100) / 100} %`;

function latencyText(latency: Latency): string {
  if (latency.kind === 'uniform') return `take ${msText(latency.minNs)} to ${msText(latency.maxNs)}`;
  if (latency.kind === 'exponential')
    return `take ${msText(latency.minNs)} and ${msText(latency.meanNs)} more on average`;
  return 'take what the table says';
}

/** What links do from now on, in the order in which it happens to an envelope. */
function changeText(change: LinkChange): string {
  const { latency, lossPpm, duplicatePpm, reorderPpm, corruptPpm, bytesPerSecond, straggle } = change;
  const said = [
    latency && latencyText(latency),
    lossPpm !== undefined && `lose ${share(lossPpm)}`,
    duplicatePpm !== undefined && `double ${share(duplicatePpm)}`,
    reorderPpm !== undefined && `reorder ${share(reorderPpm)}`,
    corruptPpm !== undefined && `corrupt ${share(corruptPpm)}`,
    straggle && `hold stragglers back ${msText(straggle.minNs)} to ${msText(straggle.maxNs)}`,
    bytesPerSecond !== undefined &&
      (bytesPerSecond > 0 ? `carry ${bytesPerSecond} bytes a second` : 'carry any amount'),
  ];
  return said.filter((each) => typeof each === 'string').join(', ');
}

/** What a rule is about. */
export function messagesText({ what, round, height, by, from, to }: RuleAction): string {
  const where = `${round === undefined ? '' : ` of round ${round}`}${height === undefined ? '' : ` of height ${height}`}`;
  const whose = by ? ` by ${by.join(' ')}` : '';
  return `${KIND_TEXT[what]}${where}${whose} from ${list(from, 'anyone')} to ${list(to, 'anyone')}`;
}

export const pointText = ({ when, op, nth, on }: CrashPoint): string =>
  `${when} ${op} number ${nth}${on ? ` on ${on}` : ''}`;

const deathText = ({ restartMs, unnoticed }: Death): string =>
  `${restartMs === undefined ? '' : `, for ${seconds(restartMs)}`}${unnoticed ? ', and nobody notices' : ''}`;

/** What the hand of the play does; `names` of all, so that those whom no group names can be told. */
export function actionText(action: Action, names: readonly string[]): string {
  switch (action.do) {
    case 'isolate':
      return `${action.node} is cut off from all others${ever(action.forEver)}`;
    case 'partition': {
      const rest = names.filter((name) => !action.groups.some((group) => group.includes(name as NodeName)));
      const groups = [
        ...action.groups.map((group) => group.join(' ')),
        ...(rest.length > 0 ? [rest.join(' ')] : []),
      ];
      return `the network splits: ${groups.join(' | ')}${ever(action.forEver)}`;
    }
    case 'cut':
      return `what ${action.from.join(' ')} says does not reach ${action.to.join(' ')} any more${ever(action.forEver)}`;
    case 'heal':
      return 'the network heals';
    case 'clog':
      return `the line from ${action.from.join(' ')} to ${action.to.join(' ')} is clogged for ${seconds(action.forMs)}`;
    case 'reset':
      return `the connection between ${action.nodes.join(' and ')} is reset`;
    case 'links':
      return `links from ${list(action.from, 'all')} to ${list(action.to, 'all')} now ${changeText(action.change)}`;
    case 'core':
      return `chaos is over for ${action.nodes.join(' ')}; all others stay as they are`;
    case 'calm':
      return 'the links are calm again';
    case 'rule': {
      const what = messagesText(action);
      const [are, come] = action.what === 'everything' ? ['is', 'comes'] : ['are', 'come'];
      if (action.effect === 'drop') return `${what} ${are} lost from now on`;
      return `${what} ${come} ${seconds(action.effect.delayMs)} late from now on`;
    }
    default:
      return nodeActionText(action);
  }
}

/** What is done to one node. */
type NodeAction = Exclude<
  Action,
  {
    readonly do:
      | 'isolate'
      | 'partition'
      | 'cut'
      | 'heal'
      | 'clog'
      | 'reset'
      | 'links'
      | 'core'
      | 'calm'
      | 'rule';
  }
>;

function nodeActionText(action: NodeAction): string {
  switch (action.do) {
    case 'crash':
      return `${action.node} is killed${deathText(action)}`;
    case 'crash-at':
      return `${action.node} will be killed ${pointText(action)}${deathText(action)}`;
    case 'restart':
      return `${action.node} is started`;
    case 'remove-log':
      return `the log of consensus of ${action.node} is removed if it is down`;
    case 'back-up':
      return `the disk of ${action.node} is copied`;
    case 'put-back':
      return `${action.media.join(', ')} of ${action.node} ${action.media.length === 1 ? 'is' : 'are'} as in the copy again, if it is down`;
    case 'pause':
      return `${action.node} is frozen${action.forMs === undefined ? '' : ` for ${seconds(action.forMs)}`}`;
    case 'unpause':
      return `${action.node} wakes up`;
    case 'clock': {
      const step = action.stepMs === undefined ? '' : ` jumps by ${action.stepMs} ms`;
      const drift = action.driftPpm === undefined ? '' : driftText(action.driftPpm);
      const frozen = action.frozen === undefined ? '' : action.frozen ? ' stands still' : ' goes again';
      return `the clock of ${action.node}${step}${drift}${frozen}`;
    }
    case 'disk':
      return `the disk of ${action.node} is ${action.disk}`;
    case 'signer':
      return action.takesMs === 0
        ? `${action.node} signs in a moment again`
        : `${action.node} takes ${seconds(action.takesMs)} to sign`;
    case 'application': {
      const { node, blocksMs, checksMs } = action;
      if (blocksMs + checksMs === 0) return `the application of ${node} answers in a moment again`;
      const slow = [
        ...(blocksMs > 0 ? [`${seconds(blocksMs)} to answer about a block`] : []),
        ...(checksMs > 0 ? [`${seconds(checksMs)} about a transaction`] : []),
      ];
      return `the application of ${node} takes ${slow.join(', ')}`;
    }
    case 'submit':
      return `a client gives ${action.to} the transaction ${printable(action.tx)}`;
    case 'empower':
      return action.power === 0
        ? `a client asks ${action.via} to remove ${action.node} from the validators`
        : `a client asks ${action.via} to give ${action.node} power ${action.power}`;
  }
}

function driftText(ppm: number): string {
  if (ppm === 0) return ' goes at its own pace again';
  return ` goes ${Math.abs(ppm)} ppm too ${ppm > 0 ? 'fast' : 'slow'}`;
}

/** Other bytes than those of plain text would go to a terminal as they are. */
const printable = (text: string): string => (/^[ -~]*$/.test(text) ? text : `0x${hexOf(utf8Encode(text))}`);
