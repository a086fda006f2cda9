import assert from 'node:assert/strict';
import { randomUUIDv7 } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { createRandom, testSeed } from '@relay/testbed/random';
import { sql } from 'kysely';
import { sumOfAttempts } from '../domain/attempt-sums.ts';
import type {
  AttemptUse,
  RecordedAttempt,
  RecordedCandidate,
  RequestRecord,
} from '../domain/request-record.ts';
import { type MigratedDatabase, migratedDatabase } from '../store/fixtures/migrated-database.fixture.ts';
import { appendRequests } from '../store/ledger/append-requests.ts';
import { attemptsOfRow } from '../store/ledger/attempts-of-row.ts';
import { ensureLedgerPartitions, utcDayOf } from '../store/ledger/ledger-partitions.ts';
import { ledgerRow } from './ledger-row.ts';
import { sampleRecord } from './request-records.fixture.ts';

const NOW_MS = Date.now();
const random = createRandom(testSeed());
const upTo = (most: number) => Math.floor(random.next() * most);

function useOf(): AttemptUse {
  const usage = {
    inputTokens: 1_200 + upTo(500),
    outputTokens: 300 + upTo(90),
    cachedInputTokens: upTo(2) * 800,
  };
  return {
    source: 'reported',
    usage: { ...usage, ...(upTo(2) === 1 && { reasoningTokens: 120 }) },
    costMicros: 8_000 + upTo(5_000),
    costRoundingPicos: upTo(1_000_000),
  };
}

function attempt(over: Partial<RecordedAttempt> = {}): RecordedAttempt {
  return {
    endpointId: randomUUIDv7(),
    providerId: randomUUIDv7(),
    credentialId: randomUUIDv7(),
    upstreamModel: 'claude-sonnet-4-5-20250929',
    status: 200,
    outcome: 'completed',
    cause: null,
    startedMs: 3 + upTo(1_000),
    waitMs: 0,
    latencyMs: 1_834,
    sent: true,
    upstreamRequestId: 'req_011CTKgQsQ6cNGv7FpzCcSHM',
    ...over,
  };
}

const failed = (over: Partial<RecordedAttempt> = {}) =>
  attempt({ status: 529, outcome: 'failed', cause: 'upstream_error', ...over });

function unsent(): RecordedAttempt {
  const { upstreamRequestId: _id, ...attempt } = failed({ sent: false, status: null });
  return { ...attempt, cause: 'upstream_unreachable' };
}

/** What a gateway writes of a request with these attempts. */
function recordOf(attempts: readonly RecordedAttempt[], over: Partial<RequestRecord> = {}): RequestRecord {
  const last = attempts.at(-1);
  return sampleRecord({
    ...(last === undefined
      ? { endpointId: null, providerId: null }
      : {
          endpointId: last.endpointId,
          providerId: last.providerId,
          credentialId: last.credentialId ?? null,
        }),
    attempts,
    ...sumOfAttempts(attempts),
    ...over,
  });
}

/** As a decision trace says it. */
function judged(rank: number, last: number): Pick<RecordedCandidate, 'verdict' | 'reason'> {
  if (rank > last)
    return { verdict: 'available', reason: 'not needed: ranked after the endpoints that were tried' };
  if (rank < last)
    return { verdict: 'unhealthy', reason: 'the attempt failed, and Relay tried another endpoint' };
  return { verdict: 'selected', reason: 'Relay made the last attempt here' };
}

