import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { redisCall } from '@relay/testbed';
import pg from 'pg';
import type { Site } from './site.ts';
import { dumpRedis } from './watched-redis.ts';

/** Somewhere to look. */
export interface Place {
  readonly name: string;
  /** Read when it is looked at: a database is large. */
  bytes(): Buffer;
}

const DUMP_BYTES_MAX = 512 * 1024 * 1024;

/** Whatever the processes have written: to their output, and how they were called. */
export function processPlaces(site: Site): Place[] {
  return site.processes.flatMap(({ name, pid, outputs }) => [
    ...outputs.map((path) => ({ name: `output of ${name}`, bytes: () => readFileSync(path) })),
    { name: `command line of ${name}`, bytes: () => readFileSync(`/proc/${pid}/cmdline`) },
  ]);
}

/** All files below a directory, by their own names. */
export function filePlaces(what: string, directory: string): Place[] {
  return readdirSync(directory, { recursive: true, encoding: 'utf8' })
    .map((name) => join(directory, name))
    .filter((path) => statSync(path, { throwIfNoEntry: false })?.isFile() === true)
    .map((path) => ({ name: `${what} ${path.slice(directory.length)}`, bytes: () => readFileSync(path) }));
}

/** Every key, every command that was ever sent, and the files on disk. */
export async function redisPlaces(site: Site): Promise<Place[]> {
  const { port } = site.redis;
  await redisCall(port, 'SAVE');
  const keys = (await dumpRedis(port)).map(({ key, bytes }) => ({
    name: `Redis key ${key}`,
    bytes: () => bytes,
  }));
  const [, directory] = (await redisCall(port, 'CONFIG', 'GET', 'dir')) as [string, string];
  const commands = { name: 'commands sent to Redis', bytes: () => site.watch.seen() };
  return [...keys, commands, ...filePlaces('Redis file', directory)];
}

/** The whole database as text, and the files it is kept in, among them what was written ahead. */
export async function postgresPlaces({ postgres }: Site): Promise<Place[]> {
  const client = new pg.Client({ connectionString: postgres.url });
  await client.connect();
  await client.query('checkpoint');
  const { rows } = await client.query<{ data_directory: string }>('show data_directory');
  await client.end();
  const dump = execFileSync(findBinary('pg_dump'), ['--dbname', postgres.url], { maxBuffer: DUMP_BYTES_MAX });
  return [
    { name: 'pg_dump', bytes: () => dump },
    ...filePlaces('PostgreSQL file', rows[0]?.data_directory ?? ''),
  ];
}

function findBinary(name: string): string {
  const root = '/usr/lib/postgresql';
  const versions = existsSync(root) ? readdirSync(root).sort((a, b) => Number(b) - Number(a)) : [];
  const places = [
    ...versions.map((version) => join(root, version, 'bin')),
    ...(process.env['PATH'] ?? '').split(delimiter),
  ];
  const found = places.map((place) => join(place, name)).find((path) => existsSync(path));
  if (found === undefined) throw new Error(`${name} of PostgreSQL is neither in ${root}/*/bin nor in PATH.`);
  return found;
}
