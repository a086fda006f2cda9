import { RelayError } from '../../domain/relay-error.ts';
import { prefixOf } from '../../store/redis/shards.ts';
import { CANDIDATE_FIELD, EXPIRED_FIELD, RECORD_FIELD } from '../stream-entry.ts';
import type { JournalEntry, JournaledSettlement, JournalLine } from './journal-entry.ts';

/** Where a journal delivers to. Both throw `store_unavailable` when Redis does not answer. */
export interface UsageTargets {
  /** Settles the reservation if there is one, and appends the record to the usage stream in the same step. */
  settle(settlement: JournaledSettlement): Promise<unknown>;
  /** Appends one entry to the usage stream of the organization's shard. */
  send(organizationId: string, fields: readonly string[]): Promise<unknown>;
}

const RECORDS_PER_ENTRY_MAX = 20;
const CONCURRENCY = 32;

/** Lines that are delivered with one call. */
interface Load {
  readonly organizationId: string;
  readonly shard: string;
  readonly lines: readonly JournalLine[];
}

/**
 * Delivers entries to Redis: settlements first, so that reservations are corrected before they expire, then records, then
 * drafts. A shard that does not answer is skipped and delays no other. Reports each delivered line; a line may be
 * delivered twice, and the ledger keeps one row per request.
 */
export async function deliverLines(
  targets: UsageTargets,
  lines: readonly JournalLine[],
  delivered: (line: JournalLine) => void,
): Promise<void> {
  const unavailable = new Set<string>();
  const loads = loadsOf(lines);
  for (let from = 0; from < loads.length; from += CONCURRENCY) {
    const open = loads.slice(from, from + CONCURRENCY).filter(({ shard }) => !unavailable.has(shard));
    await Promise.all(
      open.map(async (load) => {
        try {
          await deliver(targets, load);
        } catch (error) {
          if (isUnavailable(error)) unavailable.add(load.shard);
          return;
        }
        for (const line of load.lines) delivered(line);
      }),
    );
  }
}

async function deliver(targets: UsageTargets, { organizationId, lines }: Load): Promise<void> {
  const [first] = lines;
  if (first?.entry.kind !== 'settlement') {
    const fields = lines.flatMap(({ entry }) => fieldsOf(entry));
    await targets.send(organizationId, fields);
    return;
  }
  try {
    await targets.settle(first.entry);
  } catch (error) {
    if (isUnavailable(error)) throw error;
    // The record must not wait for a reservation that cannot be settled.
    await targets.send(organizationId, fieldsOf(first.entry));
  }
}

function loadsOf(lines: readonly JournalLine[]): Load[] {
  const shards = new Map<string, string>();
  const shardOf = (organizationId: string): string => {
    const shard = shards.get(organizationId) ?? prefixOf(organizationId);
    shards.set(organizationId, shard);
    return shard;
  };
  const loads: Load[] = [];
  const together = new Map<string, JournalLine[]>();
  const drafts: Load[] = [];
  for (const line of lines) {
    const { kind, organizationId } = line.entry;
    const shard = shardOf(organizationId);
    if (kind === 'settlement') loads.push({ organizationId, shard, lines: [line] });
    else if (kind === 'draft') drafts.push({ organizationId, shard, lines: [line] });
    else {
      const waiting = together.get(shard);
      if (waiting === undefined) together.set(shard, [line]);
      else waiting.push(line);
    }
  }
  for (const [shard, records] of together) {
    for (let from = 0; from < records.length; from += RECORDS_PER_ENTRY_MAX) {
      const part = records.slice(from, from + RECORDS_PER_ENTRY_MAX);
      loads.push({ organizationId: part[0]?.entry.organizationId ?? '', shard, lines: part });
    }
  }
  return [...loads, ...drafts];
}

/** A journal entry as fields of a stream entry. */
export function fieldsOf(entry: JournalEntry): string[] {
  if (entry.kind === 'draft') return [EXPIRED_FIELD, entry.draft, CANDIDATE_FIELD, String(entry.candidate)];
  return [RECORD_FIELD, entry.record];
}

function isUnavailable(error: unknown): boolean {
  return error instanceof RelayError && error.code === 'store_unavailable';
}
