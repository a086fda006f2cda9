import type { BacklogState } from '../backlog.ts';
import { createDaysAhead } from '../days-ahead.ts';
import { CANDIDATE_FIELD, EXPIRED_FIELD, RECORD_FIELD, type StreamEntry } from '../stream-entry.ts';
import { readyEntries, type WriteDeps, type Written, writeEntries } from '../write-entries.ts';
import { createDeliveryLoop } from './delivery-loop.ts';
import { createJournal, type Journal, type JournalDeps, type UsageJournal } from './journal.ts';
import type { JournaledEnd } from './journal-entry.ts';
import type { HeldFile } from './journal-files.ts';
import { postLeftUsage } from './post-left-usage.ts';

/** Ends of this interval are written together. */
const GATHER_MS = 20;
const FAILURE_MS = 1_000;
/** The embedded database has one connection, so a large write delays every other query. */
const ENTRIES_PER_WRITE_MAX = 100;
/** The source that notes of unusable records name. */
const SOURCE = { stream: 'spool' };

/** The caller ensures that no other process uses the directory. */
export interface LedgerJournalDeps extends JournalDeps, WriteDeps {}

/**
 * Delivers usage to the ledger without a stream in between: each end is written to disk, then to the ledger together with
 * others, and then removed from the disk. The next process posts what a killed one leaves; a request posted twice is one row.
 */
export interface LedgerJournal extends UsageJournal {
  /** A request that was dispatched and whose lease has expired. */
  expired(operationId: string, draft: string, candidate: number): void;
  backlog(): BacklogState;
  /** Since the start. */
  counts(): Written;
  /** Posts everything the previous process left, or throws. */
  recover(): Promise<void>;
}

/** An end that is not in the ledger yet. */
interface Waiting {
  readonly entry: StreamEntry;
  readonly atMs: number;
  /** The file that has the line of this end; null when no file has it. */
  readonly held: HeldFile | null;
  /** The request whose draft stays on disk in place of this end, until the end is in the ledger. */
  readonly operationId: string | null;
}

export function createLedgerJournal(deps: LedgerJournalDeps): LedgerJournal {
  const { clock } = deps;
  const journal = createJournal({ ...deps, isAlone: true });
  const counts = { rows: 0, poisoned: 0 };
  const queue = createQueue(deps, journal, (written) => {
    counts.rows += written.rows;
    counts.poisoned += written.poisoned;
  });

  function keep(entry: JournaledEnd): void {
    if (!journal.accepts(entry)) return;
    const held = journal.append(entry);
    // When the disk refuses the end, the draft stays on disk until the end is in the ledger.
    const drafted = held === null && entry.kind === 'settlement' && journal.hasDraft(entry.operationId);
    queue.add([RECORD_FIELD, entry.record], held, drafted ? entry.operationId : null);
  }

  return {
    draft: journal.draft,
    settlement: (settlement) => keep({ kind: 'settlement', ...settlement }),
    record: (organizationId, record) => keep({ kind: 'record', organizationId, record }),
    expired: (operationId, draft, candidate) =>
      queue.add([EXPIRED_FIELD, draft, CANDIDATE_FIELD, String(candidate)], null, operationId),
    state: () => ({ ...journal.counts(), waiting: queue.waiting().length }),
    backlog: queue.backlog,
    counts: () => ({ ...counts }),
    async recover() {
      await queue.makeDays();
      const { rows, poisoned } = await postLeftUsage({ ...deps, files: journal.files, source: SOURCE });
      counts.rows += rows;
      counts.poisoned += poisoned;
    },
    async stop(timeoutMs) {
      const deadlineMs = clock.monotonicMs() + timeoutMs;
      await queue.stop(deadlineMs);
      journal.files.close();
      const waiting = queue.waiting();
      const lost = waiting.filter(({ held, operationId }) => held === null && operationId === null).length;
      return { kept: waiting.length - lost, lost };
    },
  };
}

/** Ends on their way to the ledger, in memory as well as on disk. */
function createQueue(deps: LedgerJournalDeps, journal: Journal, onWritten: (written: Written) => void) {
  const { clock, log } = deps;
  const makeDays = createDaysAhead(deps);
  let waiting: Waiting[] = [];
  let taken = 0;
  let serial = 0;
  let isFailing = false;

  async function writeBatch(): Promise<void> {
    const batch = waiting.slice(0, ENTRIES_PER_WRITE_MAX);
    taken = batch.length;
    try {
      await makeDays();
      const entries = batch.map(({ entry }) => ({ group: SOURCE, entry }));
      onWritten(await writeEntries(deps, readyEntries(entries, clock.nowMs())));
    } finally {
      taken = 0;
    }
    if (isFailing) log.info({}, 'the ledger is writable again');
    isFailing = false;
    waiting = waiting.slice(batch.length);
    for (const { held, operationId } of batch) {
      if (operationId !== null) journal.endDraft(operationId);
      if (held !== null) journal.delivered(held);
    }
    journal.compact();
  }

  const loop = createDeliveryLoop({
    firstDelayMs: GATHER_MS,
    hasWork: () => waiting.length > 0,
    async deliver() {
      try {
        await writeBatch();
        return GATHER_MS;
      } catch (error) {
        if (!isFailing) log.error({ err: error }, 'cannot write to the ledger; usage stays on disk');
        isFailing = true;
        return FAILURE_MS;
      }
    },
  });

  return {
    makeDays,
    waiting: () => waiting,
    add(fields: readonly string[], held: HeldFile | null, operationId: string | null) {
      const atMs = clock.nowMs();
      serial += 1;
      waiting.push({ entry: { id: `${atMs}-${serial}`, fields }, atMs, held, operationId });
      loop.schedule();
    },
    backlog: (): BacklogState => ({
      entries: waiting.length,
      taken,
      lagMs: waiting.length === 0 ? 0 : Math.max(0, clock.nowMs() - (waiting[0]?.atMs ?? 0)),
    }),
    async stop(deadlineMs: number) {
      await loop.stop();
      while (waiting.length > 0 && !isFailing && clock.monotonicMs() < deadlineMs) await loop.run();
    },
  };
}
