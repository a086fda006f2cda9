import { randomInt } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isAlive } from './is-alive.ts';

/**
 * Below the ephemeral range, so that no outgoing connection or listener on "any port" takes it between the check and its
 * use. Port + 10000, which nodes of a Redis cluster use among themselves, is below that range and free too.
 */
const PORT_MIN = 12_000;
const PORT_MAX = 22_000;
const TRIES_MAX = 100;

/** A file for each port that a test process has been given, with the process's ID in it. Suites run side by side. */
const GIVEN = join(tmpdir(), 'relay-tests-ports');
const own = new Set<string>();
process.once('exit', () => {
  for (const file of own) rmSync(file, { force: true });
});

/** A port of the loopback address that nothing listened on a moment ago, and that no other test process gets while this one runs. */
export async function freePort(): Promise<number> {
  mkdirSync(GIVEN, { recursive: true });
  for (let tries = 0; tries < TRIES_MAX; tries += 1) {
    const port = randomInt(PORT_MIN, PORT_MAX);
    if (take(port) && (await isFree(port))) return port;
  }
  throw new Error(`no free port was found between ${PORT_MIN} and ${PORT_MAX}`);
}

function take(port: number): boolean {
  const file = join(GIVEN, String(port));
  try {
    writeFileSync(file, String(process.pid), { flag: 'wx' });
  } catch {
    if (!isAbandoned(file)) return false;
    rmSync(file, { force: true });
    return take(port);
  }
  own.add(file);
  return true;
}

function isAbandoned(file: string): boolean {
  try {
    return !isAlive(Number(readFileSync(file, 'utf8')));
  } catch {
    // Its process has ended this moment.
    return true;
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}
