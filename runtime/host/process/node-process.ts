// The process of one node: `node-process --home DIR [--record FILE] [--commit ID]`. Speaks with the cluster
// that started it, and ends with it.

// xstate's development build costs three times as much, and it looks when it is first imported: so everything
// else is imported later.
process.env['NODE_ENV'] ??= 'production';
// False, and not undefined: there was a channel, and the cluster died before we looked.
const hasCluster = process.connected !== undefined;
const { main } = await import('./node-main.ts');
await main(process.argv.slice(2), hasCluster);

export {};
