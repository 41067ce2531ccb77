#!/usr/bin/env node
// The command `nodecli`: sets the stage for xstate, runs the program, and ends with its exit code.

// xstate's development build costs three times as much, and it looks when it is first imported: so
// everything else is imported later.
process.env['NODE_ENV'] ??= 'production';
const { main } = await import('./program.ts');
process.exitCode = await main(process.argv);
// A play is a module of somebody's, and may have left a timer or a server behind: nobody waits for those.
for (const stream of [process.stdout, process.stderr])
  await new Promise<void>((written) => void stream.write('', () => written()));
process.exit();

export {};
