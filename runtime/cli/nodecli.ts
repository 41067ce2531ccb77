#!/usr/bin/env node
// The command `nodecli`: sets the stage for xstate, runs the program, and ends with its exit code.

// xstate's development build costs three times as much, and it looks when it is first imported: so
// everything else is imported later.
process.env['NODE_ENV'] ??= 'production';
const { main } = await import('./program.ts');
process.exitCode = await main(process.argv);

export {};
