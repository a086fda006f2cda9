import { redisCalls, redisKeys } from '@relay/testbed';

/** A lease in Redis: its request and its state. */
export interface Lease {
  /** The id the client gave it; empty when its draft does not say. */
  readonly tag: string;
  readonly state: string;
}

const LEASES = 'relay:{s*}:leases';
/** The first byte of a lease whose request is in flight. */
const DISPATCHED = 1;
/** The first byte of one that ran out. It holds nothing, and stays for a day in case its gateway settles after all. */
const LATE = 3;
const LATE_LEASES = /^relay:\{s\d+\}:late$/;
const STREAMS = 'relay:{s*}:usage';
const GROUP_PENDING = 'pending';

export async function leases(port: number): Promise<Lease[]> {
  return (await leaseFields(port)).map(({ value }) => ({
    tag: /"clientRequestId":"([^"]*)"/.exec(value)?.[1] ?? '',
    state: value.charCodeAt(0) === DISPATCHED ? 'dispatched' : stateIn(value),
  }));
}

/** The script packs the value; names and texts in it stay readable. */
function stateIn(value: string): string {
  return /state.(waiting|dispatched|tried)/s.exec(value)?.[1] ?? 'unknown';
}

/** The fields of the hashes that hold leases, as if each were a key; not those that ran out. */
async function leaseFields(port: number): Promise<{ key: string; value: string }[]> {
  const hashes = await redisKeys(port, LEASES);
  const replies = await redisCalls(
    port,
    hashes.map((hash) => ['HGETALL', hash]),
  );
  return replies.flatMap((reply, index) => {
    const texts = (reply as readonly string[]).map(String);
    return texts.flatMap((operation, at) => {
      const value = texts[at + 1] ?? '';
      if (at % 2 === 1 || value.charCodeAt(0) === LATE) return [];
      return [{ key: `${hashes[index]}:${operation}`, value }];
    });
  });
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
 * Keys of live state in Redis: leases, each as if it were a key, their expiries, and the line. Windows, cooldowns, shapes,
 * the clock and the usage stream are not live state and stay.
 */
const LIVE =
  /:(expiry|line|wake|places|due|late|limits|values|queues|waiters|counts|served)$|:(place|least|plan|planned|queue|size):/;

export async function liveKeys(ports: readonly number[]): Promise<string[]> {
  const found: string[] = [];
  for (const port of ports) {
    const keys = await redisKeys(port, 'relay:{s*}:*');
    found.push(...keys.filter((key) => LIVE.test(key) && !LATE_LEASES.test(key)));
    found.push(...(await leaseFields(port)).map(({ key }) => key));
  }
  return found.sort();
}
