import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Until there is a release: the last commit with the first format of live state. */
const COMMIT = 'b71b826';
const ROOT = join(import.meta.dirname, '../../..');
const MEMBERS = '@relay';

export interface PreviousVersion {
  /** Its command, as `startRelay` takes it. */
  readonly entry: string;
  remove(): void;
}

/**
 * The previous version from the repository's own history. It runs on the packages that are installed here, which takes a second instead of a second
 * installation; its own members are its own.
 */
export function checkOutPreviousVersion(): PreviousVersion {
  const tree = mkdtempSync(join(tmpdir(), 'relay-previous-'));
  const archive = join(tree, 'tree.tar');
  try {
    execFileSync('git', ['archive', '--output', archive, COMMIT], { cwd: ROOT, stdio: 'pipe' });
  } catch (error) {
    rmSync(tree, { recursive: true, force: true });
    throw new Error(`this suite needs commit ${COMMIT}: clone the repository with its history`, {
      cause: error,
    });
  }
  execFileSync('tar', ['--extract', '--file', archive], { cwd: tree });
  linkPackages(join(ROOT, 'node_modules'), join(tree, 'node_modules'));
  mkdirSync(join(tree, 'node_modules', MEMBERS));
  for (const member of readdirSync(tree)) {
    if (!existsSync(join(tree, member, 'package.json'))) continue;
    symlinkSync(join(tree, member), join(tree, 'node_modules', MEMBERS, member));
    const own = join(ROOT, member, 'node_modules');
    if (existsSync(own)) linkPackages(own, join(tree, member, 'node_modules'));
  }
  return {
    entry: join(tree, 'cli/bin/relay.js'),
    remove: () => rmSync(tree, { recursive: true, force: true }),
  };
}

function linkPackages(from: string, to: string): void {
  mkdirSync(to);
  for (const name of readdirSync(from)) if (name !== MEMBERS) symlinkSync(join(from, name), join(to, name));
}
