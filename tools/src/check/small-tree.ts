import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

const REPOSITORY = join(import.meta.dirname, '../../..');

/** A tree of a few files, for a check that needs no more than these to refuse what a test plants. */
export interface SmallTree extends Disposable {
  readonly root: string;
  write(path: string, text: string): void;
}

/** `linked` are files and folders of the repository, as they are. */
export function smallTree(
  files: Readonly<Record<string, string>>,
  linked: readonly string[] = [],
): SmallTree {
  const root = mkdtempSync(join(realpathSync(tmpdir()), 'relay-tree-'));
  const write = (path: string, text: string): void => {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  };
  for (const path of linked) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    symlinkSync(join(REPOSITORY, path), join(root, path));
  }
  for (const [path, text] of Object.entries(files)) write(path, text);
  return { root, write, [Symbol.dispose]: () => rmSync(root, { recursive: true, force: true }) };
}
