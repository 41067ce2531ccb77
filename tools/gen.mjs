// Generates protocol/gen from protocol/proto with buf and ts-proto; with --check, says whether what is
// committed is what they make.

import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const proto = join(root, 'protocol', 'proto');
const gen = join(root, 'protocol', 'gen');
const bin = (name) => join(root, 'node_modules', '.bin', name);

const OPTIONS = [
  'forceLong=bigint', // 64-bit numbers do not fit a number
  'enumsAsLiterals=true', // TypeScript enums are no erasable syntax
  'oneof=unions', // one member at a time, by construction
  'esModuleInterop=true',
  'importSuffix=.ts',
  'outputServices=none',
  'outputJsonMethods=false',
  'outputPartialMethods=false',
  'useDate=false', // a Date has milliseconds
  'unrecognizedEnum=false',
  'outputTypeAnnotations=false',
  'annotateFilesWithVersion=false',
];

function generateInto(folder) {
  const template = {
    version: 'v2',
    plugins: [
      {
        local: bin('protoc-gen-ts_proto'),
        out: folder,
        opt: OPTIONS,
        include_imports: true,
        include_wkt: true,
      },
    ],
  };
  const made = spawnSync(bin('buf'), ['generate', '--template', JSON.stringify(template)], {
    cwd: proto,
    encoding: 'utf8',
  });
  if (made.status !== 0) throw new Error(`buf generate failed: ${made.stderr || made.error}`);
}

function filesOf(folder) {
  return readdirSync(folder, { recursive: true })
    .map(String)
    .filter((name) => statSync(join(folder, name)).isFile())
    .sort();
}

const temporary = mkdtempSync(join(tmpdir(), 'rehearsal-gen-'));
try {
  generateInto(temporary);
  if (process.argv.includes('--check')) {
    const made = filesOf(temporary);
    const committed = filesOf(gen);
    const differing = [...new Set([...made, ...committed])].filter(
      (name) =>
        !made.includes(name) ||
        !committed.includes(name) ||
        readFileSync(join(temporary, name), 'utf8') !== readFileSync(join(gen, name), 'utf8'),
    );
    if (differing.length > 0) {
      console.error(
        `protocol/gen is not what the generator makes (run npm run gen): ${differing.join(', ')}`,
      );
      process.exitCode = 1;
    } else {
      console.log(`protocol/gen is what the generator makes: ${made.length} files`);
    }
  } else {
    rmSync(gen, { recursive: true, force: true });
    cpSync(temporary, gen, { recursive: true });
    console.log(`generated ${filesOf(gen).length} files into ${relative(root, gen)}`);
  }
} finally {
  rmSync(temporary, { recursive: true, force: true });
}
