import { RelayError } from '../../domain/relay-error.ts';
import type { Clock } from '../../kit/clock.ts';
import type { Log } from '../../kit/log.ts';
import { createThrottle } from '../../kit/throttle.ts';
import { type JournalEntry, type JournaledDraft, type JournaledEnd, lineOf } from './journal-entry.ts';
import { createJournalFiles, type HeldFile, type JournalFiles } from './journal-files.ts';
import { thisProcess } from './journal-names.ts';

/** Kept free for the end of each request in flight. A larger record is still written. */
const RECORD_BYTES = 4_096;
/** Past this share of the journal's space, files that only requests in flight keep are compacted. */
const CROWDED_SHARE = 1 / 4;

export interface JournalDeps {
  /** On a local disk. */
  readonly directory: string;
  readonly bytesMax: number;
  /** A UUID, unique to this process. */
  readonly ownerId: string;
  readonly clock: Clock;
  readonly log: Log;
}

export interface JournalState {
  readonly bytes: number;
  /** Ends that are not delivered yet, on disk and in memory. */
  readonly waiting: number;
  /** Requests in flight whose draft is on disk. */
  readonly drafts: number;
  readonly dropped: number;
}

/** What requests use of a journal, wherever it delivers to. */
export interface UsageJournal {
  /**
   * Persists a request before it is dispatched. Throws `metering_unavailable` unless there is space for it and for the ends of
   * the `inFlight` requests of this process.
   */
  draft(draft: Omit<JournaledDraft, 'kind'>, inFlight: number): void;
  /** The end of an admitted request. Never fails. */
  settlement(settlement: Omit<Extract<JournalEntry, { kind: 'settlement' }>, 'kind'>): void;
  /** The record of a request that was never dispatched. These may fill half of the space and are dropped past it. */
  record(organizationId: string, record: string): void;
  state(): JournalState;
  /**
   * Delivers what it can until the deadline. Returns how much is `kept` on disk for the next process, and how much is `lost`
   * because the disk refused it.
   */
  stop(timeoutMs: number): Promise<{ readonly kept: number; readonly lost: number }>;
}

/** Bounded, append-only files with the drafts and ends of requests that are not delivered yet. */
export interface Journal {
  readonly files: JournalFiles;
  draft: UsageJournal['draft'];
  /** Whether there is space for the end of a request; counts it as dropped otherwise. */
  accepts(entry: JournaledEnd): boolean;
  /** Appends an end. Null when the disk refuses: the caller keeps it in memory. */
  append(entry: JournaledEnd): HeldFile | null;
  /** An end of this file was delivered. */
  delivered(held: HeldFile): void;
  /** The end of this request is on disk or delivered. */
  endDraft(operationId: string): void;
  hasDraft(operationId: string): boolean;
  releaseIfDone(held: HeldFile): void;
  drop(): void;
  counts(): { readonly bytes: number; readonly drafts: number; readonly dropped: number };
  /** Rewrites the drafts of long requests, so that one of them does not keep a file of 4 MiB. */
  compact(): void;
}

export function createJournal(deps: JournalDeps & { readonly isAlone: boolean }): Journal {
  const { bytesMax, log } = deps;
  const files = createJournalFiles({ ...deps, owner: thisProcess(deps.ownerId) });
  const drafts = createDrafts(files);
  const mayLog = createThrottle(deps.clock);
  let dropped = 0;

  function drop(): void {
    dropped += 1;
    if (mayLog()) log.error({ dropped, bytes: files.bytes() }, 'the spool is full; usage records are lost');
  }

  function hasSpace(entry: JournalEntry): boolean {
    return files.bytes() + Buffer.byteLength(lineOf(entry)) <= bytesMax / 2;
  }

  return {
    files,
    draft(draft, inFlight) {
      const entry = { kind: 'draft', ...draft } as const;
      const bytes = files.bytes() + Buffer.byteLength(lineOf(entry)) + inFlight * RECORD_BYTES;
      if (bytes > bytesMax) throw new RelayError('metering_unavailable', { internal: 'the spool is full' });
      if (!drafts.write(entry))
        throw new RelayError('metering_unavailable', { internal: 'cannot write to the spool' });
    },
    accepts(entry) {
      // The settlement of a dispatched request uses the space that `draft` reserved. Any other end may be
      // dropped when space is short: a lease it leaves in Redis expires by itself.
      const hasReserved =
        entry.kind === 'settlement' && (entry.actual.dispatched || drafts.has(entry.operationId));
      const isAccepted = hasReserved || hasSpace(entry);
      if (!isAccepted) drop();
      return isAccepted;
    },
    append(entry) {
      const held = files.write(lineOf(entry));
      if (held === null) return null;
      held.waiting += 1;
      if (entry.kind === 'settlement') drafts.end(entry.operationId);
      return held;
    },
    delivered(held) {
      held.waiting -= 1;
      releaseIfDone(files, held);
    },
    endDraft: drafts.end,
    hasDraft: drafts.has,
    releaseIfDone: (held) => releaseIfDone(files, held),
    drop,
    counts: () => ({ bytes: files.bytes(), drafts: drafts.count(), dropped }),
    compact() {
      if (files.bytes() < bytesMax * CROWDED_SHARE) return;
      // The newest file is the one being written.
      const [oldest] = files.held().slice(0, -1);
      if (oldest !== undefined && oldest.waiting === 0) drafts.moveFrom(oldest);
    },
  };
}

/** Which requests in flight have their draft in which file. */
function createDrafts(files: JournalFiles) {
  const drafts = new Map<string, { readonly entry: JournaledDraft; readonly held: HeldFile }>();

  function end(operationId: string): void {
    const known = drafts.get(operationId);
    if (known === undefined) return;
    drafts.delete(operationId);
    known.held.drafts -= 1;
    releaseIfDone(files, known.held);
  }

  /** Replaces the draft of an earlier attempt once this one is on disk. */
  function write(entry: JournaledDraft): boolean {
    const held = files.write(lineOf(entry));
    if (held === null) return false;
    held.drafts += 1;
    end(entry.operationId);
    drafts.set(entry.operationId, { entry, held });
    return true;
  }

  return {
    end,
    write,
    has: (operationId: string) => drafts.has(operationId),
    count: () => drafts.size,
    moveFrom(file: HeldFile) {
      for (const { entry, held } of [...drafts.values()]) if (held === file) write(entry);
    },
  };
}

function releaseIfDone(files: JournalFiles, held: HeldFile): void {
  if (held.waiting === 0 && held.drafts === 0) files.release(held);
}
