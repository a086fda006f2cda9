import { execFileSync } from 'node:child_process';
import { closeSync, existsSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';

/** A file system of its own below a directory, which can be filled to the last byte. */
export interface SmallDisk {
  fill(): void;
  free(): void;
}

const MOUNTS = '/proc/self/mounts';
const PIECE = Buffer.alloc(65_536);

/** Needs root, or sudo without a password: a full disk that is only pretended would prove nothing. */
export function mountSmallDisk(
  directory: string,
  megabytes: number,
  owner: { readonly uid: number; readonly gid: number } = {
    uid: process.getuid?.() ?? 0,
    gid: process.getgid?.() ?? 0,
  },
): SmallDisk {
  const options = `size=${megabytes}m,mode=0700,uid=${owner.uid},gid=${owner.gid}`;
  asRoot('mount', ['-t', 'tmpfs', '-o', options, 'tmpfs', directory]);
  const ballast = join(directory, 'ballast');
  return {
    fill: () => writeUntilFull(ballast),
    free: () => rmSync(ballast, { force: true }),
  };
}

/** Does nothing for a directory without a file system of its own. */
export function unmountSmallDisk(directory: string): void {
  if (!existsSync(MOUNTS) || !readFileSync(MOUNTS, 'utf8').includes(` ${directory} `)) return;
  // Lazily: a server that was killed just now may still hold its files.
  asRoot('umount', ['--lazy', directory]);
}

function asRoot(command: string, args: readonly string[]): void {
  const isRoot = process.getuid?.() === 0;
  const [program, ...all] = isRoot ? [command, ...args] : ['sudo', '-n', command, ...args];
  try {
    execFileSync(program ?? command, all, { stdio: ['ignore', 'ignore', 'pipe'] });
  } catch (error) {
    throw new Error(
      'A full disk needs its own file system: run as root, or as a user who can use sudo without a password.',
      { cause: error },
    );
  }
}

function writeUntilFull(path: string): void {
  const file = openSync(path, 'a');
  try {
    for (let size = PIECE.length; size >= 1; ) {
      try {
        writeSync(file, PIECE, 0, size);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
        size = Math.floor(size / 2);
      }
    }
  } finally {
    closeSync(file);
  }
}
