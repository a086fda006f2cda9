import { RelayError } from '../../domain/relay-error.ts';
import { prefixOf } from '../../store/redis/shards.ts';
import { CANDIDATE_FIELD, EXPIRED_FIELD, RECORD_FIELD } from '../stream-entry.ts';
import type { SpoolEntry, SpooledSettlement, SpoolLine } from './spool-entry.ts';

/** Where everything in the spool wants to go. Both throw `store_unavailable` when Redis does not answer. */
export interface UsageSinks {
  /** Corrects the reservation if it still stands, and appends the record to the usage stream in the same step. */
  settle(settlement: SpooledSettlement): Promise<unknown>;
  /** Appends one entry to the usage stream of the organization's shard. */
  send(organizationId: string, fields: readonly string[]): Promise<unknown>;
}

const RECORDS_PER_ENTRY_MAX = 20;
const AT_ONCE = 32;

/** What is brought in one step. */
interface Load {
  readonly organizationId: string;
  readonly shard: string;
  readonly lines: readonly SpoolLine[];
}

/**
 * Brings entries to Redis: settlements first, so that reservations are corrected before they end by themselves, then
 * records, then drafts. A shard that does not answer is left alone and holds up no other. Tells of each line that has
 * arrived; a line may arrive twice, and the ledger has one row per request.
 */
export async function bringLines(
  sinks: UsageSinks,
  lines: readonly SpoolLine[],
  arrived: (line: SpoolLine) => void,
): Promise<void> {
  const away = new Set<string>();
  const loads = loadsOf(lines);
  for (let from = 0; from < loads.length; from += AT_ONCE) {
    const open = loads.slice(from, from + AT_ONCE).filter(({ shard }) => !away.has(shard));
    await Promise.all(
      open.map(async (load) => {
        try {
          await bring(sinks, load);
        } catch (error) {
          if (isAway(error)) away.add(load.shard);
          return;
        }
        for (const line of load.lines) arrived(line);
      }),
    );
  }
}

async function bring(sinks: UsageSinks, { organizationId, lines }: Load): Promise<void> {
  const [first] = lines;
  if (first?.entry.kind !== 'settlement') {
    const fields = lines.flatMap(({ entry }) => fieldsOf(entry));
    await sinks.send(organizationId, fields);
    return;
  }
  try {
    await sinks.settle(first.entry);
  } catch (error) {
    if (isAway(error)) throw error;
    // Whatever stands in the way of the reservation, the record must not wait for it.
    await sinks.send(organizationId, fieldsOf(first.entry));
  }
}

function loadsOf(lines: readonly SpoolLine[]): Load[] {
  const shards = new Map<string, string>();
  const shardOf = (organizationId: string): string => {
    const shard = shards.get(organizationId) ?? prefixOf(organizationId);
    shards.set(organizationId, shard);
    return shard;
  };
  const loads: Load[] = [];
  const together = new Map<string, SpoolLine[]>();
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

/** An entry of the spool as one of the stream. */
export function fieldsOf(entry: SpoolEntry): string[] {
  if (entry.kind === 'draft') return [EXPIRED_FIELD, entry.draft, CANDIDATE_FIELD, String(entry.candidate)];
  return [RECORD_FIELD, entry.record];
}

function isAway(error: unknown): boolean {
  return error instanceof RelayError && error.code === 'store_unavailable';
}
