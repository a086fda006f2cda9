import { redisCall, redisCalls, redisKeys } from '@relay/testbed';

/** A lease in Redis: its request and its state. */
export interface Lease {
  /** The id the client gave it; empty when its draft does not say. */
  readonly tag: string;
  readonly state: string;
}

const STREAMS = 'relay:{s*}:usage';
const GROUP_PENDING = 'pending';

export async function leases(port: number): Promise<Lease[]> {
  const keys = await redisKeys(port, 'relay:{s*}:lease:*');
  if (keys.length === 0) return [];
  const values = (await redisCall(port, 'MGET', ...keys)) as (string | null)[];
  // The script packs the value; names and texts in it stay readable.
  return values
    .filter((value) => value !== null)
    .map((value) => ({
      tag: /"clientRequestId":"([^"]*)"/.exec(value)?.[1] ?? '',
      state: /state.(line|waiting|dispatched)/s.exec(value)?.[1] ?? 'unknown',
    }));
}

/** The entries of a usage stream, and how many a worker has read but not acknowledged. */
export interface Backlog {
  readonly stream: string;
  readonly entries: number;
  readonly taken: number;
}

/** Streams that are not empty: everything that became a row leaves them. */
export async function backlogs(port: number): Promise<Backlog[]> {
  const streams = await redisKeys(port, STREAMS);
  const lengths = await redisCalls(
    port,
    streams.map((stream) => ['XLEN', stream]),
  );
  const groups = await redisCalls(
    port,
    streams.map((stream) => ['XINFO', 'GROUPS', stream]),
  );
  return streams
    .map((stream, index) => ({
      stream,
      entries: Number(lengths[index]),
      taken: (groups[index] as (string | number)[][]).reduce((sum, group) => sum + pendingOf(group), 0),
    }))
    .filter(({ entries, taken }) => entries > 0 || taken > 0);
}

function pendingOf(group: readonly (string | number)[]): number {
  return Number(group[group.indexOf(GROUP_PENDING) + 1]);
}

/**
 * Keys of live state in Redis: leases, their expiries, queued requests and requests in flight. Windows, cooldowns,
 * the clock and the usage stream are not live state and stay.
 */
const LIVE = /:(lease|queue|order|line|holders):|:expiry$/;

export async function liveKeys(ports: readonly number[]): Promise<string[]> {
  const found: string[] = [];
  for (const port of ports) {
    const keys = await redisKeys(port, 'relay:{s*}:*');
    found.push(...keys.filter((key) => LIVE.test(key)));
  }
  return found.sort();
}
