import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

const REPOSITORY = join(import.meta.dirname, '../..');
const STORE = join(REPOSITORY, 'server/src/store/postgres');
const RELAY = join(REPOSITORY, 'cli/bin/relay.js');

let hash: string | undefined;

/** Returns a name that changes with every migration and with the code that applies migrations. */
export function schemaHash(): string {
  hash ??= hashOf(['migrate.ts', ...sqlFiles()]);
  return hash;
}

function sqlFiles(): string[] {
  return readdirSync(join(STORE, 'migrations'))
    .filter((name) => name.endsWith('.sql'))
    .sort()
    .map((name) => join('migrations', name));
}

function hashOf(paths: readonly string[]): string {
  const digest = createHash('sha256');
  for (const path of paths) digest.update(`${path}\0`).update(readFileSync(join(STORE, path)));
  return digest.digest('hex').slice(0, 16);
}

/** Migrates a database with the product's own command. */
export async function migrate(databaseUrl: string): Promise<void> {
  const env = { PATH: process.env['PATH'], DATABASE_URL: databaseUrl };
  await promisify(execFile)(process.execPath, [RELAY, 'migrate', 'up'], { env });
}
