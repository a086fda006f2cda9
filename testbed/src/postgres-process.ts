import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import pg from 'pg';
import { type ChildServer, type RunAs, startChild, waitUntilServing } from './child-server.ts';

export interface PostgresPlace {
  /** The data directory. */
  readonly data: string;
  /** Working directory and place of the socket. */
  readonly directory: string;
  readonly port: number;
  readonly runAs: RunAs | undefined;
}

export function postgresUrl({ port }: Pick<PostgresPlace, 'port'>): string {
  return `postgres://postgres@127.0.0.1:${port}/postgres`;
}

/** Starts a server on a data directory and waits until it accepts connections. */
export async function launchPostgres(
  place: PostgresPlace,
  more: Readonly<Record<string, string>> = {},
): Promise<ChildServer> {
  const { data, directory, port, runAs } = place;
  const settings = {
    port,
    listen_addresses: '127.0.0.1',
    unix_socket_directories: directory,
    fsync: 'off',
    full_page_writes: 'off',
    // Tests look for statements by their text, and the usual kilobyte cuts long ones off.
    track_activity_query_size: 16_384,
    ...more,
  };
  const args = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const child = startChild(findBinary('postgres'), ['-D', data, ...args], {
    cwd: directory,
    ...(runAs ? { runAs } : {}),
  });
  try {
    await waitUntilServing(child, 'PostgreSQL', () => connectOnce(postgresUrl(place)));
  } catch (error) {
    child.signal('SIGKILL');
    throw error;
  }
  return child;
}

async function connectOnce(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 1_000 });
  client.on('error', () => undefined);
  await client.connect();
  await client.end();
}

/** PostgreSQL refuses to run as root; its own account then owns the files. */
export function serverUser(): RunAs | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const id = (flag: string) => Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }));
  return { uid: id('-u'), gid: id('-g') };
}

/** RELAY_PG_BIN names the folder of the version to test on; by default it is the newest that is installed. */
export function findBinary(name: string): string {
  const root = '/usr/lib/postgresql';
  const named = process.env['RELAY_PG_BIN'];
  const versions = existsSync(root) ? readdirSync(root).sort((a, b) => Number(b) - Number(a)) : [];
  const places = [
    ...(named ? [named] : []),
    ...versions.map((version) => join(root, version, 'bin')),
    ...(process.env['PATH'] ?? '').split(delimiter),
  ];
  const found = places.map((place) => join(place, name)).find((path) => existsSync(path));
  if (found === undefined) throw new Error(`PostgreSQL's ${name} is neither in ${root}/*/bin nor in PATH.`);
  return found;
}
