import type { Clock } from '../clock.ts';
import type { Log } from '../log.ts';
import { createThrottle } from '../throttle.ts';
import { type Attributes, exportRequest } from './otlp.ts';
import type { TraceSink } from './tracer.ts';

/** What waits for the receiver. More is dropped and counted, so a receiver that hangs costs this much memory and no request. */
const QUEUE_BYTES_MAX = 4 * 1_048_576;
const BATCH_BYTES_MAX = 256 * 1_024;
const EVERY_MS = 1_000;

export interface TraceExporterDeps {
  /** Sends one `ExportTraceServiceRequest`; rejects when the receiver did not take it. Must end within a bounded time. */
  readonly send: (body: Buffer) => Promise<void>;
  readonly resource: Attributes;
  readonly version: string;
  readonly clock: Clock;
  readonly log: Log;
}

/** Counts are of spans. */
export interface TraceExportState {
  readonly exported: number;
  /** The queue was full. */
  readonly dropped: number;
  /** The receiver did not take them. They are not sent again. */
  readonly failed: number;
  readonly queued: number;
}

export interface TraceExporter extends TraceSink {
  state(): TraceExportState;
  /** Sends what waits, for at most this long. */
  stop(timeoutMs: number): Promise<void>;
}

/** Sends traces in batches, one at a time, beside the requests that they are about. */
export function createTraceExporter(deps: TraceExporterDeps): TraceExporter {
  const counts = { exported: 0, dropped: 0, failed: 0 };
  const mayLog = createThrottle(deps.clock);
  let queue: Buffer[] = [];
  let queuedBytes = 0;
  let sending: Promise<void> | null = null;
  const timer = setInterval(send, EVERY_MS);
  timer.unref();

  function send(): void {
    if (sending !== null || queue.length === 0) return;
    sending = sendAll().finally(() => {
      sending = null;
    });
  }

  async function sendAll(): Promise<void> {
    while (queue.length > 0) {
      const spans = nextBatch();
      try {
        await deps.send(exportRequest(deps.resource, deps.version, spans));
        counts.exported += spans.length;
      } catch (error) {
        counts.failed += spans.length;
        const why = error instanceof Error ? error.message : String(error);
        if (mayLog()) deps.log.warn({ why, spans: spans.length }, 'could not export traces');
        // The next ones wait for the next interval, so that a receiver that is down is not asked in a loop.
        return;
      }
    }
  }

  function nextBatch(): Buffer[] {
    let bytes = 0;
    let count = 0;
    while (count < queue.length && (count === 0 || bytes + (queue[count]?.length ?? 0) <= BATCH_BYTES_MAX)) {
      bytes += queue[count]?.length ?? 0;
      count += 1;
    }
    const batch = queue.slice(0, count);
    queue = queue.slice(count);
    queuedBytes -= bytes;
    return batch;
  }

  return {
    take(spans) {
      const bytes = spans.reduce((sum, { length }) => sum + length, 0);
      if (queuedBytes + bytes > QUEUE_BYTES_MAX) {
        counts.dropped += spans.length;
        return;
      }
      for (const span of spans) queue.push(span);
      queuedBytes += bytes;
      if (queuedBytes >= BATCH_BYTES_MAX) send();
    },
    state: () => ({ ...counts, queued: queue.length }),
    async stop(timeoutMs) {
      clearInterval(timer);
      const late = new Promise<void>((resolve) => setTimeout(resolve, timeoutMs).unref());
      const all = async () => {
        await sending;
        await sendAll();
      };
      await Promise.race([all(), late]);
    },
  };
}
