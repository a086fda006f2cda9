import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { listFiles } from './source-files.ts';

const REPOSITORY = join(import.meta.dirname, '../../..');

/** A copy of the repository in which a test plants what must fail. */
export interface PlantedCopy extends Disposable {
  readonly root: string;
  read(path: string): string;
  write(path: string, text: string): void;
}

export function plantedCopy(): PlantedCopy {
  const root = mkdtempSync(join(realpathSync(tmpdir()), 'relay-check-'));
  for (const path of listFiles(REPOSITORY)) cpSync(join(REPOSITORY, path), join(root, path));
  linkPackages(join(REPOSITORY, 'node_modules'), join(root, 'node_modules'));
  for (const member of readdirSync(join(root, 'node_modules/@relay'))) {
    const own = join(REPOSITORY, member, 'node_modules');
    if (listFolders(own).length > 0) symlinkSync(own, join(root, member, 'node_modules'));
  }
  copyBuildInfo(join(REPOSITORY, '.cache'), join(root, '.cache'));
  return {
    root,
    read: (path) => readFileSync(join(root, path), 'utf8'),
    write: (path, text) => {
      mkdirSync(dirname(join(root, path)), { recursive: true });
      writeFileSync(join(root, path), text);
    },
    [Symbol.dispose]: () => rmSync(root, { recursive: true, force: true }),
  };
}

/**
 * Links every installed package one by one. One link for the whole folder would not do: the members are
 * linked there by relative paths, and the copy would load the members of the original.
 */
function linkPackages(from: string, to: string): void {
  mkdirSync(to);
  for (const name of listFolders(from)) {
    if (name === '@relay') {
      mkdirSync(join(to, name));
      for (const member of readdirSync(join(from, name))) {
        symlinkSync(readlinkSync(join(from, name, member)), join(to, name, member));
      }
    } else if (name !== '.bin') {
      symlinkSync(join(from, name), join(to, name));
    }
  }
}

/** What the compiler knows of the unchanged files, so that it compiles only what a test plants. */
function copyBuildInfo(from: string, to: string): void {
  for (const name of listFolders(from).filter((one) => one.includes('tsbuildinfo'))) {
    mkdirSync(to, { recursive: true });
    cpSync(join(from, name), join(to, name));
  }
}

function listFolders(path: string): string[] {
  try {
    return readdirSync(path);
  } catch {
    return [];
  }
}
