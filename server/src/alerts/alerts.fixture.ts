import { randomUUIDv7 } from 'node:crypto';
import type { Kysely } from 'kysely';
import type { CalendarPeriod } from '../domain/limits/period.ts';
import { createLog } from '../kit/log.ts';
import { createSealer } from '../kit/seal.ts';
import { WEBHOOK_SECRET_PREFIX } from '../kit/sign-webhook.ts';
import { smallestUuidAt } from '../kit/uuid-time.ts';
import { secretBinding } from '../store/configuration/secret-binding.ts';
import { appendRequests } from '../store/ledger/append-requests.ts';
import { sampleRow } from '../store/ledger/ledger-row.fixture.ts';
import type { LedgerRow } from '../store/ledger/ledger-row.ts';
import type { Database } from '../store/postgres/schema.ts';
import { type EvaluateDeps, evaluateNext } from './evaluate-alerts.ts';

const SPANS_MS = { hour: 3_600_000, day: 86_400_000, week: 7 * 86_400_000, month: 31 * 86_400_000 } as const;

/** For tests: months of 31 days since 1970 do as well as those of the calendar. */
export function windowAt(period: CalendarPeriod, atMs: number) {
  const spanMs = SPANS_MS[period];
  const startMs = Math.floor(atMs / spanMs) * spanMs;
  return { startMs, endMs: startMs + spanMs };
}

export const silent = createLog('silent');
export const sealer = createSealer({ primary: Buffer.alloc(32, 'a key of 32 bytes for the tests!') });
export const SIGNING_SECRET = WEBHOOK_SECRET_PREFIX + Buffer.alloc(32, 7).toString('base64');

/** Writes usage to the ledger, as a worker does. */
export async function spend(
  db: Kysely<Database>,
  organizationId: string,
  costMicros: number,
  over: Partial<LedgerRow> & { readonly atMs?: number } = {},
): Promise<void> {
  const { atMs = Date.now(), ...rest } = over;
  const request_id = smallestUuidAt(atMs).slice(0, -12) + randomUUIDv7().slice(-12);
  const row = sampleRow({
    request_id,
    organization_id: organizationId,
    actual_cost_micros: costMicros,
    ...rest,
  });
  await appendRequests(db, [row]);
}

export async function evaluateAll(deps: EvaluateDeps): Promise<number> {
  let written = 0;
  for (let count: number | null = 0; count !== null; count = await evaluateNext(deps)) written += count;
  return written;
}

export async function addWebhook(
  db: Kysely<Database>,
  organizationId: string,
  url: string,
  over: { readonly enabled?: boolean } = {},
): Promise<string> {
  const id = randomUUIDv7();
  const place = { organizationId, ownerId: id, secretVersion: 1 };
  await db
    .insertInto('alert_destinations')
    .values({
      organization_id: organizationId,
      id,
      name: 'Receiver',
      kind: 'webhook',
      url,
      sealed_secret: sealer.seal(SIGNING_SECRET, secretBinding(place)),
      key_id: sealer.keyId,
      secret_version: 1,
      ...over,
    })
    .execute();
  return id;
}
