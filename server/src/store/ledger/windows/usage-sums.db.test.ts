import assert from 'node:assert/strict';
import { randomUUIDv7 } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { limitMetrics } from '@relay/contract';
import { createRandom, testSeed } from '@relay/testbed/random';
import type { CountedRequests } from '../../../domain/limits/limit.ts';
import { METRICS, type Quantity } from '../../../domain/limits/metric.ts';
import { smallestUuidAt } from '../../../kit/uuid-time.ts';
import { type MigratedDatabase, migratedDatabase } from '../../fixtures/migrated-database.fixture.ts';
import { appendRequests } from '../append-requests.ts';
import { attemptsOfRow, type SentAttempt } from '../attempts-of-row.ts';
import { ensureLedgerPartitions } from '../ledger-partitions.ts';
import { randomAttempts, sampleRow } from '../ledger-row.fixture.ts';
import type { LedgerRow } from '../ledger-row.ts';
import { sumUsage, type UsageWindow } from './usage-sums.ts';

const HOUR_MS = 3_600_000;
const TODAY_MS = Date.parse('2026-03-10T00:00:00.000Z');
const ids = (count: number) => Array.from({ length: count }, () => randomUUIDv7());
const at = (list: readonly string[], index: number) => list[index % list.length] ?? '';

const organizationId = randomUUIDv7();
const users = ids(2);
const keys = ids(4);
const providers = ids(2);
const endpoints = ids(3);
const lanes = ids(2);
const credentials = ids(2);
const teams = ids(3);

function teamOf(teamId: string): Pick<LedgerRow, 'team_id' | 'parent_team_id'> {
  return { team_id: teamId, parent_team_id: teamId === teams[0] ? null : (teams[0] ?? null) };
}

/** The n-th row of a ledger in which every combination occurs, on two days. */
function row(index: number, over: Partial<LedgerRow> = {}): LedgerRow {
  const atMs = TODAY_MS + (index % 2 === 0 ? 1 : -1) * (index + 1) * 1_000;
  return sampleRow({
    request_id: smallestUuidAt(atMs).slice(0, -12) + index.toString(16).padStart(12, '0'),
    organization_id: organizationId,
    user_id: at(users, index >> 1),
    key_id: index % 7 === 0 ? null : at(keys, index >> 1),
    lane_id: index % 5 === 0 ? null : at(lanes, index >> 2),
    endpoint_id: at(endpoints, index),
    provider_id: at(providers, index >> 3),
    // The first team is the parent of the others, and has requests of its own.
    ...(index % 3 === 0 ? {} : teamOf(at(teams, index))),
    credential_id: index % 11 === 0 ? null : at(credentials, index >> 4),
    estimated_input_tokens: 1_000,
    estimated_output_tokens: 1_000,
    estimated_cost_micros: 1_000,
    actual_input_tokens: index,
    actual_output_tokens: 2 * index,
    actual_cost_micros: 10 * index,
    ...over,
  });
}

