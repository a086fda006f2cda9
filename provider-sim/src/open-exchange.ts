import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Tally } from './counts.ts';
import type { Exchange } from './exchange.ts';
import type { HeaderFacts } from './inspect-headers.ts';
import type { RequestLog, RequestLogEntry } from './request-log.ts';

export interface ExchangeBook {
  log: RequestLog;
  tally: Tally;
  streams: { open: number };
  /** Requests that are not over yet; shutting down settles and destroys them. */
  open: Set<Exchange>;
}

export function createEntry(
  id: number,
  req: { method?: string | undefined; rawHeaders: string[] },
  path: string,
  query: string,
  facts: HeaderFacts,
): RequestLogEntry {
  return {
    id,
    receivedAtMs: Date.now(),
    receivedMonotonicMs: performance.now(),
    key: facts.key,
    method: req.method ?? '',
    path,
    query,
    model: null,
    stream: false,
    rawHeaders: req.rawHeaders,
    body: null,
    bodyBytes: 0,
    bodySha256: null,
    unknownFields: [],
    violations: facts.violations,
    fault: null,
    status: 0,
    framesSent: 0,
    bytesSent: 0,
    outcome: 'pending',
    finishedAtMs: null,
    abortedAtMs: null,
    abortedMonotonicMs: null,
    promptTokens: 0,
    completionTokens: 0,
    writtenTokens: 0,
    reportedUsage: null,
  };
}

/** Enters a request into the books, and sees to it that it leaves them exactly once. */
export function openExchange(
  book: ExchangeBook,
  req: IncomingMessage,
  res: ServerResponse,
  entry: RequestLogEntry,
): Exchange {
  let streaming = false;
  const exchange: Exchange = {
    req,
    res,
    entry,
    closed: false,
    wake: null,
    reportOnCompletion: null,
    streamOpened() {
      streaming = true;
      book.streams.open += 1;
    },
    settle(outcome) {
      if (entry.outcome !== 'pending') return;
      entry.outcome = outcome;
      entry.finishedAtMs = Date.now();
      if (outcome === 'completed') {
        entry.writtenTokens = entry.completionTokens;
        entry.reportedUsage = exchange.reportOnCompletion;
      }
      book.tally.finished(entry);
      book.log.changed(entry);
    },
  };
  book.open.add(exchange);
  book.tally.received(entry);
  book.log.add(entry);
  res.on('close', () => {
    exchange.closed = true;
    book.open.delete(exchange);
    if (streaming) book.streams.open -= 1;
    if (!res.writableFinished) noteAbort(book, exchange);
    exchange.wake?.();
  });
  book.log.changed(entry);
  return exchange;
}

/** The connection closed before the answer was out: the client's doing, unless the simulator settled it as its own. */
function noteAbort(book: ExchangeBook, exchange: Exchange): void {
  const { entry } = exchange;
  if (entry.outcome === 'cut' || entry.outcome === 'sim_closed') return;
  // Bytes that went past the response object leave it unfinished however well they arrived.
  if (entry.outcome !== 'pending' && entry.fault?.rawSocketBase64 !== undefined) return;
  entry.abortedAtMs = Date.now();
  entry.abortedMonotonicMs = performance.now();
  if (entry.outcome === 'pending') {
    exchange.settle('aborted_by_client');
    return;
  }
  const from = entry.outcome;
  entry.outcome = 'aborted_by_client';
  book.tally.amended(entry, from);
  book.log.changed(entry);
}
