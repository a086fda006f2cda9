import {
  closeSync,
  constants,
  fdatasync,
  fdatasyncSync,
  fstatSync,
  openSync,
  statSync,
  unlinkSync,
  utimesSync,
  writeSync,
} from 'node:fs';
import { codeOf } from './spool-names.ts';

/**
 * A line that was written outlives the process at once, and the machine after this. Waiting for the disk before each dispatch
 * would make every request as slow as the disk.
 */
const SYNC_MS = 50;

/** A file that this process appends to, or has taken over and only reads. */
export interface SpoolFile {
  readonly path: string;
  readonly bytes: number;
  /** Throws when the disk refuses. Its last line may then be torn, so nothing may be appended after it. */
  append(line: string): void;
  /** False once another process has taken it over. */
  isOurs(): boolean;
  /** Shows others that its owner lives. */
  touch(): void;
  /** Nothing is appended any more; what was written reaches the disk as before. */
  close(): void;
  /** Waits for the disk. */
  flush(): void;
  remove(): void;
}

const CREATE = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | constants.O_EXCL;

export function createSpoolFile(path: string, failed: (error: unknown) => void): SpoolFile {
  const fd = openSync(path, CREATE, 0o600);
  const { ino } = fstatSync(fd);
  let bytes = 0;
  let isOpen = true;
  let isDirty = false;
  let isSyncing = false;
  let timer: NodeJS.Timeout | null = null;

  function scheduleSync(): void {
    if (timer !== null || isSyncing) return;
    if (!isDirty) {
      // Its number may be given to another file then, so nothing may use it any more.
      if (!isOpen) closeSync(fd);
      return;
    }
    timer = setTimeout(() => {
      timer = null;
      isDirty = false;
      isSyncing = true;
      fdatasync(fd, (error) => {
        isSyncing = false;
        if (error !== null) failed(error);
        if (isDirty || !isOpen) scheduleSync();
      });
    }, SYNC_MS);
    timer.unref();
  }

  function close(): void {
    if (!isOpen) return;
    isOpen = false;
    scheduleSync();
  }

  /** What is to be removed need not reach the disk. */
  function closeAtOnce(): void {
    const wasWaiting = timer !== null;
    if (timer !== null) clearTimeout(timer);
    timer = null;
    isDirty = false;
    if (isOpen) close();
    else if (wasWaiting) scheduleSync();
  }

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
      isDirty = true;
      scheduleSync();
    },
    isOurs: () => statSync(path, { throwIfNoEntry: false })?.ino === ino,
    touch: () => touchFile(path),
    close,
    flush() {
      if (isOpen && isDirty) fdatasyncSync(fd);
      isDirty = false;
    },
    remove() {
      closeAtOnce();
      removeFile(path);
    },
  };
}

/** Of another process, that is gone. */
export function openTakenFile(path: string): SpoolFile {
  const { size } = statSync(path);
  return {
    path,
    bytes: size,
    append() {
      throw new Error('a file that was taken over is not written');
    },
    isOurs: () => true,
    touch: () => touchFile(path),
    close: () => undefined,
    flush: () => undefined,
    remove: () => removeFile(path),
  };
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
