// Builds dist/ with tsc from a clean folder, and makes the command line runnable. Run by `npm ci` through `prepare`.
import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
if (!existsSync(tsc)) {
  console.log('build: typescript is not installed, dist/ is used as it stands');
  process.exit(0);
}
rmSync(join(root, 'dist'), { recursive: true, force: true });
execFileSync(process.execPath, [tsc, '-p', join(root, 'tsconfig.build.json')], {
  cwd: root,
  stdio: 'inherit',
});
const cli = join(root, 'dist', 'runtime', 'cli', 'nodecli.js');
if (existsSync(cli)) chmodSync(cli, 0o755);
