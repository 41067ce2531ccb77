// The program `nodecli`: its commands, and how an error ends it.

import { Command, CommanderError } from 'commander';
import type { ScenarioError } from '../../sim/scenario/words.ts';
import { chaosCommand, clusterCommand } from './cluster/command.ts';
import { interrupt } from './interrupt.ts';
import { simCommand } from './sim-command.ts';
import { whereOwn, whereThrown } from './thrown.ts';
import { EXIT, isCliError, packageVersion } from './usage.ts';

export function program(): Command {
  return new Command('nodecli')
    .description('A BFT blockchain network that you can rehearse before you run it.')
    .version(packageVersion(), '-V, --version')
    .option('--trace-errors', 'print the stack of an unexpected error, as NODECLI_DEBUG=1 does')
    .addCommand(simCommand())
    .addCommand(clusterCommand())
    .addCommand(chaosCommand());
}

/** Every command, however deep, throws instead of ending the process, and says where help is. */
function overrideExit(command: Command): void {
  command.exitOverride().showHelpAfterError('(--help tells more)');
  for (const each of command.commands) overrideExit(each as Command);
}

/** Runs one command line; gives the exit code of the process. */
export async function main(argv: readonly string[]): Promise<number> {
  const nodecli = program();
  overrideExit(nodecli);
  process.stdout.on('error', onBrokenPipe);
  process.stderr.on('error', () => {}); // a bar that nobody sees is no reason to stop
  try {
    await nodecli.parseAsync([...argv]);
    return Number(process.exitCode ?? EXIT.holds);
  } catch (error) {
    return told(error, nodecli.opts()['traceErrors'] === true || isDebugged());
  }
}

/** Nothing and `0` are off. */
const isDebugged = (): boolean => !['', '0'].includes(process.env['NODECLI_DEBUG'] ?? '');

/** `nodecli ... | head` closes our output early: what is under way ends in good order, as at Ctrl-C, and with the exit code that it has earned. */
function onBrokenPipe(error: NodeJS.ErrnoException): void {
  if (error.code === 'EPIPE') return interrupt();
  console.error(`nodecli: cannot write the output: ${error.message}`);
  process.exit(EXIT.usage);
}

/** By name: that of a build with a bug planted is of another class. */
const isScenarioError = (error: unknown): error is ScenarioError =>
  error instanceof Error && error.name === 'ScenarioError';

function told(error: unknown, wantsStack: boolean): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.holds : EXIT.usage;
  if (isScenarioError(error)) {
    // What is of one's own, an oracle or a liar, may throw in the middle of a scenario.
    const what = error.cause === undefined ? 'this is not a scenario: ' : '';
    console.error(`nodecli: ${what}${error.message}${whereOwn(error.cause)}`);
    if (wantsStack && error.cause !== undefined) console.error(error.cause);
    return EXIT.usage;
  }
  if (isCliError(error)) {
    console.error(`nodecli: ${error.message}`);
    return error.exit;
  }
  const because = error instanceof Error ? error.message : String(error);
  console.error(`nodecli: ${because}`);
  if (wantsStack) console.error(error);
  else console.error(whereThrown(error));
  return EXIT.violated;
}
