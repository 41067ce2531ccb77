// `nodecli sim ...`: the commands of the simulator and their options. Each loads its own code only when it
// is called.

import { Command } from 'commander';
import { DEFAULTS as CRASHES } from './crashes/defaults.ts';

type Run = (...args: never[]) => Promise<number> | number;

/** An action whose number is the exit code of the process. */
const ends =
  (run: () => Promise<Run>) =>
  async (...args: unknown[]): Promise<void> => {
    const command = await run();
    process.exitCode = await command(...(args as never[]));
  };

export function simCommand(): Command {
  const sim = new Command('sim').description(
    'the simulator: scenarios under a seed, traces, and what proves that it tells the truth',
  );
  addRuns(sim);
  addTraces(sim);
  addProofs(sim);
  return sim;
}

function addRuns(sim: Command): void {
  sim
    .command('list')
    .description('the scenarios that come with it, a line each')
    .option('--json', 'as JSON')
    .action(ends(async () => (await import('./run/command.ts')).listPlays));
  sim
    .command('run')
    .description('performs a scenario under a seed; exits 0 when all that it promises holds, 1 when not')
    .argument('<scenario>', 'a name of `sim list`, or a .json, .js, .mjs, .ts or .mts file')
    .option(
      '--seed <seed>',
      'a whole number: everything that chance decides follows from it (default: that of a saved scenario, else 1)',
    )
    .option('--json', 'only the verdict, as JSON')
    .option('--log', 'one line per event, a column per node')
    .option('--story', 'tell every vote, not only the heights and what disturbs them')
    .option('--quiet', 'only the verdict')
    .option(
      '--trace <file>',
      'write every turn of every node to this file; to FILE.partial until the run is over',
    )
    .option('--html <file>', 'draw the run: lanes, messages and faults as one HTML page')
    .option('--genesis <file>', 'perform it with the validators of this genesis ...')
    .option('--keys <dir>', '... whose priv_validator_key.json files are below this folder')
    .option('--crypto <kind>', 'sim (signatures from a hash) or ed25519; default: what the scenario says')
    .option('--heights <n>', 'at least so many heights')
    .option('--mutant <file>', 'with this bug of scenarios/zoo planted in a copy of the build')
    .option('--no-memo', 'compute everything again: the digest is the same')
    .action(ends(async () => (await import('./run/command.ts')).runCommand));
}

function addTraces(sim: Command): void {
  sim
    .command('shrink')
    .description('makes a failing run small and saves it as a scenario that fails by itself')
    .argument('<scenario>', 'a name of `sim list`, or a file; functions of your own cannot be saved')
    .option('--seed <seed>', 'the seed under which it fails (default: that of a saved scenario, else 1)')
    .option('--heights <n>', 'at least so many heights, as in the run that failed')
    .option('--mutant <file>', 'with this bug of scenarios/zoo planted in a copy of the build')
    .option('--out <file>', 'where to save it (default: NAME-shrunk.json)')
    .option('--test <file>', 'also write a vitest file that asserts that it holds')
    .option('--json', 'as JSON')
    .action(ends(async () => (await import('./shrink/command.ts')).shrinkCommand));
  sim
    .command('replay')
    .description('feeds the actors a recorded run again, without a world, and compares what they do')
    .argument('<trace>', 'a file that `sim run --trace` or `cluster --record` wrote')
    .option('--at <record>', "stop after this record: the node's state, and what enabled its last vote")
    .option('--break', 'stop in the debugger (node --inspect-brk) before that record')
    .option('--json', 'the summary as JSON')
    .option('--play <file>', 'of an application of its own: the play that has it, by its name or its file')
    .option('--mutant <file>', 'with this bug of scenarios/zoo planted in a copy of the build')
    .action(ends(async () => (await import('./traces/replay-command.ts')).replayCommand));
  sim
    .command('diverge')
    .description('the first record in which two traces differ; exits 1 when there is one')
    .argument('<a>', 'a trace')
    .argument('<b>', 'another')
    .action(ends(async () => (await import('./traces/diverge-command.ts')).divergeCommand));
}

