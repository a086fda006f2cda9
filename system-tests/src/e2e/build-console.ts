import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** What the console is built from. The lockfile stands for its packages. */
const INPUTS = ['console', 'contract/src', 'contract/package.json', 'package-lock.json'];
const BUILT = 'console/dist/index.html';
const RECORD = '.cache/console-built.txt';

/** Builds the console, unless the build that is there was made from the same files. */
export function buildConsole(root: string): void {
  const inputs = hashOf(root, INPUTS);
  if (recordOf(root) === `${inputs} ${builtMs(root)}`) {
    process.stdout.write('the console is built already\n');
    return;
  }
  const { status } = spawnSync('npm', ['run', '--silent', 'build:console'], { cwd: root, stdio: 'inherit' });
  if (status !== 0) throw new Error('the console could not be built');
  mkdirSync(dirname(join(root, RECORD)), { recursive: true });
  writeFileSync(join(root, RECORD), `${inputs} ${builtMs(root)}`);
}

function hashOf(root: string, paths: readonly string[]): string {
  const hash = createHash('sha256');
  for (const path of paths.flatMap((each) => filesBelow(root, each))) {
    hash.update(`${path}\0`);
    hash.update(readFileSync(join(root, path)));
  }
  return hash.digest('hex');
}

function filesBelow(root: string, path: string): string[] {
  if (!statSync(join(root, path)).isDirectory()) return [path];
  return readdirSync(join(root, path), { withFileTypes: true })
    .filter(({ name }) => name !== 'dist' && name !== 'node_modules')
    .sort((one, other) => (one.name < other.name ? -1 : 1))
    .flatMap(({ name }) => filesBelow(root, join(path, name)));
}

function recordOf(root: string): string | null {
  const record = join(root, RECORD);
  return existsSync(record) ? readFileSync(record, 'utf8') : null;
}

/** Changes with every build, also with those that write no record. */
function builtMs(root: string): number | null {
  return existsSync(join(root, BUILT)) ? statSync(join(root, BUILT)).mtimeMs : null;
}
