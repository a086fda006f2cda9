import type { Redis } from '../store/redis/redis.ts';
import type { StreamEntry } from './stream-entry.ts';

export const GROUP = 'ledger';

/** The workers' view of one usage stream: a consumer group, of which this process is one member. */
export interface StreamGroup {
  readonly stream: string;
  /** Entries that no consumer has taken yet. */
  readNew(entriesMax: number): Promise<StreamEntry[]>;
  /** Entries that this consumer took and has not acknowledged. */
  readOwn(entriesMax: number): Promise<StreamEntry[]>;
  /** Takes over entries that another consumer has held for at least this long. */
  claimAbandoned(idleMs: number, entriesMax: number): Promise<StreamEntry[]>;
  /** Removes written entries, so that the stream holds only the backlog. */
  acknowledge(entries: readonly StreamEntry[]): Promise<void>;
  /** Removes this consumer from the group, unless it still holds entries that another has to claim. */
  leave(): Promise<void>;
}

export function createStreamGroup(redis: Redis, stream: string, consumer: string): StreamGroup {
  async function create(): Promise<void> {
    try {
      await redis.run(['XGROUP', 'CREATE', stream, GROUP, '0', 'MKSTREAM'], stream);
    } catch (error) {
      if (!startsWith(error, 'BUSYGROUP')) throw error;
    }
  }

  /** A new Redis, or one that lost its data, has no group yet. */
  async function inGroup(command: readonly string[]): Promise<unknown> {
    try {
      return await redis.run(command, stream);
    } catch (error) {
      if (!startsWith(error, 'NOGROUP')) throw error;
      await create();
      return redis.run(command, stream);
    }
  }

  async function read(from: '>' | '0', entriesMax: number): Promise<StreamEntry[]> {
    const position = ['COUNT', String(entriesMax), 'STREAMS', stream, from];
    const reply = await inGroup(['XREADGROUP', 'GROUP', GROUP, consumer, ...position]);
    return entriesOf(entriesOfFirst(reply));
  }

  return {
    stream,
    readNew: (entriesMax) => read('>', entriesMax),
    readOwn: (entriesMax) => read('0', entriesMax),
    async claimAbandoned(idleMs, entriesMax) {
      const limits = [String(idleMs), '0', 'COUNT', String(entriesMax)];
      const reply = await inGroup(['XAUTOCLAIM', stream, GROUP, consumer, ...limits]);
      return entriesOf(Array.isArray(reply) ? reply[1] : null);
    },
    async acknowledge(entries) {
      const ids = entries.map(({ id }) => id);
      // In this order: after a kill in between, the next consumer to claim the deleted entry acknowledges it. The other way
      // round the entry would stay in the stream forever.
      await redis.run(['XDEL', stream, ...ids], stream);
      await redis.run(['XACK', stream, GROUP, ...ids], stream);
    },
    async leave() {
      if ((await read('0', 1)).length === 0)
        await redis.run(['XGROUP', 'DELCONSUMER', stream, GROUP, consumer], stream);
    },
  };
}

function startsWith(error: unknown, code: string): boolean {
  return error instanceof Error && error.message.startsWith(code);
}

/** The reply to a read of one stream: a map or a list of pairs of stream name and entries, by the protocol's version. */
function entriesOfFirst(reply: unknown): unknown {
  if (reply === null || reply === undefined) return null;
  const pairs: unknown[] =
    reply instanceof Map ? [...reply] : Array.isArray(reply) ? reply : Object.entries(reply);
  const [first] = pairs;
  return Array.isArray(first) ? first[1] : null;
}

function entriesOf(reply: unknown): StreamEntry[] {
  if (!Array.isArray(reply)) return [];
  const items: unknown[] = reply;
  return items.flatMap((item) => {
    if (!Array.isArray(item)) return [];
    const [id, fields]: unknown[] = item;
    // An entry that was deleted in the meantime comes without fields; it still has to be acknowledged.
    return [{ id: String(id), fields: Array.isArray(fields) ? fields.map(String) : [] }];
  });
}