function addProofs(sim: Command): void {
  sim
    .command('determinism')
    .description('runs every seed twice, in other processes and another order, and compares digests')
    .option('--seeds <n>', 'how many', '100')
    .option('--from <seed>', 'the first', '1')
    .option('--play <name>', 'one play alone, by its name or its file (default: all in turn)')
    .option('--engines <list>', 'also 100 seeds on these versions of Node: 20,22,24')
    .option(
      '--crypto-pairs <n>',
      'also so many seeds in sim-crypto and in ed25519: equal shapes and verdicts',
      '0',
    )
    .action(ends(async () => (await import('./determinism/command.ts')).determinismCommand));
  sim
    .command('explore')
    .description('swarm runs, each twice, on all cores: what they saw, and the shortest run of each failure')
    .option('--play <name>', 'another play, as wide-swarm, or a file with your own (default: swarm)')
    .option('--runs <n>', 'so many (default: 2000)')
    .option('--minutes <n>', 'or for so long')
    .option('--workers <n>', 'processes (default: one per core)')
    .option('--seed <seed>', 'the first (default: from the commit)')
    .option('--out <dir>', 'keep the campaign and its failures there; with the same folder it goes on')
    .option('--json', 'as JSON')
    .action(ends(async () => (await import('./explore/command.ts')).exploreCommand));
  sim
    .command('crashes')
    .description('ends a node at every write, sync and signature of its life, and looks how it comes back')
    .option('--heights <n>', 'of the life without a crash', CRASHES.heights)
    .option('--validators <n>', 'how many', CRASHES.validators)
    .option('--nodes <names>', 'whose lives: v0,v1 or all', CRASHES.nodes)
    .option('--workers <n>', 'processes (default: one per core)')
    .option('--seed <seed>', 'of every run', CRASHES.seed)
    .option(
      '--only <point>',
      'one point, as v0/append/consensus/17/torn/5, or all that begin so; or several, with commas',
    )
    .option('--save <file>', 'with --only: write the scenario of the (first) point to this .json file')
    .option('--json', 'as JSON')
    .action(ends(async () => (await import('./crashes/command.ts')).crashesCommand));
  sim
    .command('bench')
    .description('heights per second, and where the time goes')
    .option('--json', 'as JSON')
    .option('--no-memo', 'without what is remembered between turns: slower, the same digests')
    .option('--quick', 'fewer heights and one repetition: a look, no measurement')
    .action(ends(async () => (await import('./bench/command.ts')).benchCommand));
  sim
    .command('leaks')
    .description(
      'plants leaks of determinism in copies of the build; exits 1 when one is not caught. One shows between two versions of Node only: npm fetches what is not here into the cache folder, once, and says so',
    )
    .option('--seeds <n>', 'seeds per leak', '20')
    .option('--only <id>', 'one of them')
    .action(ends(async () => (await import('./determinism/leaks-command.ts')).leaksCommand));
  sim
    .command('zoo')
    .alias('mutants')
    .description('plants bugs in copies of the build and tells which oracle found each, at which seed')
    .option('--seeds <n>', 'at most so many runs per bug (default: 500)')
    .option('--from <seed>', 'the first seed (default: 1)')
    .option('--bases <n>', 'hunts each from so many base seeds: a league table, with medians')
    .option('--play <name>', 'with this play alone, that a seed writes, as swarm or wide-swarm')
    .option('--only <ids>', 'some of them: M01,M06')
    .option('--mutant <file>', 'a patch of your own: JSON as in scenarios/zoo, or a unified diff')
    .option('--rules', 'instead: every `upon` rule of the algorithm is deleted, and each of its outcomes')
    .option('--triggers', 'instead: the smallest play that shows each')
    .option('--shrink <n>', 'and makes the first n failing runs of each small')
    .option('--workers <n>', 'processes (default: one per core)')
    .option('--json', 'as JSON')
    .action(ends(async () => (await import('./zoo/command.ts')).zooCommand));
}
