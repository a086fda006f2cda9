import { type Kysely, sql } from 'kysely';
import type { Database } from '../postgres/schema.ts';
import type { Redis } from '../redis/redis.ts';
import { prefixOf } from '../redis/shards.ts';
import { createSharedReads } from '../shared-reads.ts';

/**
 * The oldest configuration version an organization's requests may be decided on. Whoever takes access away raises it
 * before answering, and every door asks for it after a request has arrived: no request that comes later than the
 * answer is decided on what was known before.
 */
export interface Fences {
  /** Throws `store_unavailable` when neither store answers. */
  read(organizationId: string): Promise<number>;
  /** Throws `store_unavailable` when the fence could not be raised: gateways then notice by their poll. */
  raise(organizationId: string, version: number): Promise<void>;
  /**
   * Takes away a fence that lies above everything PostgreSQL holds, which is what a restored backup leaves behind. The
   * next read asks PostgreSQL, so nothing that was raised meanwhile is lost.
   */
  forget(organizationId: string, version: number): Promise<void>;
}

// Raising never lowers, in whatever order two writers arrive. A value that is no number counts as none.
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

  /** What Redis has lost is read from where it came from, and told to Redis again. */
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
 * Fences of a process that is the whole deployment: whoever raises one and whoever reads it are the same, so that they are
 * kept in memory, and what is not known there is what was committed.
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
    // Raised meanwhile or read just now: the later of the two.
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
 * One query at a time for all organizations of the process: when Redis is away, PostgreSQL gets as many as there are
 * gateways, not as many as there are requests.
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
    // An organization that is gone has no version; whoever loads its snapshot is told so there.
    return versions.get(organizationId) ?? 0;
  };
}
