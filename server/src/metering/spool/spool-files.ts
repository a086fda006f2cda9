import { accessSync, close, constants, fsync, mkdirSync, open, renameSync } from 'node:fs';
import { join } from 'node:path';
import type { Clock } from '../../kit/clock.ts';
import type { Log } from '../../kit/log.ts';
import { createSpoolFile, openTakenFile, type SpoolFile } from './spool-file.ts';
import { abandonedFiles, codeOf, nameOf, parseName, type SpoolOwner } from './spool-names.ts';

/** Small enough to be read at once, and so that a long outage gives back its room piece by piece. */
const FILE_BYTES_MAX = 4 * 1024 * 1024;
const SAY_EVERY_MS = 10_000;

/** A file of the spool, and what is still to be done with it. */
export interface HeldFile {
  readonly file: SpoolFile;
  /** For the order of age. */
  readonly createdMs: number;
  /** Of another process, that is gone: nobody is going to end its drafts. */
  readonly taken: boolean;
  /** Numbers of the lines that have arrived. */
  readonly done: Set<number>;
  /** Lines that have to be brought; of a file that was taken over at least one, until it is read. */
  waiting: number;
  /** Requests under way whose draft is in it. */
  drafts: number;
}

/** The files of one process in the directory that it may share with others. */
export interface SpoolFiles {
  /** Oldest first. */
  held(): readonly HeldFile[];
  bytes(): number;
  /** Appends a line and answers where; null when the disk does not take it. */
  write(line: string): HeldFile | null;
  /** Removes a file in which nothing is left to do. */
  release(held: HeldFile): void;
  /** It is no longer ours, or cannot be read. */
  forget(held: HeldFile): void;
  /** Takes over what processes have left that are gone. */
  adopt(): void;
  /** Shows others that this process lives. */
  touch(): void;
  close(): void;
}

export function createSpoolFiles(deps: {
  readonly directory: string;
  readonly owner: SpoolOwner;
  /** Somebody sees to it that no other process has the directory. */
  readonly isAlone?: boolean;
  readonly clock: Clock;
  readonly log: Log;
}): SpoolFiles {
  const { directory, owner, isAlone = false, clock, log } = deps;
  let held: HeldFile[] = [];
  let active: HeldFile | null = null;
  let serial = 0;
  let saidMs = Number.NEGATIVE_INFINITY;

  function trouble(error: unknown): void {
    const nowMs = clock.monotonicMs();
    if (nowMs - saidMs < SAY_EVERY_MS) return;
    saidMs = nowMs;
    log.error({ err: error, directory }, 'the spool for usage cannot be used');
  }

  /** Its name keeps the age, and is ours alone. */
  function nextPath(createdMs: number): string {
    serial += 1;
    return join(directory, nameOf({ ...owner, createdMs, serial }));
  }

  function current(): HeldFile {
    if (active !== null && !active.file.isOurs()) forget(active);
    if (active !== null && active.file.bytes >= FILE_BYTES_MAX) seal();
    if (active !== null) return active;
    const createdMs = clock.nowMs();
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    const file = createSpoolFile(nextPath(createdMs), trouble);
    active = { file, createdMs, taken: false, done: new Set(), waiting: 0, drafts: 0 };
    held.push(active);
    syncDirectory(directory);
    return active;
  }

  function seal(): void {
    active?.file.close();
    active = null;
  }

  function forget(gone: HeldFile): void {
    if (gone === active) seal();
    held = held.filter((each) => each !== gone);
  }

  function release(done: HeldFile): void {
    try {
      done.file.remove();
    } catch (error) {
      trouble(error);
    }
    forget(done);
  }

  function adoptOne(name: string): void {
    const createdMs = parseName(name)?.createdMs ?? 0;
    const path = nextPath(createdMs);
    try {
      // Of several that want it one succeeds, and the others do not find it any more.
      renameSync(join(directory, name), path);
    } catch (error) {
      if (codeOf(error) === 'ENOENT') return;
      throw error;
    }
    const file = openTakenFile(path);
    held.push({ file, createdMs, taken: true, done: new Set(), waiting: 1, drafts: 0 });
    log.warn({ bytes: file.bytes }, 'usage that another process has left is taken over');
  }

  return {
    held: () => held,
    bytes: () => held.reduce((sum, { file }) => sum + file.bytes, 0),
    write(line) {
      try {
        const held = current();
        held.file.append(line);
        return held;
      } catch (error) {
        trouble(error);
        // Whatever was written of the line stays the last of its file.
        if (active?.file.bytes === 0) release(active);
        else seal();
        return null;
      }
    },
    release,
    forget,
    adopt() {
      try {
        mkdirSync(directory, { recursive: true, mode: 0o700 });
        accessSync(directory, constants.W_OK);
        for (const name of abandonedFiles(directory, { ...owner, isAlone }, clock.nowMs())) adoptOne(name);
        held.sort((a, b) => a.createdMs - b.createdMs);
      } catch (error) {
        trouble(error);
      }
    },
    touch() {
      try {
        for (const { file } of held) file.touch();
      } catch (error) {
        trouble(error);
      }
    },
    close() {
      try {
        active?.file.flush();
      } catch (error) {
        trouble(error);
      }
      seal();
    },
  };
}

/** Without it a machine that loses its power may forget the name of a file whose lines have reached the disk. */
function syncDirectory(directory: string): void {
  // Not every system can; where it cannot there is nothing to do.
  open(directory, 'r', (failed, fd) => {
    if (failed === null) fsync(fd, () => close(fd, () => undefined));
  });
}
