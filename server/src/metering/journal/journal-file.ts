import {
  closeSync,
  constants,
  fdatasync,
  fdatasyncSync,
  fstatSync,
  linkSync,
  openSync,
  statSync,
  unlinkSync,
  utimesSync,
  writeSync,
} from 'node:fs';
import { codeOf } from './journal-names.ts';

/**
 * A written line survives a killed process immediately and a power failure after this interval. Syncing before each dispatch
 * would make every request as slow as the disk.
 */
const SYNC_MS = 50;

/** A file that this process appends to, or one it took over and only reads. */
export interface JournalFile {
  readonly path: string;
  readonly bytes: number;
  /** Throws when the disk refuses. The last line may then be torn, so nothing may be appended after it. */
  append(line: string): void;
  /** False once another process has taken the file over. */
  isOurs(): boolean;
  /** Updates the modification time, by which other processes see that the owner lives. */
  touch(): void;
  /** Ends appending. Written lines are still synced. */
  close(): void;
  /** Syncs before it returns. */
  flush(): void;
  remove(): void;
}

const CREATE = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | constants.O_EXCL;

export function createJournalFile(path: string, failed: (error: unknown) => void): JournalFile {
  const fd = openSync(path, CREATE, 0o600);
  const { ino } = fstatSync(fd);
  const syncing = createSyncing(fd, failed);
  let bytes = 0;
  return {
    path,
    get bytes() {
      return bytes;
    },
    append(line) {
      const buffer = Buffer.from(line);
      let from = 0;
      while (from < buffer.length) {
        const written = writeSync(fd, buffer, from);
        from += written;
        bytes += written;
      }
      syncing.written();
    },
    isOurs: () => statSync(path, { throwIfNoEntry: false })?.ino === ino,
    touch: () => touchFile(path),
    close: syncing.close,
    flush: syncing.flush,
    remove() {
      syncing.abandon();
      removeFile(path);
    },
  };
}

/** Syncs a file in the background after writes, and closes it after the last sync. */
function createSyncing(fd: number, failed: (error: unknown) => void) {
  let isOpen = true;
  let isDirty = false;
  let isSyncing = false;
  let timer: NodeJS.Timeout | null = null;

  function schedule(): void {
    if (timer !== null || isSyncing) return;
    if (!isDirty) {
      // The system may reuse the descriptor from here on.
      if (!isOpen) closeSync(fd);
      return;
    }
    timer = setTimeout(sync, SYNC_MS);
    timer.unref();
  }

  function sync(): void {
    timer = null;
    isDirty = false;
    isSyncing = true;
    fdatasync(fd, (error) => {
      isSyncing = false;
      if (error !== null) failed(error);
      if (isDirty || !isOpen) schedule();
    });
  }

  function close(): void {
    if (!isOpen) return;
    isOpen = false;
    schedule();
  }

  return {
    written() {
      isDirty = true;
      schedule();
    },
    close,
    flush() {
      if (isOpen && isDirty) fdatasyncSync(fd);
      isDirty = false;
    },
    /** Closes without a sync: the file is about to be removed. */
    abandon() {
      const wasWaiting = timer !== null;
      if (timer !== null) clearTimeout(timer);
      timer = null;
      isDirty = false;
      if (isOpen) close();
      else if (wasWaiting) schedule();
    },
  };
}

/** A file of a process that is dead. */
export function openTakenFile(path: string): JournalFile {
  const { size } = statSync(path);
  return {
    path,
    bytes: size,
    append() {
      throw new Error('a file taken over from another process is read-only');
    },
    isOurs: () => true,
    touch: () => touchFile(path),
    close: () => undefined,
    flush: () => undefined,
    remove: () => removeFile(path),
  };
}

/** A second name of a file with lines that cannot be read: it stays when the file is removed, and is never delivered. */
export function keepDamaged(path: string): void {
  try {
    linkSync(path, `${path}.damaged`);
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error;
  }
}

function touchFile(path: string): void {
  const now = new Date();
  try {
    utimesSync(path, now, now);
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error;
  }
}

function removeFile(path: string): void {
  try {
    unlinkSync(path);
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error;
  }
}
