import { accessSync, close, constants, fsync, mkdirSync, open, renameSync } from 'node:fs';
import { join } from 'node:path';
import type { Clock } from '../../kit/clock.ts';
import type { Log } from '../../kit/log.ts';
import { createThrottle } from '../../kit/throttle.ts';
import { createJournalFile, type JournalFile, openTakenFile } from './journal-file.ts';
import { abandonedFiles, codeOf, type JournalOwner, nameOf, parseName } from './journal-names.ts';

/** Small enough to read into memory, and for a long outage to free its disk space step by step. */
const FILE_BYTES_MAX = 4 * 1024 * 1024;

/** A file of the journal, and what still has to be delivered from it. */
export interface HeldFile {
  readonly file: JournalFile;
  /** Files are delivered in the order of their age. */
  readonly createdMs: number;
  /** Left by a dead process: the drafts in it have no owner that could settle them. */
  readonly taken: boolean;
  /** Numbers of the lines that were delivered. */
  readonly done: Set<number>;
  /** Lines that have to be delivered. At least 1 for a file that was taken over and not read yet. */
  waiting: number;
  /** Requests in flight whose draft is in this file. */
  drafts: number;
}

/** The files of one process, in a directory that it may share with others. */
export interface JournalFiles {
  /** Oldest first. */
  held(): readonly HeldFile[];
  bytes(): number;
  /** Appends a line and returns its file; null when the disk refuses. */
  write(line: string): HeldFile | null;
  /** Removes a file from the disk. */
  release(held: HeldFile): void;
  /** Drops a file from the list: another process has it, or it cannot be read. */
  forget(held: HeldFile): void;
  /** Takes over the files of dead processes. */
  adopt(): void;
  /** Shows other processes that this one lives. */
  touch(): void;
  close(): void;
}

export interface JournalFilesDeps {
  readonly directory: string;
  readonly owner: JournalOwner;
  /** The caller ensures that no other process uses the directory. */
  readonly isAlone: boolean;
  readonly clock: Clock;
  readonly log: Log;
}

export function createJournalFiles(deps: JournalFilesDeps): JournalFiles {
  const { failed, attempt } = createFailureLog(deps);
  const directory = createDirectory(deps);
  let held: HeldFile[] = [];
  let active: HeldFile | null = null;

  function current(): HeldFile {
    if (active !== null && !active.file.isOurs()) forget(active);
    if (active !== null && active.file.bytes >= FILE_BYTES_MAX) seal();
    if (active !== null) return active;
    active = directory.create(failed);
    held.push(active);
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
    attempt(() => done.file.remove());
    forget(done);
  }

  function write(line: string): HeldFile | null {
    try {
      const into = current();
      into.file.append(line);
      return into;
    } catch (error) {
      failed(error);
      // A torn line stays the last of its file.
      if (active?.file.bytes === 0) release(active);
      else seal();
      return null;
    }
  }

  return {
    held: () => held,
    bytes: () => held.reduce((sum, { file }) => sum + file.bytes, 0),
    write,
    release,
    forget,
    adopt: () =>
      attempt(() => {
        directory.takeAbandoned((taken) => held.push(taken));
        held.sort((a, b) => a.createdMs - b.createdMs);
      }),
    touch: () =>
      attempt(() => {
        for (const { file } of held) file.touch();
      }),
    close() {
      attempt(() => active?.file.flush());
      seal();
    },
  };
}

function createFailureLog({ directory, clock, log }: JournalFilesDeps) {
  const mayLog = createThrottle(clock);

  function failed(error: unknown): void {
    if (mayLog()) log.error({ err: error, directory }, 'cannot use the spool directory');
  }

  function attempt(action: () => void): void {
    try {
      action();
    } catch (error) {
      failed(error);
    }
  }

  return { failed, attempt };
}

function createDirectory({ directory, owner, isAlone, clock, log }: JournalFilesDeps) {
  let serial = 0;

  /** The name keeps the age of the file, and no other process uses it. */
  function nextPath(createdMs: number): string {
    serial += 1;
    return join(directory, nameOf({ ...owner, createdMs, serial }));
  }

  function take(name: string): HeldFile | null {
    const createdMs = parseName(name)?.createdMs ?? 0;
    const path = nextPath(createdMs);
    try {
      // When several processes try, one rename succeeds and the others do not find the file.
      renameSync(join(directory, name), path);
    } catch (error) {
      if (codeOf(error) === 'ENOENT') return null;
      throw error;
    }
    const file = openTakenFile(path);
    log.warn({ bytes: file.bytes }, 'taking over usage that another process left in the spool');
    return { file, createdMs, taken: true, done: new Set(), waiting: 1, drafts: 0 };
  }

  return {
    create(failed: (error: unknown) => void): HeldFile {
      const createdMs = clock.nowMs();
      mkdirSync(directory, { recursive: true, mode: 0o700 });
      const file = createJournalFile(nextPath(createdMs), failed);
      syncDirectory(directory);
      return { file, createdMs, taken: false, done: new Set(), waiting: 0, drafts: 0 };
    },
    /** Reports files one at a time, so that a failure does not lose track of those renamed before it. */
    takeAbandoned(taken: (file: HeldFile) => void): void {
      mkdirSync(directory, { recursive: true, mode: 0o700 });
      accessSync(directory, constants.W_OK);
      for (const name of abandonedFiles(directory, { ...owner, isAlone }, clock.nowMs())) {
        const file = take(name);
        if (file !== null) taken(file);
      }
    },
  };
}

/** Without it a power failure may lose the name of a file whose lines are synced. */
function syncDirectory(directory: string): void {
  // Some systems cannot open a directory; they need no sync.
  open(directory, 'r', (failed, fd) => {
    if (failed === null) fsync(fd, () => close(fd, () => undefined));
  });
}