describe('what the ledger holds of a window', () => {
  let migrated: MigratedDatabase;
  const rows = Array.from({ length: 240 }, (_, index) => row(index));

  before(async () => {
    migrated = await migratedDatabase();
    await ensureLedgerPartitions(migrated.db, '2026-03-09', '2026-03-10');
    const others = Array.from({ length: 40 }, (_, index) =>
      row(500 + index, { organization_id: randomUUIDv7() }),
    );
    await appendRequests(migrated.db, [...rows, ...others]);
  });
  after(() => migrated.drop());

  const everything: CountedRequests = { userId: null, keyId: null, scopeType: 'global', scopeId: null };

  it('is exactly what its member, its key and its target had, in every combination and metric', async () => {
    const windows: UsageWindow[] = [];
    const expected: number[] = [];
    const columns = {
      provider: 'provider_id',
      endpoint: 'endpoint_id',
      model: 'endpoint_id',
      lane: 'lane_id',
      credential: 'credential_id',
    };
    const targets = [
      ['global', null],
      ...providers.map((id) => ['provider', id]),
      ...endpoints.flatMap((id) => [
        ['endpoint', id],
        ['model', id],
      ]),
      ...lanes.map((id) => ['lane', id]),
      ...credentials.map((id) => ['credential', id]),
    ] as [keyof typeof columns | 'global', string | null][];
    const subjects: Partial<CountedRequests>[] = [
      {},
      ...users.map((userId) => ({ userId })),
      ...keys.map((keyId) => ({ keyId })),
      ...teams.map((teamId) => ({ teamId })),
    ];
    for (const subject of subjects) {
      for (const [scopeType, scopeId] of targets) {
        // From the start of a day, of an hour, and from a moment within a bucket.
        for (const startMs of [TODAY_MS, TODAY_MS - HOUR_MS, TODAY_MS - 100_000]) {
          if (subject.teamId !== undefined && scopeType === 'credential') continue;
          const counts: CountedRequests = { ...everything, ...subject, scopeType, scopeId };
          const counted = rows.filter(
            (each) =>
              each.request_id >= smallestUuidAt(startMs) &&
              (counts.userId === null || each.user_id === counts.userId) &&
              (counts.keyId === null || each.key_id === counts.keyId) &&
              (counts.teamId === undefined ||
                each.team_id === counts.teamId ||
                each.parent_team_id === counts.teamId) &&
              (scopeType === 'global' || each[columns[scopeType] as 'lane_id'] === scopeId),
          );
          const sum = (amount: (each: LedgerRow) => number) =>
            counted.reduce((total, each) => total + amount(each), 0);
          windows.push(
            { metric: 'requests', counts, startMs },
            { metric: 'tokens', counts, startMs },
            { metric: 'spend', counts, startMs },
          );
          expected.push(
            counted.length,
            sum((each) => (each.actual_input_tokens ?? 0) + (each.actual_output_tokens ?? 0)),
            sum((each) => each.actual_cost_micros ?? 0),
          );
        }
      }
    }
    assert.deepEqual(await sumUsage(migrated.db, organizationId, windows), expected);
    // The first hour of a day is less than the day, whose requests are in its last.
    const dayMs = TODAY_MS - 24 * HOUR_MS;
    const within = (startMs: number, endMs: number) => ({
      metric: 'requests' as const,
      counts: everything,
      startMs,
      endMs,
    });
    const ofHours = Array.from({ length: 24 }, (_, hour) =>
      within(dayMs + hour * HOUR_MS, dayMs + (hour + 1) * HOUR_MS),
    );
    const counts = await sumUsage(migrated.db, organizationId, [...ofHours, within(dayMs, TODAY_MS)]);
    const ofDay = counts.pop();
    assert.equal(
      counts.reduce((sum, count) => sum + count, 0),
      ofDay,
    );
    assert.ok(expected.filter((amount) => amount > 0).length > expected.length / 2);
  });

  it('is of attempts, each where and when it was sent, from rollups as from rows', async () => {
    const organization = randomUUIDv7();
    const random = createRandom(testSeed());
    const upTo = (most: number) => Math.floor(random.next() * most);
    const targets = { endpoints, providers, credentials };
    // Over the midnight between two days, and the hours around it.
    const crossing = Array.from({ length: 150 }, (_, index) => {
      const atMs = TODAY_MS - 2 * HOUR_MS + upTo(4 * HOUR_MS);
      const attempts = randomAttempts(random, targets).map((attempt, place) => ({
        ...attempt,
        started_ms: attempt.started_ms === null ? null : attempt.started_ms + place * upTo(HOUR_MS),
      }));
      const id = smallestUuidAt(atMs).slice(0, -12) + index.toString(16).padStart(12, '0');
      const usage_source = random.pick(['reported', 'estimated', 'none'] as const);
      const wait_ms = random.pick([0, 0, upTo(HOUR_MS)]);
      const own = { request_id: id, organization_id: organization, usage_source, attempts, wait_ms };
      return row(index, { ...own, latency_ms: 5 * HOUR_MS });
    });
    await appendRequests(migrated.db, crossing);
    const columns = {
      provider: 'provider_id',
      endpoint: 'endpoint_id',
      credential: 'credential_id',
    } as const;
    const targetsOf = [
      ...providers.map((id) => ['provider', id] as const),
      ...endpoints.map((id) => ['endpoint', id] as const),
      ...credentials.map((id) => ['credential', id] as const),
      ...lanes.map((id) => ['lane', id] as const),
      ['global', null] as const,
    ];
    const windows: UsageWindow[] = [];
    const expected: number[] = [];
    for (const [scopeType, scopeId] of targetsOf)
      for (const subject of [{}, { userId: at(users, 0) }, { keyId: at(keys, 1) }, { teamId: at(teams, 0) }])
        for (const [startMs, endMs] of [
          [TODAY_MS - 24 * HOUR_MS, TODAY_MS],
          [TODAY_MS, TODAY_MS + 24 * HOUR_MS],
          [TODAY_MS - HOUR_MS, TODAY_MS],
          [TODAY_MS - 777_000, TODAY_MS + 333_000],
        ] as const) {
          const counts: CountedRequests = { ...everything, ...subject, scopeType, scopeId };
          const sent = crossing
            .filter(
              (each) =>
                (counts.userId === null || each.user_id === counts.userId) &&
                (counts.keyId === null || each.key_id === counts.keyId) &&
                (counts.teamId === undefined ||
                  [each.team_id, each.parent_team_id].includes(counts.teamId)) &&
                (scopeType !== 'lane' || each.lane_id === scopeId),
            )
            .flatMap(attemptsOfRow)
            .filter((each) => each.dispatched_ms >= startMs && each.dispatched_ms < endMs)
            .filter((each) => !(scopeType in columns) || each[columns[scopeType as 'provider']] === scopeId);
          const sum = (amount: (each: SentAttempt) => number) =>
            sent.reduce((total, each) => total + amount(each), 0);
          windows.push(
            { metric: 'requests', counts, startMs, endMs },
            { metric: 'tokens', counts, startMs, endMs },
            { metric: 'spend', counts, startMs, endMs },
          );
          expected.push(
            sent.length,
            sum(({ input_tokens, output_tokens }) => input_tokens + output_tokens),
            sum(({ cost_micros }) => cost_micros),
          );
        }
    assert.deepEqual(await sumUsage(migrated.db, organization, windows), expected);
    assert.ok(expected.filter((amount) => amount > 0).length > expected.length / 2);
  });

  it('ignores what never reached a provider, and counts unreported usage as estimated', async () => {
    const organization = randomUUIDv7();
    const own = { organization_id: organization };
    await appendRequests(migrated.db, [
      row(900, { ...own, usage_source: 'none' }),
      row(902, {
        ...own,
        usage_source: 'estimated',
        actual_input_tokens: null,
        actual_output_tokens: null,
        actual_cost_micros: null,
      }),
    ]);
    const windows = limitMetrics.map((metric) => ({ metric, counts: everything, startMs: TODAY_MS }));
    const sums = await sumUsage(migrated.db, organization, windows);
    const expected: Record<Quantity, number> = { requests: 1, tokens: 2_000, spend: 1_000 };
    assert.deepEqual(
      sums,
      limitMetrics.map((metric) => expected[METRICS[metric].quantity]),
    );
  });

  it('is nothing for an organization without rows, and no question is no query', async () => {
    const window: UsageWindow = { metric: 'tokens', counts: everything, startMs: TODAY_MS };
    assert.deepEqual(await sumUsage(migrated.db, randomUUIDv7(), [window]), [0]);
    assert.deepEqual(await sumUsage(migrated.db, organizationId, []), []);
  });
});
