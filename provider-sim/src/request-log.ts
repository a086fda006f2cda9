import type { Fault } from './fault.ts';

/**
 * pending            still being received or answered
 * completed          the asked-for answer was written whole
 * refused            strict validation turned the request away
 * fault_answered     a fault's own answer was written whole (a status, a page, a redirect)
 * error_in_stream    the stream carried an error frame and ended
 * ended_early        the body ended cleanly before its end
 * cut                the simulator took the connection away
 * aborted_by_client  the client took the connection away
 * sim_closed         the simulator was shut down meanwhile
 */
export type Outcome =
  | 'pending'
  | 'completed'
  | 'refused'
  | 'fault_answered'
  | 'error_in_stream'
  | 'ended_early'
  | 'cut'
  | 'aborted_by_client'
  | 'sim_closed';

export interface ReportedUsage {
  promptTokens: number;
  completionTokens: number;
}

export interface RequestLogEntry {
  id: number;
  receivedAtMs: number;
  /** `performance.now()` of the simulator's process. */
  receivedMonotonicMs: number;
  key: string;
  method: string;
  path: string;
  query: string;
  model: string | null;
  stream: boolean;
  rawHeaders: string[];
  /** The bytes as received; null when only the hash is kept or the log's byte budget pushed them out. */
  body: Buffer | null;
  bodyBytes: number;
  bodySha256: string | null;
  unknownFields: string[];
  violations: string[];
  fault: Fault | null;
  /** 0 while no response head was written. */
  status: number;
  framesSent: number;
  bytesSent: number;
  outcome: Outcome;
  finishedAtMs: number | null;
  abortedAtMs: number | null;
  abortedMonotonicMs: number | null;
  /** What the provider counts for this request: all of it when completed, what was written when it was not. */
  promptTokens: number;
  completionTokens: number;
  /** Output tokens handed to the connection. */
  writtenTokens: number;
  /** What the response told the client, which faults can make differ from what is counted. */
  reportedUsage: ReportedUsage | null;
}

export type BodyRetention = 'bytes' | 'hash' | 'none';

export interface RequestLog {
  entries: RequestLogEntry[];
  add(entry: RequestLogEntry): void;
  keepBody(entry: RequestLogEntry, body: Buffer): void;
  changed(entry: RequestLogEntry): void;
  waitFor(predicate: (entry: RequestLogEntry) => boolean, timeoutMs: number): Promise<RequestLogEntry>;
  clear(): void;
}

interface Waiter {
  predicate: (entry: RequestLogEntry) => boolean;
  resolve: (entry: RequestLogEntry) => void;
}

interface LogOptions {
  entriesMax: number;
  bodyBytesMax: number;
  /** Called with the body to hash, so that hashing costs nothing when bodies are kept whole. */
  hash: (body: Buffer) => string;
  retention: BodyRetention;
}

export function createRequestLog(options: LogOptions): RequestLog {
  const entries: RequestLogEntry[] = [];
  const waiters = new Set<Waiter>();
  /** Index into `entries` of the first entry that may still hold a body. */
  let firstBody = 0;
  let bodyBytesKept = 0;

  function dropBodies(keepFrom: () => boolean): void {
    for (let entry = entries[firstBody]; entry !== undefined && !keepFrom(); entry = entries[firstBody]) {
      bodyBytesKept -= entry.body?.length ?? 0;
      entry.body = null;
      firstBody += 1;
    }
  }

  return {
    entries,
    add(entry) {
      entries.push(entry);
      // Trimming in halves keeps the array's identity for its readers and costs one move per entry.
      if (entries.length < options.entriesMax * 2) return;
      dropBodies(() => firstBody >= options.entriesMax);
      entries.splice(0, options.entriesMax);
      firstBody -= options.entriesMax;
    },
    keepBody(entry, body) {
      entry.bodyBytes = body.length;
      if (options.retention === 'hash') entry.bodySha256 = options.hash(body);
      if (options.retention !== 'bytes') return;
      entry.body = body;
      // A request in flight during a reset is no longer in the log, nor in its byte budget.
      if (entries[0] === undefined || entry.id < entries[0].id) return;
      bodyBytesKept += body.length;
      // The entry that is being written keeps its body, however large.
      dropBodies(() => bodyBytesKept <= options.bodyBytesMax || entries[firstBody] === entry);
    },
    changed(entry) {
      for (const waiter of waiters) {
        if (!waiter.predicate(entry)) continue;
        waiters.delete(waiter);
        waiter.resolve(entry);
      }
    },
    waitFor(predicate, timeoutMs) {
      const present = entries.find(predicate);
      if (present !== undefined) return Promise.resolve(present);
      return new Promise((resolve, reject) => {
        const waiter: Waiter = {
          predicate,
          resolve(entry) {
            clearTimeout(timer);
            resolve(entry);
          },
        };
        const timer = setTimeout(() => {
          waiters.delete(waiter);
          reject(new Error(`No request matched within ${timeoutMs} ms; the log holds ${entries.length}.`));
        }, timeoutMs);
        waiters.add(waiter);
      });
    },
    clear() {
      entries.length = 0;
      firstBody = 0;
      bodyBytesKept = 0;
    },
  };
}
