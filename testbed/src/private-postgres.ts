import { chownSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  type ChildOptions,
  type ChildServer,
  makeDirectory,
  type RunAs,
  removeDirectory,
  startChild,
} from './child-server.ts';
import { freePort } from './free-port.ts';
import { copyCluster } from './kept-clusters.ts';
import { findBinary, launchPostgres, postgresUrl, serverUser } from './postgres-process.ts';
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
  /** Its database `postgres` has the whole schema. Without this option it is empty. */
  readonly migrated?: boolean;
  /** A streaming replica of that server. */
  readonly replicaOf?: Pick<PrivatePostgres, 'port'>;
}

export async function startPostgres(options: PostgresOptions = {}): Promise<PrivatePostgres> {
  const runAs = serverUser();
  const directory = makeDirectory('postgres');
  const disk = options.diskMb === undefined ? null : mountSmallDisk(directory, options.diskMb, runAs);
  if (runAs) chownSync(directory, runAs.uid, runAs.gid);
  const data = join(directory, 'data');
  if (options.replicaOf === undefined)
    await copyCluster(data, { migrated: options.migrated ?? false, runAs });
  else await copyPrimary(data, options.replicaOf.port, { cwd: directory, ...(runAs ? { runAs } : {}) });
  const tls = options.tls === undefined ? {} : writeCertificate(directory, options.tls, runAs);

  const port = await freePort();
  let child: ChildServer | undefined;

  async function launch(): Promise<void> {
    child = await launchPostgres(
      { data, directory, port, runAs },
      {
        ...tls,
        max_connections: String(options.connectionsMax ?? 100),
      },
    );
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
    url: postgresUrl({ port }),
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
