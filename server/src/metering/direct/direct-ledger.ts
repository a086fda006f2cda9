import type { BacklogState } from '../backlog.ts';
import { createDaysAhead } from '../days-ahead.ts';
import type { SpoolState } from '../spool/spool.ts';
import type { SpoolEntry, SpooledDraft, SpooledSettlement } from '../spool/spool-entry.ts';
import { createSpoolFiles, type HeldFile } from '../spool/spool-files.ts';
import { thisProcess } from '../spool/spool-names.ts';
import { CANDIDATE_FIELD, EXPIRED_FIELD, RECORD_FIELD, type StreamEntry } from '../stream-entry.ts';
import { readyEntries, type WriteDeps, writeEntries } from '../write-entries.ts';
import { createJournalFiles } from './journal-files.ts';
import { postLeftUsage } from './left-usage.ts';

/** What comes meanwhile is written together. */
const GATHER_MS = 20;
const FAILURE_MS = 1_000;
/** The database is this process as well, so that a write of many rows keeps requests waiting. */
const ENTRIES_PER_WRITE_MAX = 100;
/** What notes of unusable records name as where they came from. */
const SOURCE = { stream: 'spool' };

export interface DirectLedgerDeps extends WriteDeps {
  /** Of this process alone, which somebody else has to see to. */
  readonly directory: string;
  readonly bytesMax: number;
  /** A UUID, unique to this process. */
  readonly ownerId: string;
}

/**
 * From the settled request to the ledger without a stream in between: on disk first, then, a few milliseconds of requests
 * together, in the ledger, and then off the disk. Whatever is on disk when the process dies is posted by the next one, and a
 * request that is posted twice is one row.
 */
export interface DirectLedger {
  /** Before a request is dispatched. Throws `metering_unavailable` when it cannot be written down. */
  draft(draft: Omit<SpooledDraft, 'kind'>, underWay: number): void;
  /** The end of a request that was admitted. Never fails. */
  settlement(settlement: Omit<SpooledSettlement, 'kind'>): void;
  /** The record of a request that was never admitted. These may fill half of the room and are dropped past it. */
  record(organizationId: string, record: string): void;
  /** A request that was dispatched and that nobody has ended. */
  expired(operationId: string, draft: string, candidate: number): void;
  spoolState(): SpoolState;
  backlog(): BacklogState;
  /** Since the start. */
  counts(): { readonly rows: number; readonly poisoned: number };
  /** Posts what the process before this one has left, all of it, or throws. */
  recover(): Promise<void>;
  /** Writes what is left until the deadline; what is not in the ledger then is `kept` on disk or `lost`. */
  stop(timeoutMs: number): Promise<{ readonly kept: number; readonly lost: number }>;
}

/** What waits to be written. */
interface Waiting {
  readonly entry: StreamEntry;
  readonly atMs: number;
  /** Its line on disk; null for what the disk did not take, and for what has its draft there. */
  readonly held: HeldFile | null;
  /** The request whose draft is over when this is in the ledger. */
  readonly operationId: string | null;
}

export function createDirectLedger(deps: DirectLedgerDeps): DirectLedger {
  const { clock, log } = deps;
  const owner = thisProcess(deps.ownerId);
  const files = createSpoolFiles({ directory: deps.directory, owner, isAlone: true, clock, log });
  const journal = createJournalFiles(files, deps.bytesMax);
  const makeDays = createDaysAhead(deps);
  const counts = { rows: 0, poisoned: 0 };
  let waiting: Waiting[] = [];
  let taken = 0;
  let serial = 0;
  let dropped = 0;
  let isTroubled = false;
  let timer: NodeJS.Timeout | null = null;
  let writing: Promise<void> | null = null;
  let isStopped = false;

  function add(fields: readonly string[], held: HeldFile | null, operationId: string | null): void {
    const atMs = clock.nowMs();
    serial += 1;
    waiting.push({ entry: { id: `${atMs}-${serial}`, fields }, atMs, held, operationId });
    schedule(GATHER_MS);
  }

  function schedule(delayMs: number): void {
    if (timer !== null || writing !== null || isStopped || waiting.length === 0) return;
    timer = setTimeout(() => {
      timer = null;
      void write();
    }, delayMs);
  }

  function write(): Promise<void> {
    writing ??= writeOnce()
      .then(
        () => GATHER_MS,
        (error: unknown) => {
          if (!isTroubled) log.error({ err: error }, 'the ledger cannot be written; usage stays on disk');
          isTroubled = true;
          return FAILURE_MS;
        },
      )
      .then((delayMs) => {
        writing = null;
        schedule(delayMs);
      });
    return writing;
  }

  async function writeOnce(): Promise<void> {
    const batch = waiting.slice(0, ENTRIES_PER_WRITE_MAX);
    taken = batch.length;
    try {
      await makeDays();
      const entries = batch.map(({ entry }) => ({ group: SOURCE, entry }));
      const { rows, poisoned } = await writeEntries(deps, readyEntries(entries, clock.nowMs()));
      counts.rows += rows;
      counts.poisoned += poisoned;
    } finally {
      taken = 0;
    }
    if (isTroubled) log.info({}, 'the ledger is written again');
    isTroubled = false;
    waiting = waiting.slice(batch.length);
    for (const { held, operationId } of batch) {
      if (operationId !== null) journal.endDraft(operationId);
      if (held !== null) journal.written(held);
    }
    journal.compact();
  }

  /** Records that are dropped are those of requests that no provider has seen. */
  function keepIfRoom(entry: SpoolEntry & { readonly record: string }): void {
    if (journal.hasRoom(entry)) {
      add([RECORD_FIELD, entry.record], journal.write(entry), null);
      return;
    }
    dropped += 1;
    if (dropped === 1) log.error({ bytes: files.bytes() }, 'there is no room for usage; records are lost');
  }

  return {
    draft: journal.draft,
    settlement({ organizationId, operationId, actual, record }) {
      const entry = { kind: 'settlement', organizationId, operationId, actual, record } as const;
      if (!actual.dispatched && !journal.hasDraft(operationId)) return keepIfRoom(entry);
      const held = journal.write(entry);
      if (held !== null) journal.endDraft(operationId);
      add([RECORD_FIELD, record], held, held === null ? operationId : null);
    },
    record: (organizationId, record) => keepIfRoom({ kind: 'record', organizationId, record }),
    expired: (operationId, draft, candidate) =>
      add([EXPIRED_FIELD, draft, CANDIDATE_FIELD, String(candidate)], null, operationId),
    spoolState: () => ({ bytes: files.bytes(), waiting: waiting.length, drafts: journal.drafts(), dropped }),
    backlog: () => ({
      entries: waiting.length,
      taken,
      lagMs: waiting.length === 0 ? 0 : Math.max(0, clock.nowMs() - (waiting[0]?.atMs ?? 0)),
    }),
    counts: () => ({ ...counts }),
    async recover() {
      await makeDays();
      const { rows, poisoned } = await postLeftUsage({ ...deps, files, source: SOURCE });
      counts.rows += rows;
      counts.poisoned += poisoned;
    },
    async stop(timeoutMs) {
      isStopped = true;
      if (timer !== null) clearTimeout(timer);
      const deadlineMs = clock.monotonicMs() + timeoutMs;
      await writing;
      while (waiting.length > 0 && !isTroubled && clock.monotonicMs() < deadlineMs) await write();
      files.close();
      const lost = waiting.filter(({ held, operationId }) => held === null && operationId === null).length;
      return { kept: waiting.length - lost, lost };
    },
  };
}
