// Data directories that a machine makes once and each private server copies: initdb takes a second of CPU, and migrating a
// third of one.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chownSync, existsSync, readdirSync, renameSync, rmSync, statSync, utimesSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeDirectory, type RunAs, removeDirectory, startChild } from './child-server.ts';
import { freePort } from './free-port.ts';
import { findBinary, launchPostgres, postgresUrl } from './postgres-process.ts';
import { migrate, schemaHash } from './schema-template.ts';

const PREFIX = 'relay-tests-cluster-';
/** A kept directory that no server has copied for so long belongs to an older schema. */
const UNUSED_MS_MAX = 7 * 24 * 60 * 60_000;

/** Copies a kept data directory to `data`: with the whole schema, or with nothing but what initdb makes. */
export async function copyCluster(
  data: string,
  { migrated, runAs }: { readonly migrated: boolean; readonly runAs: RunAs | undefined },
): Promise<void> {
  const kept = join(tmpdir(), PREFIX + keyOf(migrated ? schemaHash() : 'empty', runAs));
  if (!existsSync(kept)) await keep(kept, runAs, migrated ? makeMigrated : makeEmpty);
  utimesSync(kept, new Date(), new Date());
  execFileSync('cp', ['-a', kept, data]);
}

/** Names the content, the account that owns it, and the build of PostgreSQL. */
function keyOf(content: string, runAs: RunAs | undefined): string {
  const initdb = findBinary('initdb');
  const { size, mtimeMs } = statSync(initdb);
  const key = [content, runAs?.uid ?? process.getuid?.(), initdb, size, mtimeMs].join(' ');
  return createHash('sha256').update(key).digest('hex').slice(0, 12);
}

type Make = (data: string, directory: string, runAs: RunAs | undefined) => Promise<void>;

/** Makes it beside and renames it, so that a directory with the final name is complete. */
async function keep(kept: string, runAs: RunAs | undefined, make: Make): Promise<void> {
  discardUnused();
  const directory = makeDirectory('cluster');
  if (runAs) chownSync(directory, runAs.uid, runAs.gid);
  const made = join(directory, 'data');
  await make(made, directory, runAs);
  try {
    renameSync(made, kept);
  } catch (error) {
    // Another process was first.
    if (!existsSync(kept)) throw error;
  }
  removeDirectory(directory);
}

async function makeEmpty(data: string, directory: string, runAs: RunAs | undefined): Promise<void> {
  const child = startChild(
    findBinary('initdb'),
    ['-D', data, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--locale=C', '--no-sync'],
    { cwd: directory, ...(runAs ? { runAs } : {}) },
  );
  await child.exited();
  if (!existsSync(join(data, 'PG_VERSION'))) throw new Error(`initdb failed:\n${child.output()}`);
}

async function makeMigrated(data: string, directory: string, runAs: RunAs | undefined): Promise<void> {
  await copyCluster(data, { migrated: false, runAs });
  const place = { data, directory, port: await freePort(), runAs };
  const server = await launchPostgres(place);
  await migrate(postgresUrl(place));
  // A fast shutdown writes everything, so that the copies need no recovery.
  server.signal('SIGINT');
  await server.exited();
}

function discardUnused(): void {
  for (const name of readdirSync(tmpdir())) {
    const path = join(tmpdir(), name);
    if (!name.startsWith(PREFIX) || Date.now() - statSync(path).mtimeMs < UNUSED_MS_MAX) continue;
    try {
      rmSync(path, { recursive: true, force: true });
    } catch {
      // It belongs to another account.
    }
  }
}
