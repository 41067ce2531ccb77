// Other versions of Node, from the npm package `node`, in a cache folder of the user.

import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { whyNot } from '../usage.ts';

export interface Engine {
  readonly major: number;
  readonly version: string;
  readonly path: string;
}

const FETCH_LIMIT_MS = 180_000;

const cacheFolder = (): string =>
  join(process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache'), 'rehearsal', 'engines');

/** This Node when it is of that version, else one that was or is fetched; or why there is none. */
export function engineOf(major: number): Engine | { readonly because: string } {
  if (Number(process.versions.node.split('.')[0]) === major) {
    return { major, version: process.versions.node, path: process.execPath };
  }
  const folder = join(cacheFolder(), `node-${major}`);
  const path = join(
    folder,
    'node_modules',
    'node',
    'bin',
    process.platform === 'win32' ? 'node.exe' : 'node',
  );
  const ready = versionOf(path);
  if (ready) return { major, version: ready, path };
  const because = fetchInto(folder, major);
  const version = versionOf(path);
  if (version) return { major, version, path };
  return { because: because ?? `npm installed node@${major}, and it does not run on this machine` };
}

function versionOf(path: string): string | null {
  if (!existsSync(path)) return null;
  const asked = spawnSync(path, ['--version'], { encoding: 'utf8' });
  return asked.status === 0 ? asked.stdout.trim().replace(/^v/, '') : null;
}

/** Null: npm says that it worked. */
function fetchInto(folder: string, major: number): string | null {
  console.error(`fetching node@${major} into ${folder} (once)`);
  try {
    mkdirSync(folder, { recursive: true });
  } catch (error) {
    return whyNot(error);
  }
  const args = ['install', '--prefix', folder, '--no-save', '--no-audit', '--no-fund', `node@${major}`];
  const npm = spawnSync('npm', args, {
    encoding: 'utf8',
    timeout: FETCH_LIMIT_MS,
    shell: process.platform === 'win32',
  });
  if (npm.status === 0) return null;
  const said = (npm.stderr ?? '').split('\n').filter((line) => /\berr/i.test(line));
  return npm.error?.message ?? (said.slice(0, 2).join(' ') || `npm ended with code ${npm.status}`);
}
