import type { Redis } from '../store/redis.ts';
import { USAGE_STREAM } from './usage-stream.ts';

const GROUP = 'ledger';
const ENTRIES_PER_READ = 20;
/** An entry untouched for this long belongs to a worker that is gone. */
const ABANDONED_MS = 30_000;

export interface StreamEntry {
  readonly id: string;
  readonly records: readonly string[];
}

export async function ensureGroup(redis: Redis): Promise<void> {
  try {
    await redis.run(['XGROUP', 'CREATE', USAGE_STREAM, GROUP, '0', 'MKSTREAM']);
  } catch (error) {
    if (!(error instanceof Error && error.message.startsWith('BUSYGROUP'))) throw error;
  }
}

export async function readNew(redis: Redis, consumer: string): Promise<StreamEntry[]> {
  const count = String(ENTRIES_PER_READ);
  const reply = await redis.run([
    'XREADGROUP',
    'GROUP',
    GROUP,
    consumer,
    'COUNT',
    count,
    'STREAMS',
    USAGE_STREAM,
    '>',
  ]);
  const streams = asPairs(reply);
  return entriesOf(streams[0]?.[1]);
}

export async function claimAbandoned(redis: Redis, consumer: string): Promise<StreamEntry[]> {
  const idle = String(ABANDONED_MS);
  const count = String(ENTRIES_PER_READ);
  const reply = await redis.run(['XAUTOCLAIM', USAGE_STREAM, GROUP, consumer, idle, '0', 'COUNT', count]);
  return entriesOf(Array.isArray(reply) ? reply[1] : null);
}

/** Committed entries leave the stream, so that it holds only what still has to be written. */
export async function acknowledge(redis: Redis, entries: readonly StreamEntry[]): Promise<void> {
  const ids = entries.map(({ id }) => id);
  await redis.run(['XACK', USAGE_STREAM, GROUP, ...ids]);
  await redis.run(['XDEL', USAGE_STREAM, ...ids]);
}

/** A reply keyed by stream name is a map or a list of pairs, by the protocol's version. */
function asPairs(reply: unknown): [unknown, unknown][] {
  if (reply === null || reply === undefined) return [];
  if (reply instanceof Map) return [...reply.entries()];
  if (Array.isArray(reply)) return reply as [unknown, unknown][];
  return Object.entries(reply);
}

function entriesOf(reply: unknown): StreamEntry[] {
  if (!Array.isArray(reply)) return [];
  const entries: StreamEntry[] = [];
  for (const item of reply as unknown[]) {
    // A claimed entry that was deleted meanwhile comes back as nil.
    if (!Array.isArray(item) || !Array.isArray(item[1])) continue;
    const records = (item[1] as string[]).filter((_, index) => index % 2 === 1);
    entries.push({ id: String(item[0]), records });
  }
  return entries;
}
