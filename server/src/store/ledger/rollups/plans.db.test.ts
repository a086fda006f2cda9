import assert from 'node:assert/strict';
import { randomUUIDv7 } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { type RawBuilder, sql } from 'kysely';
import { type MigratedDatabase, migratedDatabase } from '../../fixtures/migrated-database.fixture.ts';
import { endpointFailuresQuery, failuresQuery } from './read-failures.ts';
import { groupsQuery } from './read-groups.ts';
import { meteredQuery } from './read-metered.ts';
import { type SeriesQuestion, seriesQuery, stateCountsQuery } from './read-series.ts';
import { spendQuery } from './read-spend.ts';

const DAY_MS = 86_400_000;
const DAYS = 40;
const ORGANIZATIONS = 8;
const ENDPOINTS = 8;
const USERS = 5;

describe('statistics from a quarter of a million sums', () => {
  const toMs = Math.ceil(Date.now() / DAY_MS) * DAY_MS;
  const users = Array.from({ length: USERS }, () => randomUUIDv7());
  const organizationId = randomUUIDv7();
  let migrated: MigratedDatabase;

  before(async () => {
    migrated = await migratedDatabase();
    const others = Array.from({ length: ORGANIZATIONS - 1 }, () => randomUUIDv7());
    const endpoints = Array.from({ length: ENDPOINTS }, () => randomUUIDv7());
    const sizes = [
      ['hour', 3_600],
      ['day', 86_400],
    ] as const;
    const parts = [organizationId, ...others].flatMap((id) => sizes.map((size) => [id, ...size] as const));
    for (const [organization, bucket, seconds] of parts) {
      await sql`insert into request_rollups (organization_id, bucket, family, bucket_start, endpoint_id, user_id, requests_completed,
          latency_bins, latency_counts)
        select ${organization}::uuid, ${bucket}, family, to_timestamp(${toMs / 1_000}) - n * make_interval(secs => ${seconds}), endpoint,
          case when family = 'caller' then person end, 1, array[12], array[1]
        from unnest(${endpoints}::uuid[]) endpoint,
          generate_series(1, ${(DAYS * 86_400) / seconds}::int) n,
          (select 'resource' as family, null::uuid as person union all select 'caller', unnest(${users.slice(0, 3)}::uuid[])) caller`.execute(
        migrated.db,
      );
    }
    for (const organization of [organizationId, ...others])
      await sql`insert into failure_rollups (organization_id, bucket, bucket_start, user_id, error_code, endpoint_id, requests,
          first_request_id, last_request_id)
        select ${organization}::uuid, 'hour', to_timestamp(${toMs / 1_000}) - n * interval '1 hour', person, 'upstream_timeout',
          endpoint, 1, endpoint, endpoint
        from unnest(${endpoints}::uuid[]) endpoint, unnest(${users.slice(0, 3)}::uuid[]) person,
          generate_series(1, ${DAYS * 24}::int) n`.execute(migrated.db);
    await sql`analyze request_rollups, failure_rollups`.execute(migrated.db);
  });
  after(async () => {
    await migrated.drop();
  });

  async function assertIndexed(query: RawBuilder<unknown>): Promise<void> {
    const { rows } = await sql<{ 'QUERY PLAN': string }>`explain ${query}`.execute(
      migrated.database.ofOrganization(organizationId),
    );
    const plan = rows.map((line) => line['QUERY PLAN']).join('\n');
    assert.match(plan, /(?:request|failure)_rollups_/);
    assert.doesNotMatch(plan, /Seq Scan on (?:request|failure)_rollups|on requests/);
  }

  const question = (over: Partial<SeriesQuestion>): SeriesQuestion => ({
    organizationId,
    range: { bucket: 'hour', fromMs: toMs - 30 * DAY_MS, toMs },
    conditions: {},
    dimension: null,
    sums: ['requests_completed', 'requests_failed', 'requests_cancelled'],
    histogram: null,
    ...over,
  });

  const questions: Readonly<Record<string, Partial<SeriesQuestion>>> = {
    'thirty days by model': { dimension: 'model' },
    'thirty days of quantiles by endpoint': { dimension: 'endpoint', histogram: 'latency' },
    'a day by key': { dimension: 'api_key', range: { bucket: 'hour', fromMs: toMs - DAY_MS, toMs } },
    'forty days by day': { range: { bucket: 'day', fromMs: toMs - DAYS * DAY_MS, toMs } },
    'own traffic by lane': { dimension: 'lane', conditions: { user_id: users[0] } },
  };
  for (const [what, over] of Object.entries(questions)) {
    it(`${what} reads no table from end to end, and nothing of the ledger`, async () => {
      await assertIndexed(seriesQuery(question(over)));
    });
  }

  it('the spend of a month reads no table from end to end', async () => {
    for (const userId of [undefined, users[0]])
      await assertIndexed(spendQuery({ organizationId, userId, fromMs: toMs - 30 * DAY_MS }));
  });

  it('what was metered, for a comparison with a bill, reads no table from end to end', async () => {
    await assertIndexed(
      meteredQuery({ organizationId, userId: undefined, range: question({}).range, limit: 10_001 }),
    );
  });

  it('a day of all endpoints, lanes and keys, and of failures by cause, reads no table from end to end', async () => {
    const range = { bucket: 'hour', fromMs: toMs - DAY_MS, toMs } as const;
    for (const userId of [undefined, users[0]]) {
      for (const by of ['endpoint', 'lane', 'api_key'] as const)
        await assertIndexed(groupsQuery(by, { organizationId, userId, range }, 10_000));
      await assertIndexed(failuresQuery({ organizationId, userId, range }, 100));
      await assertIndexed(endpointFailuresQuery({ organizationId, userId, range }));
    }
  });

  it('the counts by state read no table from end to end, and nothing of the ledger', async () => {
    await assertIndexed(stateCountsQuery(organizationId, undefined));
    await assertIndexed(stateCountsQuery(organizationId, users[0]));
  });
});
