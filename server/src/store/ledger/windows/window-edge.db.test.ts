import assert from 'node:assert/strict';
import { randomUUIDv7 } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { uuidAt } from '../../../kit/uuid-time.ts';
import { type MigratedDatabase, migratedDatabase } from '../../fixtures/migrated-database.fixture.ts';
import { appendRequests } from '../append-requests.ts';
import { ensureLedgerPartitions } from '../ledger-partitions.ts';
import { sampleAttempt, sampleRow } from '../ledger-row.fixture.ts';
import type { LedgerRow } from '../ledger-row.ts';
import { readWindowEdge } from './window-edge.ts';

const START_MS = Date.parse('2026-03-10T00:00:00.000Z');

describe('the edge of a window', () => {
  let migrated: MigratedDatabase;
  before(async () => {
    migrated = await migratedDatabase();
    await ensureLedgerPartitions(migrated.db, '2026-03-09', '2026-03-10');
  });
  after(() => migrated.drop());

  const use = (tokens: number) =>
    ({ source: 'reported', input_tokens: tokens, output_tokens: 0, cost_micros: 10 * tokens }) as const;

  async function edgeOf(rows: readonly (Partial<LedgerRow> & { readonly atMs: number })[]) {
    const organization_id = randomUUIDv7();
    const written = rows.map(({ atMs, ...over }) =>
      sampleRow({ organization_id, request_id: uuidAt(START_MS + atMs), latency_ms: 20_000, ...over }),
    );
    await appendRequests(migrated.db, written);
    const { requests, tokens, spend } = (await readWindowEdge(migrated.db, organization_id, START_MS)) ?? {};
    return { requests, tokens, spend };
  }

  it('has the attempts that were sent within 5 s of it, and no other', async () => {
    const attempts = [
      sampleAttempt({ started_ms: 1_000, use: use(1) }),
      sampleAttempt({ started_ms: 6_000, use: use(20) }),
      sampleAttempt({ started_ms: 9_000, sent: false }),
      sampleAttempt({ started_ms: 14_000, use: use(300) }),
      sampleAttempt({ started_ms: 16_000, use: use(4_000) }),
    ];
    assert.deepEqual(await edgeOf([{ atMs: -10_000, attempts }]), { requests: 2, tokens: 320, spend: 3_200 });
  });

  it('is nothing for requests that were only in flight, and of what was refused, the request', async () => {
    const refused = { usage_source: 'none', attempts: [sampleAttempt({ started_ms: 4_000 })] } as const;
    assert.deepEqual(
      await edgeOf([
        { atMs: -15_000, attempts: [sampleAttempt({ started_ms: 0 })] },
        { atMs: 7_000, attempts: [sampleAttempt({ started_ms: 0 })] },
      ]),
      { requests: 0, tokens: 0, spend: 0 },
    );
    assert.deepEqual(await edgeOf([{ atMs: -2_000, ...refused }]), { requests: 1, tokens: 0, spend: 0 });
  });
});
