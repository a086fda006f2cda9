import { existsSync } from 'node:fs';
import { mkdir, open, readdir, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/** How many files are synced concurrently. */
const SYNCED_AT_ONCE = 32;

/**
 * Opens the directory's database and creates it on first use. A process killed during creation leaves an unusable part; the
 * mark beside it says that it was never used and may be removed.
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
      `${directory} contains files that are not a database; move them elsewhere, or choose another directory`,
    );
}

/** Files copied during creation have only been handed to the operating system. */
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
    // The open database may have removed files it no longer needs.
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  try {
    await file?.sync();
  } finally {
    await file?.close();
  }
}
