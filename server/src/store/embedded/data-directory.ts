import { existsSync } from 'node:fs';
import { mkdir, open, readdir, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/** How many files are forced to the disk at one time. */
const SYNCED_AT_ONCE = 32;

/**
 * Opens the database of that directory, making it on first use. A process that is killed while it makes one leaves a part,
 * which nothing could open: the mark beside it says that nobody has ever used it, so that it may be thrown away.
 */
export async function createDataDirectory(
  directory: string,
  openDatabase: () => Promise<void>,
): Promise<void> {
  const mark = `${directory}.creating`;
  const isNew = existsSync(mark) || !existsSync(join(directory, 'PG_VERSION'));
  if (!isNew) return openDatabase();
  await refuseForeignFiles(directory, mark);
  await (await open(mark, 'w', 0o600)).close();
  await rm(directory, { recursive: true, force: true });
  await mkdir(directory, { mode: 0o700 });
  await openDatabase();
  await syncTree(directory);
  await rm(mark);
  await syncPath(dirname(directory));
}

async function refuseForeignFiles(directory: string, mark: string): Promise<void> {
  if (existsSync(mark) || !existsSync(directory)) return;
  if ((await readdir(directory)).length > 0)
    throw new Error(
      `${directory} holds something that is not a database; move it away or choose another directory`,
    );
}

/** What was copied while the database was made has only been handed to the operating system. */
async function syncTree(directory: string): Promise<void> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  const paths = entries
    .filter((entry) => entry.isFile() || entry.isDirectory())
    .map((entry) => join(entry.parentPath, entry.name));
  for (let at = 0; at < paths.length; at += SYNCED_AT_ONCE)
    await Promise.all(paths.slice(at, at + SYNCED_AT_ONCE).map(syncPath));
  await syncPath(directory);
}

async function syncPath(path: string): Promise<void> {
  const file = await open(path, 'r').catch((error: NodeJS.ErrnoException) => {
    // The database is open and may have removed what it no longer needs.
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  try {
    await file?.sync();
  } finally {
    await file?.close();
  }
}
