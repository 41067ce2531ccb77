// Builds dist/ with tsc, beside the old one until it is whole, and makes the command line runnable. Run by `npm ci` through `prepare`.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  copyFileSync,
  cpSync,
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
if (!existsSync(tsc)) {
  console.log('build: typescript is not installed, dist/ is used as it stands');
  process.exit(0);
}

/** Of all code in a folder, short: what tells two builds of one commit apart. */
function hashOf(folder) {
  const hash = createHash('sha256');
  for (const name of readdirSync(folder, { recursive: true }).map(String).sort())
    if (/\.(js|json|html|css)$/.test(name)) hash.update(`${name}\n`).update(readFileSync(join(folder, name)));
  return hash.digest('hex').slice(0, 8);
}

/**
 * Short hash of HEAD; `-dirty-` and the hash of the build when the tree differs from it; `unknown-` and that outside a checkout (an unpacked
 * package).
 */
function commit(build) {
  const git = (...args) =>
    execFileSync('git', args, { cwd: root, stdio: ['ignore', 'pipe', 'ignore'] })
      .toString()
      .trim();
  try {
    return (
      git('rev-parse', '--short=12', 'HEAD') +
      (git('status', '--porcelain', '--untracked-files=no') === '' ? '' : `-dirty-${hashOf(build)}`)
    );
  } catch {
    return `unknown-${hashOf(build)}`;
  }
}

const dist = join(root, 'dist');
const fresh = join(root, 'dist.new');
rmSync(fresh, { recursive: true, force: true });
const args = [tsc, '-p', join(root, 'tsconfig.build.json'), '--outDir', fresh];
try {
  execFileSync(process.execPath, args, { cwd: root, stdio: 'inherit' });
} catch {
  rmSync(fresh, { recursive: true, force: true });
  process.exit(1); // tsc has said why
}
// Written by hand, so tsc does not emit it; the declarations beside it speak of it.
const platform = join('protocol', 'platform', 'platform.d.ts');
copyFileSync(join(root, platform), join(fresh, platform));
// The page of a picture is read as it stands, not imported.
cpSync(join(root, 'runtime', 'cli', 'page'), join(fresh, 'runtime', 'cli', 'page'), { recursive: true });
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
writeFileSync(join(fresh, 'build-info.json'), `${JSON.stringify({ version, commit: commit(fresh) })}\n`);
const cli = join(fresh, 'runtime', 'cli', 'nodecli.js');
if (existsSync(cli)) chmodSync(cli, 0o755);
rmSync(dist, { recursive: true, force: true });
renameSync(fresh, dist);
