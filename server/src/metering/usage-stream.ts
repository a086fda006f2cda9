import { systemClock } from '../kit/clock.ts';
import type { Log } from '../kit/log.ts';
import { createThrottle } from '../kit/throttle.ts';
import type { Redis } from '../store/redis/redis.ts';
import { prefixOf, usageStreamOf } from '../store/redis/shards.ts';
import { RECORD_FIELD } from './stream-entry.ts';

const RECORDS_PER_ENTRY_MAX = 20;
const FLUSH_DELAY_MS = 20;

/** Appends one entry to the usage stream of the organization's shard. */
export type SendUsage = (organizationId: string, fields: readonly string[]) => Promise<void>;

export function createSendUsage(redis: Redis): SendUsage {
  return async (organizationId, fields) => {
    const prefix = prefixOf(organizationId);
    const stream = usageStreamOf(prefix);
    redis.shards.use(prefix);
    await redis.run(['XADD', stream, '*', ...fields], stream);
  };
}

export interface UsageStreamDeps {
  readonly send: SendUsage;
  /** Keeps a record that Redis did not accept. */
  readonly keep: (organizationId: string, record: string) => void;
  /** How many records may wait to be sent. Further records are kept immediately. */
  readonly recordsMax: number;
  readonly log: Log;
}

export interface UsageStream {
  /** Takes a terminal record as text. Never blocks or fails a request. */
  append(organizationId: string, record: string): void;
  /** Records that have not reached the stream yet. */
  pending(): number;
  /** Sends the rest until the deadline, keeps what is left, and returns how many records were kept. */
  close(timeoutMs: number): Promise<number>;
}

interface WaitingRecord {
  readonly organizationId: string;
  readonly record: string;
}

/** Records that wait for the stream of one shard. An unavailable shard delays no other. */
interface ShardQueue {
  add(record: WaitingRecord): void;
  /** Resolves when nothing waits. */
  drain(): Promise<void>;
  /** Keeps the waiting records. */
  stop(): void;
}

/**
 * Sends the records of requests that were never admitted, and so have no lease, to the usage streams. Records of 20 ms are sent
 * together; what Redis does not accept is kept and delivered later.
 */
export function createUsageStream(deps: UsageStreamDeps): UsageStream {
  const queues = new Map<string, ShardQueue>();
  /** Caches the hash. The number of organizations that the process serves bounds the map. */
  const prefixes = new Map<string, string>();
  let pending = 0;
  let kept = 0;
  let closing = false;
  const mayLog = createThrottle(systemClock);

  const tell = {
    sent(count: number) {
      pending -= count;
    },
    failed(error: unknown, records: readonly WaitingRecord[]) {
      pending -= records.length;
      for (const each of records) keep(each);
      if (mayLog()) deps.log.warn({ err: error, kept }, 'cannot send usage records to Redis; keeping them');
    },
  };

  function keep({ organizationId, record }: WaitingRecord): void {
    kept += 1;
    deps.keep(organizationId, record);
  }

  function queueOf(organizationId: string): ShardQueue {
    const prefix = prefixes.get(organizationId) ?? prefixOf(organizationId);
    prefixes.set(organizationId, prefix);
    const known = queues.get(prefix);
    if (known !== undefined) return known;
    const queue = createShardQueue(deps.send, tell);
    queues.set(prefix, queue);
    return queue;
  }

  return {
    append(organizationId, record) {
      if (closing || pending >= deps.recordsMax) return keep({ organizationId, record });
      pending += 1;
      queueOf(organizationId).add({ organizationId, record });
    },
    pending: () => pending,
    async close(timeoutMs) {
      closing = true;
      const before = kept;
      const drained = Promise.all([...queues.values()].map((queue) => queue.drain()));
      let timer: NodeJS.Timeout | undefined;
      const late = new Promise((resolve) => {
        timer = setTimeout(resolve, timeoutMs);
      });
      await Promise.race([drained, late]);
      clearTimeout(timer);
      for (const queue of queues.values()) queue.stop();
      return kept - before;
    },
  };
}

function createShardQueue(
  send: SendUsage,
  tell: { sent(count: number): void; failed(error: unknown, records: readonly WaitingRecord[]): void },
): ShardQueue {
  let waiting: WaitingRecord[] = [];
  let timer: NodeJS.Timeout | null = null;
  let sending: Promise<void> | null = null;
  let stopped = false;

  function scheduleIn(delayMs: number): void {
    if (timer !== null || sending !== null || waiting.length === 0 || stopped) return;
    timer = setTimeout(() => {
      timer = null;
      void flush();
    }, delayMs);
  }

  async function sendOne(): Promise<void> {
    const batch = waiting.slice(0, RECORDS_PER_ENTRY_MAX);
    const fields = batch.flatMap(({ record }) => [RECORD_FIELD, record]);
    try {
      await send(batch[0]?.organizationId ?? '', fields);
    } catch (error) {
      // After a lost reply the record arrives twice; the ledger keeps one row per request.
      giveUp(error);
      return;
    }
    if (stopped) return;
    waiting = waiting.slice(batch.length);
    tell.sent(batch.length);
  }

  function giveUp(error: unknown): void {
    if (waiting.length === 0) return;
    const left = waiting;
    waiting = [];
    tell.failed(error, left);
  }

  function flush(): Promise<void> {
    if (sending !== null || waiting.length === 0) return sending ?? Promise.resolve();
    sending = sendOne().then(() => {
      sending = null;
      scheduleIn(waiting.length >= RECORDS_PER_ENTRY_MAX ? 0 : FLUSH_DELAY_MS);
    });
    return sending;
  }

  return {
    add(record) {
      waiting.push(record);
      scheduleIn(FLUSH_DELAY_MS);
    },
    async drain() {
      while (waiting.length > 0) await flush();
    },
    stop() {
      stopped = true;
      if (timer !== null) clearTimeout(timer);
      timer = null;
      giveUp(new Error('it is being closed'));
    },
  };
}