describe('a record as a row of the ledger', () => {
  let migrated: MigratedDatabase;
  before(async () => {
    migrated = await migratedDatabase();
    await ensureLedgerPartitions(migrated.db, utcDayOf(NOW_MS), utcDayOf(NOW_MS + 86_400_000));
  });
  after(() => migrated.drop());

  it('tells of each attempt where it was sent and what it used, whatever became of the others', () => {
    for (let round = 0; round < 2_000; round += 1) {
      const attempts = Array.from({ length: upTo(4) }, () => {
        const sent = random.next() < 0.8;
        const use = random.next() < 0.6 ? useOf() : undefined;
        return attempt({
          sent,
          ...(sent && use !== undefined && { use }),
          credentialId: upTo(4) > 0 ? randomUUIDv7() : null,
        });
      });
      const record = recordOf(attempts);
      const found = attemptsOfRow(ledgerRow(record, NOW_MS)).map((each) => [
        each.endpoint_id,
        each.credential_id,
        each.source,
        each.input_tokens,
        each.cached_input_tokens,
        each.output_tokens,
        each.cost_micros,
        each.cost_rounding_picos,
      ]);
      const expected = attempts
        .filter(({ sent }) => sent)
        .map(({ endpointId, credentialId, use }) => [
          endpointId,
          credentialId,
          // The source of a sum is that of its least certain part.
          use?.source ?? 'none',
          use?.usage.inputTokens ?? 0,
          use?.usage.cachedInputTokens ?? 0,
          use?.usage.outputTokens ?? 0,
          use?.costMicros ?? 0,
          use?.costRoundingPicos ?? 0,
        ]);
      assert.deepEqual(found, expected, JSON.stringify(record));
    }
  });

  it('keeps what a use consists of, without what it does not have', () => {
    const usage = {
      inputTokens: 9,
      outputTokens: 0,
      cachedInputTokens: 0,
      cacheWrite1hTokens: 4,
      serviceTier: 'flex',
    };
    const use: AttemptUse = { source: 'streamed', usage, costMicros: null };
    const [first, second] = ledgerRow(recordOf([failed({ use }), attempt()]), NOW_MS).attempts;
    assert.deepEqual(first?.use, {
      source: 'streamed',
      input_tokens: 9,
      output_tokens: 0,
      cache_write_1h_tokens: 4,
      cost_micros: null,
      details: { service_tier: 'flex' },
    });
    assert.equal(second?.use, undefined);
  });

  it('is that of the last attempt where the version before wrote it', () => {
    const { sent: _sent, credentialId: _credential, ...old } = failed();
    const { sent: _last, ...last } = attempt();
    const charged = { tokens: 40, spendMicros: 9 };
    const record = recordOf([{ ...old, charged } as RecordedAttempt, last], {
      usageSource: 'reported',
      actualInputTokens: 3,
      actualOutputTokens: 2,
      actualCostMicros: 5,
    });
    const sent = attemptsOfRow(ledgerRow(record, NOW_MS));
    assert.deepEqual(
      sent.map(({ source, input_tokens, cost_micros }) => [source, input_tokens, cost_micros]),
      [
        ['none', 0, 0],
        ['reported', 3, 5],
      ],
    );
  });

  it('has with two attempts at most 1.3 times the bytes that it has with one', async () => {
    const of = (attempts: readonly RecordedAttempt[]) =>
      recordOf(attempts, {
        userId: randomUUIDv7(),
        keyId: randomUUIDv7(),
        laneId: randomUUIDv7(),
        clientRequestId: 'checkout-7f3a91',
        model: 'assistant',
        streaming: true,
        traceId: 'a3ce929d0e0e47364bf92f3577b34da6',
        waitBudgetMs: 30_000,
        usageDetails: { reasoningTokens: 120 },
        // Both endpoints of its lane, whichever was asked.
        candidates: [0, 1].map((rank) => ({
          endpointId: attempts[rank]?.endpointId ?? randomUUIDv7(),
          rank,
          ...judged(rank, attempts.length - 1),
          waitMs: rank < attempts.length ? 0 : null,
        })),
        timings: {
          receiveMs: 1,
          routeMs: 0,
          guardMs: null,
          admitMs: 1,
          waitMs: 0,
          upstreamFirstByteMs: 412,
          firstContentMs: 431,
          totalMs: 1_841,
        },
      });
    const sizeOf = async (make: () => readonly RecordedAttempt[]): Promise<number> => {
      const rows = Array.from({ length: 50 }, () => ledgerRow(of(make()), NOW_MS));
      await appendRequests(migrated.db, rows);
      const { rows: found } = await sql<{ size: number }>`
        select avg(pg_column_size(requests.*))::float8 as size from requests
        where request_id = any(${rows.map(({ request_id }) => request_id)}::uuid[])`.execute(migrated.db);
      return found[0]?.size ?? Number.NaN;
    };
    const one = await sizeOf(() => [attempt({ use: useOf() })]);
    for (const [what, first] of [
      ['refused', () => failed()],
      ['not sent', unsent],
      ['used', () => failed({ use: useOf() })],
    ] as const) {
      const two = await sizeOf(() => [first(), attempt({ use: useOf() })]);
      assert.ok(two <= 1.3 * one, `${what}: ${two} bytes are ${two / one} times ${one}`);
    }
  });
});
