// Performs a play under a seed and says how it went: the world, oracles, script, promises, verdict.

import { configValue } from '../actors/node.ts';
import type { NodeEvent } from '../actors/turn.ts';
import { hexOf } from '../protocol/bytes.ts';
import { must } from '../protocol/refusal.ts';
import { EMPTY_BYTES } from '../protocol/types.ts';
import type { TurnRecord } from '../runtime/kernel/record.ts';
import { encodeHeader, encodeRecord, TRACE_FORMAT } from '../runtime/kernel/trace.ts';
import { hexFor } from './addresses.ts';
import { type Cast, castOfPeople, fullMesh, otherThanSaid, paramsWith, randomMesh } from './cast.ts';
import { Choices, seedText } from './choices.ts';
import { EndOfPlay, scriptNsMax } from './ending.ts';
import { faultsOf } from './faults.ts';
import { type Fork, takeFork } from './fork.ts';
import { MILLISECOND } from './latency.ts';
import { Liveness } from './liveness/watch.ts';
import { type Machine, nameOfPeer, OWN_APPLICATION } from './machine.ts';
import { type OracleMaker, PLAY, wordsOf } from './oracle.ts';
import { Forensics } from './oracles/chain/forensics.ts';
import { allOracles, chainAlone, type OraclesOfRun } from './oracles/index.ts';
import { mustBeOptions, type RunOptions } from './run-options.ts';
import { castLiars } from './scenario/cast-liars.ts';
import { haltingIn, needsWords } from './scenario/foreseen.ts';
import { scenarioRefusal } from './scenario/form.ts';
import { Loader } from './scenario/load.ts';
import { mustBePlay } from './scenario/must-be.ts';
import { namesIn } from './scenario/names.ts';
import { ownApplication, ownOracles } from './scenario/own.ts';
import type { LiarWords, NodeName, Play, Scenario } from './scenario/play.ts';
import { RuleBook } from './scenario/rules.ts';
import { type Broken, Script } from './scenario/script.ts';
import { Stage } from './scenario/stage.ts';
import { longer, scenarioOf } from './scenario/under.ts';
import { Witness } from './scenario/witness.ts';
import { ScenarioError } from './scenario/words.ts';
import { Shape } from './shape.ts';
import { actionText, eventText, isEveryday, isEverydayEvent, lineOf } from './story.ts';
import { unmetOf } from './unmet.ts';
import type { RunWatch, StoryLine, Verdict } from './verdict.ts';
import { World, type WorldOptions } from './world.ts';

const PROGRESS_EVERY_NS = 500 * MILLISECOND;

/** @throws ScenarioError when the play or the seed is not one; it names the field. */
export function runScenario(play: Play, options: RunOptions): Verdict {
  mustBePlay(play);
  mustBeOptions(options);
  return new Run(play, options).run();
}

/**
 * The digest of a run that held, made again. Oracles change nothing of it: here the one of the chain watches alone, which liars and
 * liveness ask who votes. A run that does not hold is ended by an oracle, and would have another digest.
 */
export const digestAgain = (play: Play, options: Pick<RunOptions, 'seed' | 'memo'>): string =>
  new Run(play, { ...options, shape: false }, 'again').run().digest;

function checked(scenario: Scenario): Scenario {
  const refusal = scenarioRefusal(scenario);
  if (refusal) throw new ScenarioError(refusal.because);
  return scenario;
}

class Run {
  private readonly options: RunOptions;
  private readonly watch: RunWatch;
  private readonly crypto: 'sim' | 'ed25519';
  private readonly play: Scenario;
  private readonly oracles: OraclesOfRun;
  private readonly world: World;
  private readonly witness: Witness;
  private readonly stage: Stage;
  private readonly script: Script;
  private readonly end: EndOfPlay;
  private readonly loader: Loader | null;
  private readonly liveness: Liveness;
  /** Null: the play promises no fork. */
  private readonly forensics: Forensics | null;
  private fork: Fork | null = null;
  private readonly honest: readonly Machine[];
  private readonly silentLiars: () => readonly LiarWords[];
  /** Null: nobody asks for it. */
  private readonly shape: Shape | null;
  private readonly rounds = { max: 0, laterThanFirst: 0 };
  private heightMax: bigint;
  private txsCommitted = 0;
  private readonly appHashes = new Map<Machine, Uint8Array>();
  private progressAt = 0;

