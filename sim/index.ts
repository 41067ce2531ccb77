// What a user of the simulator imports: the words of plays, running one, reading and writing it as JSON, and
// what a run says.

export type { ActorName, Effect, NodeEvent, Payload, PeerId } from '../actors/turn.ts';
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
export { type Cast, type CastOptions, castFromFiles, type Member, makeCast } from './cast.ts';
export { Choices, type Seed, Stream } from './choices.ts';
export type { CrashHow, MediumName } from './disk-door.ts';
export { type Explanation, explainRun } from './explain/explain.ts';
export type { Fork } from './fork.ts';
export type { Latency, Span } from './latency.ts';
export type { LiarName } from './liars/index.ts';
export {
  isItsPlace,
  type Liar,
  type LiarKit,
  type Lie,
  otherValue,
  Remembered,
  signedVote,
  type WhenItLies,
} from './liars/liar.ts';
export { aboutOwnVotes } from './liars/own-votes.ts';
export type { Closest } from './liveness/watch.ts';
export type { Machine } from './machine.ts';
export { observeRun, type RunEvent } from './observe.ts';
export type { Oracle, OracleMaker, Report, Violation, WorldAbout } from './oracle.ts';
export type { GhostChain } from './oracles/ghost/ghost.ts';
export { PictureCollector, type PictureLimits } from './picture/collector.ts';
export { pictureOf } from './picture/index.ts';
export type { Picture } from './picture/picture.ts';
export { decodeRecording, encodeRecording, type Recording } from './recording.ts';
export { runScenario } from './run.ts';
export type { RunOptions } from './run-options.ts';
export type { ScenarioRefusal } from './scenario/form.ts';
export { fromJson, toJson } from './scenario/json.ts';
export { requestIn, responseIn } from './scenario/own-letters.ts';
export type {
  Action,
  BlockNumber,
  CastWords,
  Claim,
  Condition,
  CrashPoint,
  Death,
  Deed,
  Directive,
  DrawnPlay,
  Ending,
  LiarWords,
  LinkChange,
  Load,
  MessageKind,
  NodeName,
  Origin,
  Play,
  RuleAction,
  Scenario,
  Settings,
  StateOf,
  StepName,
  Who,
  Workload,
} from './scenario/play.ts';
export type { Stage } from './scenario/stage.ts';
export { scenarioUnder } from './scenario/under.ts';
export type { Happening, Witness } from './scenario/witness.ts';
export * from './scenario/words.ts';
export type { SoFar } from './shrink/lab.ts';
export { type ShrinkOptions, type Shrunk, shrink } from './shrink/shrink.ts';
export { STEP, STEP_TEXT } from './steps.ts';
export { swarmPlay } from './swarm/index.ts';
export { widePlay } from './swarm/wide.ts';
export type { Backstage, NodeOutcome, RunWatch, StoryLine, Verdict } from './verdict.ts';
export type { World } from './world.ts';
