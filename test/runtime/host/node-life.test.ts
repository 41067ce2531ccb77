// One life of a node after another in the same home.

import * as fs from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeHomes, usualPaths } from '../../../runtime/host/home.ts';
import { NodeLife } from '../../../runtime/host/node-life.ts';
import { temporaryFolder } from './folders.ts';

const said = { say: () => {}, tell: () => {}, record: null, commit: '' };
const change = (path: string, from: string | RegExp, to: string): void =>
  fs.writeFileSync(path, fs.readFileSync(path, 'utf8').replace(from, to));

/** A network of one, once it has a block. */
async function lived(): Promise<string> {
  const [home] = makeHomes(join(temporaryFolder(), 'net'), [0]) as [string];
  change(usualPaths(home).config, 'timeout_commit = "1s"', 'timeout_commit = "10ms"');
  await new Promise<void>((decided, failed) => {
    const begun = NodeLife.begin({
      ...said,
      home,
      tell: (word) => {
        if (word.type === 'committed') void begun.then((life) => life.end()).then(decided);
      },
      ended: (because) => failed(new Error(because)),
    });
    begun.then((life) => life.start(), failed);
  });
  return home;
}

test('a chain goes on only with the genesis that it began with, however that is written', async () => {
  const home = await lived();
  const { genesis } = usualPaths(home);
  const begin = () => NodeLife.begin({ ...said, home, ended: () => {} });
  const written = fs.readFileSync(genesis, 'utf8');
  change(genesis, /chain-....../, 'chain-other!');
  await expect(begin()).rejects.toThrow(
    /^the genesis file .*genesis\.json is not the one that this node's chain began with: restore it/,
  );
  fs.writeFileSync(genesis, JSON.stringify(JSON.parse(written)));
  await (await begin()).end();
});
