import { type FileHandle, mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../../../kit/clock.ts';
import { claimDirectory } from '../../../store/deployment/directory-mark.ts';
import { type DeploymentIdentity, foreignMessage } from '../../../store/deployment/identity.ts';
import type { LedgerSink, SinkPortion, UnfinishedPortion } from '../ledger-sink.ts';
import { usageLine } from '../usage-line.ts';

const BYTES_MAX = 64 * 1024 * 1024;
/**
 * A file being written grows continuously. After this long without growth, its writer died or its disk hangs.
 */
const ABANDONED_MS = 60_000;
/** Not `.jsonl`, so that a log shipper does not pick it up. */
const OPEN_SUFFIX = '.part';
const OPEN_FILE = /^usage-\d{8}T\d{9}Z-\d{6}-[0-9a-f]{8}\.jsonl\.part$/;

export interface UsageFilesDeps {
  readonly directory: string;
  /** 8 hexadecimal digits, so that no two processes write the same name. */
  readonly processTag: string;
  readonly clock: Clock;
  readonly bytesMax?: number;
}

/**
 * Newline-delimited JSON files. A file is written as `….jsonl.part`, synced, and renamed when its rows are committed, so a
 * `.jsonl` file is complete and never changes. The reader moves or deletes it.
 */
export function createUsageFiles(deps: UsageFilesDeps): LedgerSink {
  const { directory, clock, bytesMax = BYTES_MAX } = deps;
  const pathOf = (id: string) => join(directory, id);
  let serial = 0;
  let isMade = false;
  let own: DeploymentIdentity | null = null;

  /** Once only: a directory that disappears later may be a volume that is not mounted. */
  async function makeDirectory(): Promise<void> {
    if (!isMade) await mkdir(directory, { recursive: true, mode: 0o750 });
    isMade = true;
  }

  /** Another volume may be mounted by now. Its unfinished files would be discarded as unknown. */
  async function demandDirectory(): Promise<void> {
    await makeDirectory();
    const owner = own === null ? null : await claimDirectory(directory, own);
    if (own !== null && owner !== null) throw new Error(foreignMessage(directory, owner, own));
  }

  /** Sorts by time; the serial orders the files of one millisecond. */
  function nextId(): string {
    serial = (serial + 1) % 1_000_000;
    const time = new Date(clock.nowMs()).toISOString().replaceAll(/[-:.]/g, '');
    return `usage-${time}-${String(serial).padStart(6, '0')}-${deps.processTag}.jsonl`;
  }

  /** Empty for a file that was renamed or removed in the meantime. */
  async function describe(name: string): Promise<UnfinishedPortion[]> {
    const id = name.slice(0, -OPEN_SUFFIX.length);
    const stats = await stat(pathOf(name)).catch(ignoreMissing);
    if (stats === undefined) return [];
    const isOwn = id.includes(`-${deps.processTag}.`);
    return [{ id, isAbandoned: isOwn || clock.nowMs() - stats.mtimeMs > ABANDONED_MS }];
  }

  return {
    name: 'files',
    async claim(claimant) {
      own = claimant;
      await makeDirectory();
      return claimDirectory(directory, claimant);
    },
    async begin() {
      await demandDirectory();
      const id = nextId();
      const file = await open(pathOf(id + OPEN_SUFFIX), 'wx', 0o640);
      return createPortion(id, { file, directory, bytesMax });
    },
    async unfinished() {
      await demandDirectory();
      const names = (await readdir(directory)).filter((name) => OPEN_FILE.test(name));
      return (await Promise.all(names.map(describe))).flat();
    },
    async publish(id) {
      // Another process, or an earlier call, may have renamed it.
      await rename(pathOf(id + OPEN_SUFFIX), pathOf(id)).catch(ignoreMissing);
      await syncDirectory(directory);
    },
    discard: (id) => rm(pathOf(id + OPEN_SUFFIX), { force: true }),
    close: () => Promise.resolve(),
  };
}

interface OpenFile {
  readonly file: FileHandle;
  readonly directory: string;
  readonly bytesMax: number;
}

function createPortion(id: string, { file, directory, bytesMax }: OpenFile): SinkPortion {
  let bytes = 0;
  return {
    id,
    isFull: () => bytes >= bytesMax,
    async add(rows) {
      const lines = Buffer.from(rows.map((row) => `${usageLine(row)}\n`).join(''));
      await file.appendFile(lines);
      bytes += lines.length;
    },
    async seal() {
      await file.sync();
      // The name has to survive as well before the rows leave the outbox.
      await syncDirectory(directory);
    },
    close: () => file.close(),
  };
}

async function syncDirectory(directory: string): Promise<void> {
  const handle = await open(directory, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

function ignoreMissing(error: unknown): undefined {
  if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
  throw error;
}