  constructor(play: Play, options: RunOptions, time: 'first' | 'again' = 'first') {
    this.options = options;
    this.watch = options.watch ?? {};
    this.shape = options.shape === false ? null : new Shape();
    const { seed, recorded } = options;
    const source = recorded ? { recorded, beyond: { seed } } : { seed };
    const choices = new Choices(source, this.watch.choices ? 'record' : 'forget');
    const scenario = longer(checked(scenarioOf(play, choices)), options.heights);
    this.play = scenario;
    this.crypto = options.crypto ?? scenario.crypto ?? 'sim';
    const cast = options.cast ? asSaid(options.cast, scenario) : castOf(scenario);
    this.heightMax = cast.initialHeight - 1n;
    this.oracles = (time === 'first' ? allOracles : chainAlone)(cast.genesis);
    const { ghost } = this.oracles;
    this.forensics =
      scenario.ends.who === 'fork' ? new Forensics(ghost, BigInt(scenario.ends.decides)) : null;
    this.witness = new Witness(this.oracles.ghost, needsWords(scenario, this.watch));
    const liars = new Set<string>(scenario.liars.map(({ node }) => node));
    this.liveness = new Liveness(this.oracles.ghost, (machine) => !liars.has(machine.name));
    this.world = this.makeWorld(cast, choices, liars);
    const { world } = this;
    this.witness.isCutOff = ({ member }) => {
      for (const link of world.network.links())
        if (link.from.peer === member.id && link.isBroken) return true;
      return false;
    };
    this.witness.nameOfPeer = (peer) => nameOfPeer(world.machines, peer) ?? 'a stranger';
    this.mustBeThere(namesIn(scenario));
    this.mustBeThere(Object.keys(scenario.cast.clocks ?? {}) as NodeName[]);
    this.honest = world.machines.filter(({ name }) => !liars.has(name));
    const rules = new RuleBook(
      { peerOf: (name) => world.machine(name).member.id, addressOf: (name) => this.addressOf(name) },
      (rule) => {
        world.network.rule = rule;
      },
    );
    this.stage = new Stage(world, rules);
    this.silentLiars = castLiars(scenario.liars, this.stage, this.witness, ghost);
    this.liveness.watch(this.stage);
    this.tellStory();
    this.script = new Script({
      play: scenario,
      world,
      witness: this.witness,
      honest: this.honest,
      addressByName: (name) => this.addressOf(name),
      perform: (action) => this.stage.perform(action),
      broken: (broken) => this.violate(PLAY, broken),
    });
    this.end = new EndOfPlay({
      ends: scenario.ends,
      script: this.script,
      honest: this.honest,
      machine: (name) => world.machine(name),
      heightMax: () => this.heightMax,
    });
    this.loader = scenario.load ? new Loader(scenario.load, this.stage, choices.stream('load'), ghost) : null;
    options.onWorld?.(world);
    const { stage, witness } = this;
    this.watch.backstage?.({ play: scenario, world, stage, witness, ghost: this.oracles.ghost });
  }

  private makeWorld(cast: Cast, choices: Choices, liars: ReadonlySet<string>): World {
    const { play, options } = this;
    const { degree, clocks } = play.cast;
    const size = cast.members.length;
    const application = typeof play.app === 'string' ? undefined : ownApplication(play.app);
    const witness: OracleMaker = () => this.witness.asOracle();
    const liveness: OracleMaker = () => this.liveness.asOracle();
    return new World({
      cast,
      choices,
      crypto: this.crypto,
      edges: degree === undefined ? fullMesh(size) : randomMesh(size, degree, choices.stream('mesh')),
      settings: { ...play.settings, app: typeof play.app === 'string' ? play.app : OWN_APPLICATION },
      oracles: [
        ...this.oracles.makers,
        ...ownOracles(play.oracles, options.oracles),
        ...(this.forensics ? [this.forensics.asOracle] : []),
        witness,
        liveness,
      ],
      liars,
      halting: haltingIn(play),
      memo: options.memo ?? true,
      clocks: (index) => {
        const own = clocks?.[cast.members[index]?.name as NodeName];
        return { skewNs: BigInt(own?.skewMs ?? 0) * BigInt(MILLISECOND), driftPpm: own?.driftPpm ?? 0 };
      },
      ...(application && { application }),
      ...this.onTurn(),
      onEvent: (at, _actor, event) => this.onEvent(at, event),
    });
  }

