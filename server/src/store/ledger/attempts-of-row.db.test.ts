import assert from 'node:assert/strict';
import { randomUUIDv7 } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { createRandom, testSeed } from '@relay/testbed/random';
import { sql } from 'kysely';
import { GATEWAY_LOST } from '../../domain/expired-draft.ts';
import { uuidAt } from '../../kit/uuid-time.ts';
import { type MigratedDatabase, migratedDatabase } from '../fixtures/migrated-database.fixture.ts';
import { appendRequests } from './append-requests.ts';
import { attemptsOfRow, type SentAttempt, sentAttemptsOf } from './attempts-of-row.ts';
import { ensureLedgerPartitions } from './ledger-partitions.ts';
import { randomAttempts, sampleAttempt, sampleRow } from './ledger-row.fixture.ts';
import type { LedgerRow } from './ledger-row.ts';

const AT_MS = Date.parse('2026-03-10T11:59:30.500Z');
const random = createRandom(testSeed());
const [endpoints, providers, credentials] = [3, 2, 2].map((count) =>
  Array.from({ length: count }, () => randomUUIDv7()),
) as [string[], string[], string[]];
const [first, second] = [endpoints[0] ?? '', endpoints[1] ?? ''];

/** What is asked of an attempt most. */
const brief = ({ endpoint_id, source, input_tokens, output_tokens, cost_micros }: SentAttempt) => [
  endpoint_id,
  source,
  input_tokens,
  output_tokens,
  cost_micros,
];

function rowOf(over: Partial<LedgerRow> = {}): LedgerRow {
  const used = { actual_input_tokens: 11, actual_output_tokens: 7, actual_cost_micros: 18 };
  return sampleRow({ request_id: uuidAt(AT_MS), endpoint_id: second, ...used, ...over });
}

