import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

/** Another checkout of the repository, with its dependencies. */
export interface Checkout {
  readonly root: string;
  remove(): void;
}

/** A directory of the user's, which stays. */
export function checkoutAt(directory: string): Checkout {
  const root = resolve(directory);
  for (const path of ['cli/bin/relay.js', 'node_modules'])
    if (!existsSync(join(root, path))) throw new Error(`--against: ${root} has no ${path}`);
  return { root, remove: () => undefined };
}

/** A worktree of a commit in a temporary directory, with the dependencies of this checkout. */
export function checkoutOf(home: string, commit: string): Checkout {
  const directory = mkdtempSync(join(tmpdir(), 'relay-bench-'));
  const root = join(directory, 'checkout');
  const git = (...args: readonly string[]) => execFileSync('git', ['-C', home, ...args], { stdio: 'pipe' });
  let removed = false;
  const remove = () => {
    if (removed) return;
    removed = true;
    process.off('exit', remove);
    if (existsSync(root)) git('worktree', 'remove', '--force', root);
    rmSync(directory, { recursive: true, force: true });
  };
  process.once('exit', remove);
  try {
    git('worktree', 'add', '--detach', root, commit);
    linkDependencies(home, root);
  } catch (error) {
    remove();
    throw new Error(
      `there is no worktree of ${commit} to compare with: is it in this clone? --help says how to name another`,
      {
        cause: error,
      },
    );
  }
  return { root, remove };
}

/** Links packages one by one, because the packages of the repository itself have to be those of the other checkout. */
export function linkDependencies(home: string, root: string): void {
  const modules = join(root, 'node_modules');
  mkdirSync(join(modules, '@relay'), { recursive: true });
  for (const name of readdirSync(join(home, 'node_modules')))
    if (name !== '@relay') symlinkSync(join(home, 'node_modules', name), join(modules, name));
  for (const name of readdirSync(join(home, 'node_modules/@relay')))
    if (existsSync(join(root, name))) symlinkSync(join(root, name), join(modules, '@relay', name));
  for (const name of readdirSync(root)) {
    const own = join(home, name, 'node_modules');
    if (name !== 'node_modules' && existsSync(own)) symlinkSync(own, join(root, name, 'node_modules'));
  }
}