  /** Where others play than the play was written for. */
  private mustBeThere(names: Iterable<NodeName>): void {
    for (const name of names)
      if (!this.world.machines.some((machine) => machine.name === name))
        throw new ScenarioError(`cast: the play speaks of ${name}, and nobody there has that name`);
  }

  private onTurn(): Pick<WorldOptions, 'onTurn'> {
    const { shape, watch } = this;
    if (watch.trace) return { onTurn: this.traced(watch.trace) };
    return shape ? { onTurn: (at, record) => shape.turn(at, record, this.now) } : {};
  }

  private get now(): number {
    return this.world.agenda.now;
  }

  private readonly nameBy = (address: string): string | null =>
    this.world.machines.find((each) => each.member.publicKey && hexFor(each) === address)?.name ?? null;

  private addressOf(name: string): string {
    return hexFor(this.world.machine(name));
  }

  private violate(oracle: string, { what, at, done }: Broken): void {
    const height = done ?? at?.height ?? this.heightMax;
    const where = {
      node: at?.name ?? '',
      atNs: this.now,
      height,
      ...(done !== undefined && { isDeed: true }),
    };
    this.world.violations.push({ ...wordsOf(oracle, what), ...where });
  }

  // --- watching --------------------------------------------------------------------------------------------

  private onEvent(at: Machine, event: NodeEvent): void {
    if (event.type === 'committed') this.onCommitted(at, event);
    if (event.type === 'checked' && event.because !== '') this.stage.count('refused');
    if (event.type === 'step' && event.round > this.rounds.max) this.rounds.max = event.round;
    this.watch.event?.(at, event);
    const text = this.watch.line && eventText(event, this.nameBy);
    if (text) this.watch.line?.(this.lineAt(at.name, text, isEverydayEvent(event)));
  }

  private onCommitted(
    at: Machine,
    { height, round, txs, appHash }: Extract<NodeEvent, { type: 'committed' }>,
  ): void {
    this.appHashes.set(at, appHash);
    if (height <= this.heightMax) return;
    this.heightMax = height;
    this.txsCommitted += txs;
    if (round > 0) this.rounds.laterThanFirst++;
  }

  private tellStory(): void {
    const { line } = this.watch;
    if (!line) return;
    const names = this.world.machines.map(({ name }) => name);
    this.stage.watchers.push({ acts: (action) => line(this.lineAt('', actionText(action, names), false)) });
    this.witness.listeners.push((happening) => {
      const what = lineOf(happening, this.nameBy);
      if (what) line(this.lineAt(happening.node.name, what, isEveryday(happening)));
    });
  }

  private lineAt(node: string, what: string, isUsual: boolean): StoryLine {
    return { atNs: this.now, node, what, ...(isUsual && { isEveryday: true }) };
  }

  private traced(emit: NonNullable<RunWatch['trace']>) {
    let isBegun = false;
    return (at: Machine, record: TurnRecord): void => {
      if (!isBegun) {
        isBegun = true;
        const nodes = this.world.machines.map(({ config }) => configValue(config));
        const { seed, about: more } = this.options;
        const about = { scenario: this.play.name, seed: seedText(seed), ...more };
        emit(encodeHeader({ format: TRACE_FORMAT, commit: this.options.commit ?? 'unknown', nodes, about }));
      }
      const { node } = at;
      must(node !== null, 'a turn is of a living node');
      emit(encodeRecord(at.index, record.input, (node as NonNullable<typeof node>).digest.read()), at.name);
      this.shape?.turn(at, record, this.now);
    };
  }

  // --- the run ---------------------------------------------------------------------------------------------

  run(): Verdict {
    const { world, play } = this;
    const { ends } = play;
    world.startAll();
    if (ends.who === 'nobody') {
      world.run(() => this.look() || this.script.isDone, scriptNsMax(play));
      const until = this.script.lastFiredAt + ends.forMs * MILLISECOND;
      if (this.script.isDone) world.run(() => this.look() || this.now >= until, until);
    } else {
      world.run(() => this.look() || this.end.isReached, ends.withinMs * MILLISECOND);
    }
    if (world.violations.length === 0 && world.agenda.nextAt() === Infinity) this.lookForStall(true);
    if (ends.who === 'fork' && this.forensics)
      this.fork = takeFork(world, ends, this.forensics, (what) => this.violate(PLAY, { what, at: null }));
    if (world.violations.length === 0 && !this.liveness.isHopeless) this.judgeEnd();
    world.end();
    this.watch.choices?.(world.choices.recorded());
    return this.verdict();
  }

