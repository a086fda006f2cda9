import { existsSync } from 'node:fs';

/** Where Debian's package `faketime` puts it. */
const FOLDERS = ['x86_64', 'aarch64'].map((machine) => `${machine}-linux-gnu`);

/**
 * The environment of a process whose clock is off by an offset such as `+3d`. Its monotonic clock is right, as that of a machine with a
 * wrong clock is.
 */
export function fakeClock(offset: string): Record<string, string> {
  const folder = FOLDERS.find((each) => existsSync(libraryIn(each)));
  if (folder === undefined) throw new Error('libfaketime is missing: install the package faketime');
  return {
    // The C library's own allocator: that of Redis asks for the time before libfaketime is ready, and the two wait for each other.
    LD_PRELOAD: `${libraryIn(folder)} /lib/${folder}/libc.so.6`,
    FAKETIME: offset,
    FAKETIME_DONT_FAKE_MONOTONIC: '1',
  };
}

function libraryIn(folder: string): string {
  return `/usr/lib/${folder}/faketime/libfaketime.so.1`;
}
