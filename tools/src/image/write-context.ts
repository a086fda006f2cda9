import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildPackage } from '../build/build-package.ts';
import { runCommand } from '../check/run-command.ts';
import { type Lockfile, lockedPackage, type Manifest } from './locked-package.ts';

/** Only `relay start` uses the embedded database, and it would be a third of what is installed. */
const LEFT_OUT = '@electric-sql/pglite';

/** Writes all that the image is built from into the directory, which is emptied first. */
export async function writeContext(root: string, directory: string): Promise<void> {
  rmSync(directory, { recursive: true, force: true });
  mkdirSync(directory, { recursive: true });
  copyFileSync(join(root, 'deploy/Dockerfile'), join(directory, 'Dockerfile'));
  copyFileSync(join(root, 'deploy/image/collect-root.sh'), join(directory, 'collect-root.sh'));
  await buildPackage(root, join(directory, 'package'));
  const { ok, stdout, output } = await runCommand('npm', ['config', 'get', 'registry'], root);
  if (!ok) throw new Error(`npm did not report its registry\n${output}`);
  lockPackage(root, join(directory, 'package'), stdout.trim());
}

function lockPackage(root: string, directory: string, registry: string): void {
  const file = join(directory, 'package.json');
  const published = readJson<Manifest>(file);
  const { [LEFT_OUT]: _embedded, ...dependencies } = published.dependencies;
  const manifest = { ...published, dependencies };
  const lock = lockedPackage(readJson<Lockfile>(join(root, 'package-lock.json')), manifest, registry);
  writeFileSync(file, `${JSON.stringify(manifest, null, 2)}\n`);
  writeFileSync(join(directory, 'package-lock.json'), `${JSON.stringify(lock, null, 2)}\n`);
}

function readJson<T>(file: string): T {
  return JSON.parse(readFileSync(file, 'utf8')) as T;
}
