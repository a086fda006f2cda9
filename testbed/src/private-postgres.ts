import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chownSync, existsSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import pg from 'pg';
import {
  type ChildOptions,
  type ChildServer,
  makeDirectory,
  type RunAs,
  removeDirectory,
  startChild,
  waitUntilServing,
} from './child-server.ts';
import { freePort } from './free-port.ts';
import { mountSmallDisk, type SmallDisk } from './small-disk.ts';

/** A PostgreSQL server of one's own, to be stopped, killed and started again. */
export interface PrivatePostgres {
  readonly url: string;
  readonly port: number;
  /** With `diskMb` only. */
  readonly disk: SmallDisk | null;
  /** Ends connections and shuts down. */
  stop(): Promise<void>;
  /** SIGKILL: what a crash or a lost machine does. */
  kill(): Promise<void>;
  /** SIGSTOP of the server and its sessions: it accepts connections in the kernel and answers nothing. */
  pause(): void;
  resume(): void;
  /** Again, on the same port and data. */
  start(): Promise<void>;
  /** Kills it if need be and deletes its data. */
  remove(): Promise<void>;
}

export interface PostgresOptions {
  readonly diskMb?: number;
  readonly connectionsMax?: number;
  /** Also accepts TLS, with this certificate. */
  readonly tls?: { readonly key: string; readonly cert: string };
  /** A streaming replica of that server. */
  readonly replicaOf?: Pick<PrivatePostgres, 'port'>;
}

export async function startPostgres(options: PostgresOptions = {}): Promise<PrivatePostgres> {
  const runAs = serverUser();
  const directory = makeDirectory('postgres');
  const disk = options.diskMb === undefined ? null : mountSmallDisk(directory, options.diskMb, runAs);
  if (runAs) chownSync(directory, runAs.uid, runAs.gid);
  const data = join(directory, 'data');
  if (options.replicaOf === undefined) await copyEmptyCluster(data, runAs);
  else await copyPrimary(data, options.replicaOf.port, { cwd: directory, ...(runAs ? { runAs } : {}) });
  const tls = options.tls === undefined ? {} : writeCertificate(directory, options.tls, runAs);

  const port = await freePort();
  const url = `postgres://postgres@127.0.0.1:${port}/postgres`;
  let child: ChildServer | undefined;

  async function launch(): Promise<void> {
    const settings = {
      port,
      listen_addresses: '127.0.0.1',
      unix_socket_directories: directory,
      fsync: 'off',
      // Tests look for statements by their text, and the usual kilobyte cuts long ones off.
      track_activity_query_size: 16_384,
      max_connections: options.connectionsMax ?? 100,
      ...tls,
    };
    const args = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
    const started = startChild(findBinary('postgres'), ['-D', data, '-c', 'full_page_writes=off', ...args], {
      cwd: directory,
      ...(runAs ? { runAs } : {}),
    });
    child = started;
    await waitUntilServing(started, 'PostgreSQL', () => connectOnce(url));
  }

  async function end(signal: NodeJS.Signals): Promise<void> {
    const ending = child;
    if (ending === undefined) return;
    const sessions = signal === 'SIGKILL' ? childrenOf(ending.pid) : [];
    ending.signal(signal);
    // Sessions outlive a killed postmaster for a moment and keep its memory; a new one would not start.
    for (const pid of sessions) sendSignal(pid, 'SIGKILL');
    await ending.exited();
    child = undefined;
  }

  function signalAll(signal: NodeJS.Signals): void {
    if (child === undefined) throw new Error('PostgreSQL is not running');
    for (const pid of [child.pid, ...childrenOf(child.pid)]) sendSignal(pid, signal);
  }

  await launch();
  return {
    url,
    port,
    disk,
    stop: () => end('SIGINT'),
    kill: () => end('SIGKILL'),
    pause: () => signalAll('SIGSTOP'),
    resume: () => signalAll('SIGCONT'),
    async start() {
      if (child !== undefined) throw new Error('PostgreSQL is already running');
      await startPatiently(launch);
    },
    async remove() {
      await end('SIGKILL');
      removeDirectory(directory);
    },
  };
}

/** initdb takes a second of the processor's time, so a machine runs it once for each version and copies what it made. */
async function copyEmptyCluster(data: string, runAs: RunAs | undefined): Promise<void> {
  const initdb = findBinary('initdb');
  const digest = createHash('sha256').update(`${initdb} ${runAs?.uid}`).digest('hex').slice(0, 8);
  const kept = join(tmpdir(), `relay-tests-empty-cluster-${digest}`);
  if (!existsSync(join(kept, 'PG_VERSION'))) await makeEmptyCluster(initdb, kept, runAs);
  execFileSync('cp', ['-a', kept, data]);
}

async function makeEmptyCluster(initdb: string, kept: string, runAs: RunAs | undefined): Promise<void> {
  const directory = makeDirectory('cluster');
  if (runAs) chownSync(directory, runAs.uid, runAs.gid);
  const made = join(directory, 'data');
  const child = startChild(
    initdb,
    ['-D', made, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--locale=C', '--no-sync'],
    { cwd: directory, ...(runAs ? { runAs } : {}) },
  );
  await child.exited();
  if (!existsSync(join(made, 'PG_VERSION'))) throw new Error(`initdb failed:\n${child.output()}`);
  try {
    renameSync(made, kept);
  } catch (error) {
    // Another process was first.
    if (!existsSync(join(kept, 'PG_VERSION'))) throw error;
  }
  removeDirectory(directory);
}

async function copyPrimary(data: string, port: number, options: ChildOptions): Promise<void> {
  const from = ['-h', '127.0.0.1', '-p', String(port), '-U', 'postgres'];
  const how = ['-R', '-X', 'stream', '-c', 'fast', '--no-sync'];
  const child = startChild(findBinary('pg_basebackup'), [...from, '-D', data, ...how], options);
  await child.exited();
  if (!existsSync(join(data, 'standby.signal'))) throw new Error(`pg_basebackup failed:\n${child.output()}`);
}

function writeCertificate(
  directory: string,
  given: { readonly key: string; readonly cert: string },
  runAs: RunAs | undefined,
): Readonly<Record<string, string>> {
  const pathOf = (name: 'key' | 'cert') => {
    const path = join(directory, `server.${name}`);
    writeFileSync(path, given[name], { mode: 0o600 });
    if (runAs) chownSync(path, runAs.uid, runAs.gid);
    return path;
  };
  return { ssl: 'on', ssl_key_file: pathOf('key'), ssl_cert_file: pathOf('cert') };
}

/** The memory of a killed server is released when its last session is gone, a moment later. */
async function startPatiently(launch: () => Promise<void>): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await launch();
    } catch (error) {
      if (attempt === 10) throw error;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
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

function findBinary(name: string): string {
  const root = '/usr/lib/postgresql';
  const versions = existsSync(root) ? readdirSync(root).sort((a, b) => Number(b) - Number(a)) : [];
  const places = [
    ...versions.map((version) => join(root, version, 'bin')),
    ...(process.env['PATH'] ?? '').split(delimiter),
  ];
  const found = places.map((place) => join(place, name)).find((path) => existsSync(path));
  if (found === undefined) throw new Error(`PostgreSQL's ${name} is neither in ${root}/*/bin nor in PATH.`);
  return found;
}

function childrenOf(pid: number): number[] {
  const children = `/proc/${pid}/task/${pid}/children`;
  if (!existsSync(children)) return [];
  return readFileSync(children, 'utf8').split(' ').filter(Boolean).map(Number);
}

function sendSignal(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It has ended by itself.
  }
}
