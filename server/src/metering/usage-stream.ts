import type { RecordSink, RequestRecord } from '../domain/request-record.ts';
import type { Log } from '../kit/log.ts';
import type { Redis } from '../store/redis.ts';

export const USAGE_STREAM = 'relay:{usage}:stream';
/** Every field of an entry has this name; its value is one record. */
const RECORD_FIELD = 'r';

const RECORDS_PER_ENTRY_MAX = 200;
const FLUSH_DELAY_MS = 20;
const RETRY_DELAY_MS = 500;

export interface UsageStream extends RecordSink {
  /** Records that have not reached the stream yet. */
  pending(): number;
  /** Sends what is left; gives up at the deadline and answers how many records stayed behind. */
  close(timeoutMs: number): Promise<number>;
}

/**
 * Carries terminal records from a gateway to the stream that workers read. Records of a few milliseconds
 * travel together, and while Redis is away they wait in memory, up to a bound; past it the oldest are
 * dropped and counted, so that a long outage costs records and never the process.
 */
export function createUsageStream(deps: { redis: Redis; log: Log; recordsMax: number }): UsageStream {
  let waiting: RequestRecord[] = [];
  let timer: NodeJS.Timeout | null = null;
  let sending: Promise<void> | null = null;
  let dropped = 0;

  function schedule(delayMs: number): void {
    if (timer !== null || sending !== null || waiting.length === 0) return;
    timer = setTimeout(() => {
      timer = null;
      void flush();
    }, delayMs);
  }

  async function send(): Promise<boolean> {
    const batch = waiting.slice(0, RECORDS_PER_ENTRY_MAX);
    const fields = batch.flatMap((record) => [RECORD_FIELD, JSON.stringify(record)]);
    try {
      await deps.redis.run(['XADD', USAGE_STREAM, '*', ...fields]);
    } catch (error) {
      deps.log.warn({ err: error, waiting: waiting.length, dropped }, 'usage records wait for Redis');
      return false;
    }
    // A reply that was lost on the way means the entry is sent twice; the ledger keeps one row per request.
    waiting = waiting.slice(batch.length);
    return true;
  }

  function flush(): Promise<void> {
    sending ??= send().then((sent) => {
      sending = null;
      schedule(sent ? FLUSH_DELAY_MS : RETRY_DELAY_MS);
    });
    return sending;
  }

  return {
    record(record) {
      waiting.push(record);
      if (waiting.length > deps.recordsMax) {
        waiting.shift();
        dropped += 1;
      }
      schedule(FLUSH_DELAY_MS);
    },
    pending: () => waiting.length,
    async close(timeoutMs) {
      const deadlineMs = performance.now() + timeoutMs;
      while (waiting.length > 0 && performance.now() < deadlineMs) {
        const before = waiting.length;
        await flush();
        if (waiting.length === before) await new Promise((resolve) => setTimeout(resolve, 50));
      }
      if (timer !== null) clearTimeout(timer);
      return waiting.length;
    },
  };
}
