import { RelayError } from '../../domain/relay-error.ts';
import { lineOf, type SpoolEntry, type SpooledDraft } from '../spool/spool-entry.ts';
import type { HeldFile, SpoolFiles } from '../spool/spool-files.ts';

/** Kept free for the end of each request under way. A record that is larger is written all the same. */
const RECORD_BYTES = 4_096;
/** Past this share of its room, files that only requests under way keep alive are given up. */
const CROWDED_SHARE = 1 / 4;

/** Which requests have their draft or their end on disk and not in the ledger yet. */
export interface JournalFiles {
  /** Throws `metering_unavailable` unless it is on disk, with room for the ends of the `underWay` requests. */
  draft(draft: Omit<SpooledDraft, 'kind'>, underWay: number): void;
  /** Answers where it is written; null when the disk refuses, in which case it is in memory alone. */
  write(entry: SpoolEntry): HeldFile | null;
  /** Something of this file has reached the ledger. */
  written(held: HeldFile): void;
  /** The end of this request is on disk or in the ledger. */
  endDraft(operationId: string): void;
  hasDraft(operationId: string): boolean;
  /** Whether a record that nobody needs to have may still be written. */
  hasRoom(entry: SpoolEntry): boolean;
  drafts(): number;
  /** Moves the drafts of long requests together, so that one of them does not keep a whole file. */
  compact(): void;
}

export function createJournalFiles(files: SpoolFiles, bytesMax: number): JournalFiles {
  const drafts = new Map<string, { readonly entry: SpooledDraft; readonly held: HeldFile }>();

  function releaseIfDone(held: HeldFile): void {
    if (held.waiting === 0 && held.drafts === 0) files.release(held);
  }

  function endDraft(operationId: string): void {
    const known = drafts.get(operationId);
    if (known === undefined) return;
    drafts.delete(operationId);
    known.held.drafts -= 1;
    releaseIfDone(known.held);
  }

  /** The draft before it, of an attempt that failed, is over when this one is on disk. */
  function writeDraft(entry: SpooledDraft): boolean {
    const held = files.write(lineOf(entry));
    if (held === null) return false;
    held.drafts += 1;
    endDraft(entry.operationId);
    drafts.set(entry.operationId, { entry, held });
    return true;
  }

  return {
    draft(draft, underWay) {
      const entry = { kind: 'draft', ...draft } as const;
      const bytes = files.bytes() + Buffer.byteLength(lineOf(entry)) + underWay * RECORD_BYTES;
      if (bytes > bytesMax) throw new RelayError('metering_unavailable', { internal: 'the spool is full' });
      if (!writeDraft(entry))
        throw new RelayError('metering_unavailable', { internal: 'the spool cannot be written' });
    },
    write(entry) {
      const held = files.write(lineOf(entry));
      if (held !== null) held.waiting += 1;
      return held;
    },
    written(held) {
      held.waiting -= 1;
      releaseIfDone(held);
    },
    endDraft,
    hasDraft: (operationId) => drafts.has(operationId),
    hasRoom: (entry) => files.bytes() + Buffer.byteLength(lineOf(entry)) <= bytesMax / 2,
    drafts: () => drafts.size,
    compact() {
      if (files.bytes() < bytesMax * CROWDED_SHARE) return;
      // The newest is the one that is written to.
      const [oldest] = files.held().slice(0, -1);
      if (oldest === undefined || oldest.waiting > 0) return;
      for (const { entry, held } of [...drafts.values()]) if (held === oldest) writeDraft(entry);
    },
  };
}
