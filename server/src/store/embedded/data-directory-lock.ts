import { mkdir, open, rm, stat } from 'node:fs/promises';
import { connect, createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { systemClock } from '../../kit/clock.ts';
import { codeOf } from '../store-error.ts';

export interface DataDirectoryLock {
  release(): Promise<void>;
}

/** Another process uses the directory. */
export class DirectoryInUseError extends Error {
  override readonly name = 'DirectoryInUseError';
  constructor(directory: string, holder: string) {
    super(
      `The data directory ${directory} is in use by process ${holder}. Stop that process first, or use another directory.`,
    );
  }
}

const TRIES_MAX = 50;
const TRY_AGAIN_MS = 100;
const ANSWER_MS_MAX = 2_000;
/** A takeover takes milliseconds; one that is this old was interrupted. */
const TAKEOVER_MS_MAX = 10_000;

/**
 * Ensures that only one process uses the directory. The lock is a socket that the process listens on: the system closes it
 * when the process ends, it is visible to other containers that share the directory, and it reports its holder.
 */
export async function lockDataDirectory(directory: string): Promise<DataDirectoryLock> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  // A socket address has at most about a hundred bytes; the path through a descriptor is short for any directory.
  const folder = await open(directory, 'r');
  const near = process.platform === 'linux' ? `/proc/self/fd/${folder.fd}` : directory;
  const socket = join(near, 'lock');
  const takeover = join(directory, 'lock.takeover');
  try {
    for (let tries = 1; tries <= TRIES_MAX; tries += 1) {
      const server = await listenOn(socket);
      if (server !== null) {
        return {
          async release() {
            await new Promise((resolve) => server.close(resolve));
            await folder.close();
          },
        };
      }
      const holder = await askHolder(socket);
      if (holder !== null) throw new DirectoryInUseError(directory, holder);
      await removeStale(socket, takeover);
    }
    throw new DirectoryInUseError(directory, 'unknown');
  } catch (error) {
    await folder.close();
    throw error;
  }
}

/** Null: the socket exists already. */
function listenOn(socket: string): Promise<Server | null> {
  const server = createServer((client) => {
    client.on('error', () => undefined);
    client.end(String(process.pid));
  });
  server.unref();
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EADDRINUSE') resolve(null);
      else reject(new Error(`can’t create a lock in the data directory: ${error.message}`, { cause: error }));
    });
    server.listen(socket, () => resolve(server));
  });
}

/** The id of the listening process; null when there is none. */
function askHolder(socket: string): Promise<string | null> {
  return new Promise((resolve) => {
    let told = '';
    const client = connect(socket);
    client.setTimeout(ANSWER_MS_MAX, () => client.destroy());
    client.on('connect', () => client.once('close', () => resolve(told || 'unknown')));
    client.on('data', (chunk) => {
      told += chunk.toString();
    });
    client.on('error', () => resolve(null));
  });
}

/** One process at a time, and only a socket that is still stale: a later one would remove the socket of an earlier one. */
async function removeStale(socket: string, takeover: string): Promise<void> {
  try {
    await (await open(takeover, 'wx')).close();
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error;
    const begun = await stat(takeover).catch(() => undefined);
    if (begun !== undefined && systemClock.nowMs() - begun.mtimeMs > TAKEOVER_MS_MAX)
      await rm(takeover, { force: true });
    await pause(TRY_AGAIN_MS);
    return;
  }
  try {
    if ((await askHolder(socket)) === null) await rm(socket, { force: true });
  } finally {
    await rm(takeover, { force: true });
  }
}
