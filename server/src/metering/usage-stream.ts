import type { Log } from '../kit/log.ts';
import type { Redis } from '../store/redis.ts';
import { prefixOf, usageStreamOf } from '../store/shards.ts';
import { RECORD_FIELD } from './stream-entry.ts';

const RECORDS_PER_ENTRY_MAX = 20;
const FLUSH_DELAY_MS = 20;
const RETRY_DELAY_MS = 500;

export interface UsageStream {
  /** Takes a terminal record as text. Never blocks or fails a request. */
  append(organizationId: string, record: string): void;
  /** Records that have not reached the stream yet. */
  pending(): number;
  /** Sends what is left; gives up at the deadline and answers how many records stayed behind. */
  close(timeoutMs: number): Promise<number>;
}

/** What waits for the stream of one shard. Shards are sent apart: one that is away holds up no other. */
interface ShardQueue {
  readonly waiting: string[];
  /** Answers whether anything was sent. */
  flush(): Promise<boolean>;
  schedule(): void;
  stop(): void;
}

/**
 * Carries terminal records that no script has appended to the streams that workers read. Records of a few milliseconds
 * travel together, and while Redis is away they wait in memory, up to a bound; past it the oldest of the longest
 * queue are dropped and counted, so that a long outage costs records and never the process.
 */
export function createUsageStream(deps: { redis: Redis; log: Log; recordsMax: number }): UsageStream {
  const queues = new Map<string, ShardQueue>();
  /** Hashing costs more than remembering; the number of organizations a process serves bounds the map. */
  const prefixes = new Map<string, string>();
  let pending = 0;
  let dropped = 0;

  function queueOf(organizationId: string): ShardQueue {
    const prefix = prefixes.get(organizationId) ?? prefixOf(organizationId);
    prefixes.set(organizationId, prefix);
    const known = queues.get(prefix);
    if (known !== undefined) return known;
    const queue = createShardQueue(deps.redis, usageStreamOf(prefix), {
      sent(count) {
        pending -= count;
      },
      failed(error) {
        deps.log.warn({ err: error, waiting: pending, dropped }, 'usage records wait for Redis');
      },
    });
    queues.set(prefix, queue);
    return queue;
  }

  function dropOldest(): void {
    let longest: string[] = [];
    for (const { waiting } of queues.values()) if (waiting.length > longest.length) longest = waiting;
    longest.shift();
    pending -= 1;
    dropped += 1;
  }

  return {
    append(organizationId, record) {
      const queue = queueOf(organizationId);
      queue.waiting.push(record);
      pending += 1;
      if (pending > deps.recordsMax) dropOldest();
      queue.schedule();
    },
    pending: () => pending,
    async close(timeoutMs) {
      const deadlineMs = performance.now() + timeoutMs;
      while (pending > 0 && performance.now() < deadlineMs) {
        const sent = await Promise.all([...queues.values()].map((queue) => queue.flush()));
        if (!sent.includes(true)) await new Promise((resolve) => setTimeout(resolve, 50));
      }
      for (const queue of queues.values()) queue.stop();
      return pending;
    },
  };
}

function createShardQueue(
  redis: Redis,
  stream: string,
  tell: { sent(count: number): void; failed(error: unknown): void },
): ShardQueue {
  const waiting: string[] = [];
  let timer: NodeJS.Timeout | null = null;
  let sending: Promise<boolean> | null = null;
  let stopped = false;

  function scheduleIn(delayMs: number): void {
    if (timer !== null || sending !== null || waiting.length === 0 || stopped) return;
    timer = setTimeout(() => {
      timer = null;
      void flush();
    }, delayMs);
  }

  async function send(): Promise<boolean> {
    const batch = waiting.slice(0, RECORDS_PER_ENTRY_MAX);
    if (batch.length === 0) return false;
    const fields = batch.flatMap((record) => [RECORD_FIELD, record]);
    try {
      await redis.run(['XADD', stream, '*', ...fields], stream);
    } catch (error) {
      tell.failed(error);
      return false;
    }
    // A reply that was lost on the way means the entry is sent twice; the ledger keeps one row per request. What was
    // dropped meanwhile was at the head of the batch.
    const last = batch.at(-1);
    const count = last === undefined ? 0 : waiting.indexOf(last) + 1;
    waiting.splice(0, count);
    tell.sent(count);
    return true;
  }

  function flush(): Promise<boolean> {
    sending ??= send().then((sent) => {
      sending = null;
      scheduleIn(sent ? (waiting.length >= RECORDS_PER_ENTRY_MAX ? 0 : FLUSH_DELAY_MS) : RETRY_DELAY_MS);
      return sent;
    });
    return sending;
  }

  return {
    waiting,
    flush,
    schedule: () => scheduleIn(FLUSH_DELAY_MS),
    stop() {
      stopped = true;
      if (timer !== null) clearTimeout(timer);
      timer = null;
    },
  };
}
