import { type Kysely, type Selectable, sql } from 'kysely';
import type { Sealer } from '../../kit/seal.ts';
import { rowArrays } from '../postgres/row-arrays.ts';
import type { Database } from '../postgres/schema.ts';
import type { StoreLog } from '../store-log.ts';

type StoredNote = Selectable<Database['poisoned_usage']>;

/** Which record of which entry of a stream. */
export type RecordPlace = Pick<StoredNote, 'stream' | 'entry_id' | 'place'>;

/** A record that cannot become a row, with what its entry said. */
export type PoisonedUsage = Omit<StoredNote, 'sealed_payload' | 'key_id' | 'replayed_at'> & {
  readonly payload: string;
};

/** A record that is kept for a replay. */
export type KeptUsage = RecordPlace &
  Pick<StoredNote, 'request_id' | 'found_at'> & { readonly payload: string };

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const RESEALED_AT_ONCE = 100;

/** Records entries that cannot become a row; each entry once. What they said is sealed: it may be anything. */
export async function notePoisonedUsage(
  db: Kysely<Database>,
  sealer: Pick<Sealer, 'seal' | 'keyId'>,
  poisoned: readonly PoisonedUsage[],
): Promise<void> {
  if (poisoned.length === 0) return;
  const names = [
    'stream',
    'entry_id',
    'place',
    'organization_id',
    'request_id',
    'reason',
    'found_at',
    'sealed_payload',
    'key_id',
  ] as const;
  const rows = poisoned.map(({ payload, ...note }) => {
    return { ...note, sealed_payload: sealer.seal(payload, bindingOf(note)), key_id: sealer.keyId };
  });
  const { columns, select } = rowArrays('poisoned_usage', names, rows);
  await sql`insert into poisoned_usage (${columns}) ${select} order by stream, entry_id, place
    on conflict do nothing`.execute(db);
}

/** Locks the next records to replay after this one, in the order of their places. Those that no configured key opens are left out. */
export async function lockKeptUsage(
  tx: Kysely<Database>,
  sealer: Pick<Sealer, 'open'>,
  options: { readonly after: RecordPlace | null; readonly rowsMax: number; readonly exceptKeyId?: string },
): Promise<{
  readonly kept: readonly KeptUsage[];
  readonly last: RecordPlace | null;
  readonly sealed: number;
}> {
  const { after, rowsMax, exceptKeyId = '' } = options;
  const position =
    after === null
      ? sql``
      : sql`and (stream, entry_id, place) > (${after.stream}, ${after.entry_id}, ${after.place})`;
  const { rows } = await sql<StoredNote & { readonly sealed_payload: Buffer }>`
    select stream, entry_id, place, request_id, found_at, sealed_payload from poisoned_usage
    where sealed_payload is not null and key_id <> ${exceptKeyId} ${position}
    order by stream, entry_id, place limit ${rowsMax} for update`.execute(tx);
  const kept: KeptUsage[] = [];
  for (const { sealed_payload, ...note } of rows) {
    const payload = opened(sealer, sealed_payload, note);
    if (payload !== null) kept.push({ ...note, payload });
  }
  return { kept, last: rows.at(-1) ?? null, sealed: rows.length - kept.length };
}

/** Those of these requests that were replayed before. */
export async function replayedBefore(tx: Kysely<Database>, requestIds: readonly string[]): Promise<string[]> {
  const { rows } = await sql<{ request_id: string }>`
    select distinct request_id from poisoned_usage
    where replayed_at is not null and request_id = any(${requestIds}::uuid[])`.execute(tx);
  return rows.map(({ request_id }) => request_id);
}

/** They have their rows: their notes stay, and what they said goes. */
export async function noteReplayed(tx: Kysely<Database>, places: readonly RecordPlace[]): Promise<void> {
  if (places.length === 0) return;
  const { select } = rowArrays('poisoned_usage', ['stream', 'entry_id', 'place'], places);
  await sql`update poisoned_usage set replayed_at = now(), sealed_payload = null, key_id = null
    where (stream, entry_id, place) in (${select})`.execute(tx);
}

/** The part of a master key rotation that concerns refused usage. Safe to repeat, and to run in several processes. */
export async function resealPoisonedUsage(options: {
  readonly db: Kysely<Database>;
  readonly sealer: Sealer;
  readonly log: StoreLog;
}): Promise<void> {
  const { db, sealer, log } = options;
  let after: RecordPlace | null = null;
  do {
    after = await db.transaction().execute(async (tx) => {
      const { kept, last, sealed } = await lockKeptUsage(tx, sealer, {
        after,
        rowsMax: RESEALED_AT_ONCE,
        exceptKeyId: sealer.keyId,
      });
      if (sealed > 0)
        log.warn({ records: sealed }, 'cannot decrypt rejected usage with the configured master keys');
      for (const { payload, ...note } of kept) {
        await tx
          .updateTable('poisoned_usage')
          .set({ sealed_payload: sealer.seal(payload, bindingOf(note)), key_id: sealer.keyId })
          .where('stream', '=', note.stream)
          .where('entry_id', '=', note.entry_id)
          .where('place', '=', note.place)
          .execute();
      }
      return last;
    });
  } while (after !== null);
}

/** A payload that is copied to another place does not open there. */
function bindingOf({ stream, entry_id, place }: RecordPlace): string[] {
  return ['refused usage', stream, entry_id, String(place)];
}

function opened(sealer: Pick<Sealer, 'open'>, sealed: Buffer, place: RecordPlace): string | null {
  try {
    return sealer.open(sealed, bindingOf(place)).reveal();
  } catch {
    return null;
  }
}

/** The value if it is a valid id. */
export function idOrNull(claimed: unknown): string | null {
  return typeof claimed === 'string' && UUID.test(claimed) ? claimed : null;
}