describe('the attempts of a row that were sent', () => {
  let migrated: MigratedDatabase;
  const organizationId = randomUUIDv7();

  before(async () => {
    migrated = await migratedDatabase();
    await ensureLedgerPartitions(migrated.db, '2026-03-10', '2026-03-10');
  });
  after(() => migrated.drop());

  it('used each its own, where the row tells it', () => {
    const use = { source: 'reported', input_tokens: 11, output_tokens: 3, cost_micros: 36 } as const;
    const attempts = [
      sampleAttempt({ endpoint_id: first, started_ms: 5, latency_ms: 20, use }),
      sampleAttempt({ endpoint_id: second, started_ms: 40, use: { ...use, output_tokens: 7 } }),
    ];
    const sent = attemptsOfRow(rowOf({ attempts, latency_ms: 90 }));
    assert.deepEqual(sent.map(brief), [
      [first, 'reported', 11, 3, 36],
      [second, 'reported', 11, 7, 36],
    ]);
    const times = sent.map((each) => [each.dispatched_ms, each.ended_ms, each.is_followed]);
    assert.deepEqual(times, [
      [AT_MS + 5, AT_MS + 25, true],
      [AT_MS + 40, AT_MS + 90, false],
    ]);
  });

  it('used nothing before the last one, in rows of earlier versions', () => {
    const attempts = [
      sampleAttempt({ endpoint_id: first, started_ms: null }),
      sampleAttempt({ endpoint_id: second, started_ms: null }),
    ];
    const sent = attemptsOfRow(rowOf({ attempts, wait_ms: 12 }));
    assert.deepEqual(sent.map(brief), [
      [first, 'none', 0, 0, 0],
      [second, 'reported', 11, 7, 18],
    ]);
    assert.deepEqual(
      sent.map(({ dispatched_ms }) => dispatched_ms - AT_MS),
      [12, 12],
    );
  });

  it('are not those that were never sent, and the one before has what the row says', () => {
    for (const unsent of [{ sent: false }, { cause: 'upstream_not_prepared' }] as const) {
      const attempts = [
        sampleAttempt({ endpoint_id: first }),
        sampleAttempt({ endpoint_id: second, ...unsent }),
      ];
      const sent = attemptsOfRow(rowOf({ attempts }));
      assert.deepEqual(sent.map(brief), [[first, 'reported', 11, 7, 18]]);
      assert.equal(sent[0]?.is_followed, true);
      assert.deepEqual(attemptsOfRow(rowOf({ attempts: attempts.slice(1), usage_source: 'none' })), []);
    }
  });

  it('count without usage where the provider refused them', () => {
    const sent = attemptsOfRow(rowOf({ attempts: [sampleAttempt()], usage_source: 'none' }));
    assert.deepEqual(
      sent.map(({ source, cost_micros }) => [source, cost_micros]),
      [['none', 0]],
    );
  });

  it('are one, at the endpoint of the row, where usage has no attempt', () => {
    const lost = { error_code: GATEWAY_LOST, usage_source: 'estimated', latency_ms: 12_000 } as const;
    const sent = attemptsOfRow(rowOf(lost));
    assert.deepEqual(sent.map(brief), [[second, 'estimated', 11, 7, 18]]);
    assert.deepEqual([sent[0]?.dispatched_ms, sent[0]?.latest_ms], [AT_MS, AT_MS + 12_000]);
  });

  it('have the credential of the row only at its provider, unless they name one', () => {
    const [here = '', elsewhere = ''] = providers;
    const credential_id = credentials[0] ?? '';
    const attempts = [
      sampleAttempt({ provider_id: elsewhere }),
      sampleAttempt({ provider_id: elsewhere, credential_id: credentials[1] ?? '' }),
      sampleAttempt({ provider_id: here, credential_id: null }),
      sampleAttempt({ provider_id: here }),
    ];
    const sent = attemptsOfRow(rowOf({ attempts, provider_id: here, credential_id }));
    assert.deepEqual(
      sent.map((each) => each.credential_id),
      [null, credentials[1], null, credential_id],
    );
  });

  it('are the same in SQL, for rows of every form', async () => {
    const rows = Array.from({ length: 1_500 }, () => {
      const usage_source = random.pick(['reported', 'streamed', 'estimated', 'none', 'none'] as const);
      const isNone = usage_source === 'none';
      const upTo = (most: number) => Math.floor(random.next() * most);
      const amount = () => (isNone || random.next() < 0.1 ? null : upTo(1_000));
      return sampleRow({
        request_id: uuidAt(AT_MS + upTo(1_000)),
        organization_id: organizationId,
        endpoint_id: random.pick([...endpoints, null]),
        provider_id: random.pick([...providers, null]),
        credential_id: random.pick([...credentials, null]),
        error_code: random.pick([null, GATEWAY_LOST, 'upstream_timeout']),
        usage_source,
        attempts: randomAttempts(random, { endpoints, providers, credentials }),
        wait_ms: upTo(3_000),
        latency_ms: upTo(30_000),
        actual_input_tokens: amount(),
        actual_cached_input_tokens: amount(),
        actual_output_tokens: amount(),
        actual_cost_micros: amount(),
        actual_cost_rounding_picos: isNone ? 0 : upTo(1_000_000),
      });
    });
    await appendRequests(migrated.db, rows);
    const { rows: read } = await sql<{ request_id: string; sent: SentAttempt[] }>`
      select request.request_id, (select coalesce(json_agg(sent), '[]') from ${sentAttemptsOf('request')} as sent) as sent
      from requests as request where request.organization_id = ${organizationId}`.execute(migrated.db);
    const inSql = new Map(read.map(({ request_id, sent }) => [request_id, sent]));
    assert.equal(inSql.size, rows.length);
    const counts = new Set<number>();
    for (const row of rows) {
      const sent = attemptsOfRow(row);
      counts.add(sent.length);
      assert.deepEqual(inSql.get(row.request_id), sent, JSON.stringify(row));
    }
    assert.ok([0, 1, 2, 3].every((count) => counts.has(count)));
  });
});
