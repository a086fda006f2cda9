import type { Redis } from './redis.ts';

export type Persistence = 'append_only' | 'snapshots' | 'none' | 'unknown';

/** What a server is configured to do with its data. Of a cluster, what the worst of its masters does. */
export interface RedisSettings {
  /** The value of `maxmemory-policy`. */
  readonly eviction: string;
  /** `unknown`: not append-only, and the server does not tell whether it takes snapshots. */
  readonly persistence: Persistence;
  /** Such as `7.0.15`; the oldest of a cluster's masters. */
  readonly version: string;
  /** `standalone`, `cluster`, or `sentinel`, which stores nothing. */
  readonly mode: string;
  /** One of them follows another server, and takes no writes. */
  readonly isReplica: boolean;
}

export const NO_EVICTION = 'noeviction';
const WORST_FIRST: readonly Persistence[] = ['none', 'unknown', 'snapshots', 'append_only'];

export async function readRedisSettings(redis: Pick<Redis, 'servers'>): Promise<RedisSettings> {
  const all = await Promise.all(redis.servers().map(readServer));
  const persistences = new Set(all.map(({ persistence }) => persistence));
  return {
    eviction: all.find(({ eviction }) => eviction !== NO_EVICTION)?.eviction ?? NO_EVICTION,
    persistence: WORST_FIRST.find((each) => persistences.has(each)) ?? 'unknown',
    version: all.map(({ version }) => version).sort(byNumbers)[0] ?? '',
    mode: all[0]?.mode ?? '',
    isReplica: all.some(({ isReplica }) => isReplica),
  };
}

/** INFO tells more than CONFIG, which a hosted Redis may refuse. */
async function readServer(server: ReturnType<Redis['servers']>[number]): Promise<RedisSettings> {
  const sections = ['server', 'replication', 'memory', 'persistence'];
  const info = (
    await Promise.all(sections.map(async (section) => String(await server.run(['INFO', section]))))
  ).join('\n');
  const settings = {
    eviction: fieldOf(info, 'maxmemory_policy') ?? NO_EVICTION,
    version: fieldOf(info, 'redis_version') ?? '',
    mode: fieldOf(info, 'redis_mode') ?? '',
    isReplica: fieldOf(info, 'role') === 'slave',
  };
  if (fieldOf(info, 'aof_enabled') === '1') return { ...settings, persistence: 'append_only' };
  const saves = await server.run(['CONFIG', 'GET', 'save']).then(savesOf, () => null);
  return { ...settings, persistence: saves === null ? 'unknown' : saves === '' ? 'none' : 'snapshots' };
}

function byNumbers(one: string, other: string): number {
  return one.localeCompare(other, 'en', { numeric: true });
}

function fieldOf(info: string, name: string): string | undefined {
  return new RegExp(`^${name}:(\\S*)`, 'm').exec(info)?.[1];
}

/** The reply is a list of names and values, or a map, by the protocol's version. */
function savesOf(reply: unknown): string | null {
  const values: unknown[] = Array.isArray(reply) ? reply : Object.values(reply ?? {});
  const value = values.at(-1);
  return typeof value === 'string' ? value : null;
}
