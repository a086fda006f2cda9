import { randomUUIDv7 } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../kit/clock.ts';
import { createLog } from '../kit/log.ts';
import type { Redis } from '../store/redis/redis.ts';
import { createStreamJournal, type StreamJournal, type StreamJournalDeps } from './journal/stream-journal.ts';
import { RECORD_FIELD } from './stream-entry.ts';
import { createSendUsage, createUsageStream, type UsageStream } from './usage-stream.ts';

/** For tests: a temporary directory. */
export function spoolDirectory(): { readonly path: string; [Symbol.dispose](): void } {
  const path = mkdtempSync(join(tmpdir(), 'relay-spool-test-'));
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) };
}

/** For tests: a journal in front of Redis without a limits engine. It sends the record of a settlement. */
export function spoolBefore(
  redis: Redis,
  directory: string,
  over: Partial<StreamJournalDeps> = {},
): StreamJournal {
  const send = createSendUsage(redis);
  return createStreamJournal({
    directory,
    bytesMax: 64 * 1024 * 1024,
    ownerId: randomUUIDv7(),
    settle: ({ organizationId, record }) => send(organizationId, [RECORD_FIELD, record]),
    send,
    clock: systemClock,
    log: createLog('silent'),
    ...over,
  });
}

/** For tests: a usage stream that keeps what Redis refuses in a journal. */
export function usageBefore(redis: Redis, keep: StreamJournal['record'], recordsMax = 10_000): UsageStream {
  return createUsageStream({ send: createSendUsage(redis), keep, recordsMax, log: createLog('silent') });
}