  /** Called before every event. True: something is wrong, and the run is over. */
  private look(): boolean {
    const { world } = this;
    this.lookForStall(false);
    if (this.watch.progress && this.now >= this.progressAt) {
      this.progressAt = this.now + PROGRESS_EVERY_NS;
      const before = Number(this.oracles.ghost.genesis.initialHeight) - 1;
      const done = (Number(this.heightMax) - before) / Math.max(1, this.play.ends.decides - before);
      this.watch.progress(Math.min(1, done), this.heightMax);
    }
    return world.violations.length > 0 || this.liveness.isHopeless;
  }

  private lookForStall(isOver: boolean): void {
    if (this.play.liveness === 'waived') return;
    const stalled = this.liveness.look(isOver);
    if (stalled) this.violate('liveness', stalled);
  }

  private judgeEnd(): void {
    for (const broken of this.script.unkept()) this.violate(PLAY, broken);
    const broken = this.end.broken();
    if (broken) this.violate(PLAY, broken);
  }

  private verdict(): Verdict {
    const { world, play, options } = this;
    return {
      scenario: play.name,
      seed: seedText(options.seed),
      crypto: this.crypto,
      holds: world.violations.length === 0,
      violations: world.violations,
      digest: hexOf(world.readDigest()),
      shape: this.shape?.read() ?? '',
      nodes: world.machines.map((machine) => ({
        name: machine.name,
        height: machine.height,
        appHash: hexOf(this.appHashes.get(machine) ?? EMPTY_BYTES),
        crashes: machine.crashes,
        lives: machine.lives,
        mode: machine.mode,
      })),
      heights: this.heightMax,
      rounds: this.rounds,
      virtualNs: world.agenda.now,
      deliveries: world.deliveries,
      transactions: { submitted: this.stage.transactions, committed: this.txsCommitted },
      faults: faultsOf(this.stage),
      labels: Object.fromEntries([...world.labels].sort(([a], [b]) => (a < b ? -1 : 1))),
      liveness: this.liveness.closest,
      fork: this.fork,
      unmet: unmetOf({
        stage: this.stage,
        silent: this.silentLiars(),
        play,
        script: this.script,
        load: this.loader,
        isBroken: world.violations.length > 0,
        isHopeless: this.liveness.isHopeless,
        names: world.machines.map(({ name }) => name),
        heightMax: this.heightMax,
        heights: options.heights,
      }),
      again: againLine(this.options, this.crypto),
    };
  }
}

/** For a program; the command line knows what was typed, and says that. */
function againLine(options: RunOptions, used: string): string {
  const { seed, crypto, heights } = options;
  const words = [
    `seed: '${seedText(seed)}'`,
    ...(crypto ? [`crypto: '${used}'`] : []),
    ...(heights === undefined ? [] : [`heights: ${heights}`]),
    // What cannot be written in a line goes by its name.
    ...(['cast', 'recorded', 'oracles'] as const).filter((option) => options[option] !== undefined),
  ];
  return `runScenario(play, { ${words.join(', ')} })`;
}

/** What a play is about must not be gone without a word. */
function asSaid(cast: Cast, play: Scenario): Cast {
  const other = otherThanSaid(play.cast, cast);
  if (other === null) return cast;
  if (other === 'initialHeight')
    throw new ScenarioError(
      `cast: the play speaks of heights from ${play.cast.initialHeight ?? 1} on, and the genesis of these people begins at ${cast.initialHeight}`,
    );
  throw new ScenarioError(`cast: the play says cast.${other}, and the genesis of these people has another`);
}

const castOf = ({ cast }: Scenario): Cast =>
  castOfPeople({
    powers: cast.powers.map((power) => BigInt(power)),
    candidates: cast.candidates ?? 0,
    fullNodes: cast.fullNodes ?? 0,
    initialHeight: BigInt(cast.initialHeight ?? 1),
    ...(cast.chainId !== undefined && { chainId: cast.chainId }),
    ...(cast.appHash !== undefined && { appHash: cast.appHash }),
    params: paramsWith(cast),
  });
