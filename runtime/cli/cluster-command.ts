// `nodecli cluster`: validators as processes of this machine. Placeholder until its own code stands here.

import { Command } from 'commander';
import { CliError } from './usage.ts';

export function clusterCommand(): Command {
  return new Command('cluster')
    .description('validators as processes of this machine, over WebSocket')
    .action(() => {
      throw new CliError('the cluster is not built yet');
    });
}
