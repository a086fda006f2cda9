import { type Kysely, sql } from 'kysely';
import type { Database } from '../postgres/schema.ts';
import type { Redis } from '../redis/redis.ts';
import { prefixOf } from '../redis/shards.ts';
import { createSharedReads } from '../shared-reads.ts';

/**
 * The oldest configuration version that an organization's requests may be decided on. A writer that revokes access raises
 * it before it confirms, and every authenticator reads it after a request has arrived, so no request sent after the
 * confirmation is decided on older state.
 */
export interface Fences {
  /** Throws `store_unavailable` when neither store answers. */
  read(organizationId: string): Promise<number>;
  /** Throws `store_unavailable` when the fence could not be raised; gateways then notice at their next poll. */
  raise(organizationId: string, version: number): Promise<void>;
  /**
   * Removes a fence above every version in PostgreSQL, which a restored backup leaves behind. The next read asks
   * PostgreSQL, so a fence raised meanwhile is not lost.
   */
  forget(organizationId: string, version: number): Promise<void>;
}

// Raising never lowers, in any order of writers. A value that is not a number counts as missing.
const RAISE = `local known = tonumber(redis.call('GET', KEYS[1]) or '') or -1
if not (known >= tonumber(ARGV[1])) then redis.call('SET', KEYS[1], ARGV[1]) end
return 1`;
const FORGET = `if redis.call('GET', KEYS[1]) == ARGV[1] then redis.call('DEL', KEYS[1]) end
return 1`;

export function createFences({ redis, db }: { redis: Redis; db: Kysely<Database> }): Fences {
  const committed = createCommittedVersions(db);
  const keyOf = (organizationId: string) => `${prefixOf(organizationId)}fence:${organizationId}`;

  async function run(script: string, organizationId: string, version: number): Promise<void> {
    const key = keyOf(organizationId);
    await redis.run(['EVAL', script, '1', key, String(version)], key);
  }

  /** A fence that Redis has lost is read from PostgreSQL and written back to Redis. */
  const read = createSharedReads(async (organizationId) => {
    const key = keyOf(organizationId);
    const found = await redis.run(['GET', key], key).catch(() => undefined);
    const fence = typeof found === 'string' ? Number(found) : Number.NaN;
    if (Number.isSafeInteger(fence)) return fence;
    const version = await committed(organizationId);
    if (found !== undefined) await run(RAISE, organizationId, version).catch(() => undefined);
    return version;
  });

  return {
    read,
    raise: (organizationId, version) => run(RAISE, organizationId, version),
    forget: (organizationId, version) => run(FORGET, organizationId, version),
  };
}

/**
 * Fences of a process that is the whole deployment. It raises and reads them itself, so they stay in memory; an unknown
 * fence is the committed version.
 */
export function createLocalFences({ db }: { db: Kysely<Database> }): Fences {
  const committed = createCommittedVersions(db);
  const known = new Map<string, number>();

  function raise(organizationId: string, version: number): number {
    const fence = Math.max(version, known.get(organizationId) ?? 0);
    known.set(organizationId, fence);
    return fence;
  }

  return {
    // The later of the two: it may have been raised during the read.
    read: async (organizationId) =>
      known.get(organizationId) ?? raise(organizationId, await committed(organizationId)),
    async raise(organizationId, version) {
      raise(organizationId, version);
    },
    async forget(organizationId, version) {
      if (known.get(organizationId) === version) known.delete(organizationId);
    },
  };
}

/**
 * One query at a time for all organizations of the process: while Redis is unavailable, PostgreSQL gets one per gateway,
 * not one per request.
 */
function createCommittedVersions(db: Kysely<Database>): (organizationId: string) => Promise<number> {
  let wanted = new Set<string>();
  const readAll = createSharedReads(async () => {
    const ids = [...wanted];
    wanted = new Set();
    const { rows } = await sql<{ id: string; config_version: number }>`
      select id, config_version from organizations where id = any (${ids}::uuid[])`.execute(db);
    return new Map(rows.map((row) => [row.id, row.config_version]));
  });
  return async (organizationId) => {
    wanted.add(organizationId);
    const versions = await readAll('all');
    // A deleted organization has no version; loading its snapshot reports that.
    return versions.get(organizationId) ?? 0;
  };
}
