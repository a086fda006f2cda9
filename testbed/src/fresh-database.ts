import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import pg from 'pg';

export interface FreshDatabase {
  readonly url: string;
  /** Ends every connection to it. */
  drop(): Promise<void>;
}

const DEFAULT_URL = 'postgres://postgres@127.0.0.1:5432/postgres';

/**
 * An empty database of its own on the shared PostgreSQL. A missing server is an error, never a reason to skip. With
 * TEST_STORE=embedded it is an empty directory for an embedded one instead.
 */
export async function freshDatabase(): Promise<FreshDatabase> {
  if (process.env['TEST_STORE'] === 'embedded') return freshDirectory();
  const serverUrl = process.env['TEST_DATABASE_URL'] ?? DEFAULT_URL;
  const name = `relay_test_${process.pid}_${randomBytes(6).toString('hex')}`;
  await administer(serverUrl, `create database ${name}`);
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  return {
    url: url.href,
    drop: () => administer(serverUrl, `drop database if exists ${name} with (force)`),
  };
}

async function freshDirectory(): Promise<FreshDatabase> {
  const directory = await mkdtemp(join(tmpdir(), 'relay-test-'));
  return {
    url: pathToFileURL(directory).href,
    drop: () => rm(directory, { recursive: true, force: true }),
  };
}

async function administer(url: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 5_000 });
  try {
    await client.connect();
  } catch (cause) {
    const { host } = new URL(url);
    throw new Error(
      `PostgreSQL does not respond at ${host}. These tests need it: start it there, or set TEST_DATABASE_URL.`,
      { cause },
    );
  }
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}
