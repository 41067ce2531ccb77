// `nodecli cluster` and `nodecli chaos`: their options. The code is loaded when one of them is called.

import { Command } from 'commander';

export function clusterCommand(): Command {
  return new Command('cluster')
    .description(
      'validators as processes of this machine, over WebSocket, with real keys and files; Ctrl-C ends them',
    )
    .option('--validators <n>', 'how many', '4')
    .option('--home <dir>', 'their folders: made, or gone on with; default: a temporary folder')
    .option('--blocks <n>', 'end when every node has reached this height')
    .option('--load <tx/s>', 'send so many transactions a second')
    .option('--record <dir>', "write each node's trace to <dir>/node<i>.trace, for `sim replay`")
    .option('--base-port <port>', 'listen on free ports from here on (a new network); default: drawn')
    .option('--quiet', "without the nodes' own lines")
    .action(async (flags) => {
      process.exitCode = await (await import('./run.ts')).clusterRun(flags);
    });
}

export function chaosCommand(): Command {
  return new Command('chaos')
    .description(
      'a cluster whose nodes are killed (-9) again and again, their logs cut as a power failure would; ' +
        'exits 1 when anything is lost',
    )
    .option('--validators <n>', 'how many', '4')
    .option('--kills <n>', 'kill each node at least so often', '5')
    .option('--blocks <n>', 'go on until every node has reached this height', '300')
    .option('--load <tx/s>', 'send so many transactions a second', '200')
    .option('--back <seconds>', "a restarted node must be at its peers' height this soon", '5')
    .option('--seed <seed>', 'who is killed when, and what is cut; default: drawn')
    .option('--home <dir>', 'a folder for the network and its traces, kept; default: a temporary one')
    .option('--base-port <port>', 'listen on free ports from here on; default: drawn')
    .action(async (flags) => {
      process.exitCode = await (await import('../chaos/chaos.ts')).chaosRun(flags);
    });
}
