// What a user of the simulator imports: the words of plays, running one, reading and writing it as JSON, and
// what a run says.

export type { Effect, NodeEvent, Payload, PeerId } from '../actors/turn.ts';
export type { Application, Pair, PairWrite } from '../machines/apps/application.ts';
export {
  ACCEPT,
  COMMITTED,
  PLAIN_QUERY,
  PLAIN_RESULT,
  REJECT,
  txsThatFit,
} from '../machines/apps/base.ts';
export { type ConsensusConfig, DEFAULT_CONSENSUS } from '../machines/consensus/config.ts';
export type { AbciRequest, AbciResponse } from '../protocol/abci.ts';
export { type Cast, type CastOptions, type Member, makeCast } from './cast.ts';
export { Choices, type Seed, Stream } from './choices.ts';
export { type Explanation, explainRun } from './explain/explain.ts';
export type { LiarName } from './liars/index.ts';
export {
  isItsPlace,
  type Liar,
  type LiarKit,
  type Lie,
  otherValue,
  Remembered,
  signedVote,
} from './liars/liar.ts';
export { aboutOwnVotes } from './liars/own-votes.ts';
export type { Machine } from './machine.ts';
export { observeRun, type RunEvent } from './observe.ts';
export type { Oracle, OracleMaker, Report, Violation, WorldAbout } from './oracle.ts';
export { PictureCollector, type PictureLimits } from './picture/collector.ts';
export { pictureOf } from './picture/index.ts';
export type { Picture } from './picture/picture.ts';
export { decodeRecording, encodeRecording, type Recording } from './recording.ts';
export { runScenario } from './run.ts';
export type { RunOptions } from './run-options.ts';
export type { ScenarioRefusal } from './scenario/form.ts';
export { fromJson, toJson } from './scenario/json.ts';
export type {
  Action,
  CastWords,
  Claim,
  Condition,
  Directive,
  DrawnPlay,
  Ending,
  LiarWords,
  Load,
  NodeName,
  Origin,
  Play,
  RuleAction,
  Scenario,
  Settings,
  StateOf,
  Workload,
} from './scenario/play.ts';
export { scenarioUnder } from './scenario/under.ts';
export * from './scenario/words.ts';
export { promiseOf } from './shrink/promise.ts';
export { type Shrunk, shrink } from './shrink/shrink.ts';
export { swarmPlay } from './swarm/index.ts';
export type { Backstage, NodeOutcome, RunWatch, StoryLine, Verdict } from './verdict.ts';
