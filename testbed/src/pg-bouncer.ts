import { chownSync, existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { makeDirectory, removeDirectory, startChild, waitUntilServing } from './child-server.ts';
import { freePort } from './free-port.ts';
import { serverUser } from './postgres-process.ts';

/** PgBouncer as Debian ships it, with its default settings but for the mode and the number of sessions. */
export interface PgBouncer {
  readonly url: string;
  remove(): Promise<void>;
}

export interface PgBouncerOptions {
  /** The URL of a database that needs no password. */
  readonly target: string;
  /** Sessions on the server for all clients. */
  readonly sessions: number;
  /** Further lines of its settings. */
  readonly settings?: string;
}

export async function startPgBouncer(options: PgBouncerOptions): Promise<PgBouncer> {
  const { target, sessions, settings: more = '' } = options;
  const { hostname, port: targetPort, pathname, username } = new URL(target);
  const runAs = serverUser();
  const directory = makeDirectory('pgbouncer');
  if (runAs) chownSync(directory, runAs.uid, runAs.gid);
  const port = await freePort();
  const settings = join(directory, 'pgbouncer.ini');
  // With `auth_type = any`, clients act as the user of the database entry, or as this one.
  writeFileSync(
    settings,
    `[databases]
* = host=${hostname} port=${targetPort} user=${username}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = ${sessions}
max_client_conn = 200
${more}
`,
  );
  const child = startChild(findProgram(), [settings], { cwd: directory, ...(runAs ? { runAs } : {}) });
  const url = `postgres://${username}@127.0.0.1:${port}${pathname}`;
  await waitUntilServing(child, 'PgBouncer', async () => {
    const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 1_000 });
    client.on('error', () => undefined);
    await client.connect();
    await client.end();
  });
  return {
    url,
    async remove() {
      child.signal('SIGKILL');
      await child.exited();
      removeDirectory(directory);
    },
  };
}

function findProgram(): string {
  // Debian puts it where only root looks.
  const debian = '/usr/sbin/pgbouncer';
  return existsSync(debian) ? debian : 'pgbouncer';
}
