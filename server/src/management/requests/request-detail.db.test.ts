import assert from 'node:assert/strict';
import { randomUUIDv7 } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { type FreshDatabase, freshDatabase } from '@relay/testbed';
import { sampleAttempt, sampleRow } from '../../store/ledger/ledger-row.fixture.ts';
import { addOneOfEach, type ManagementFixture, startManagement } from '../fixture.ts';
import { idAt, recordRequests } from './ledger.fixture.ts';

describe('one request of the log', () => {
  const nowMs = Date.now();
  let database: FreshDatabase;
  let room: ManagementFixture;
  const ids = (count: number): string[] => Array.from({ length: count }, () => randomUUIDv7());

  before(async () => {
    database = await freshDatabase();
    room = await startManagement(database.url);
  });
  after(async () => {
    await room.close();
    await database.drop();
  });

  it('tells what was recorded, with names of what is still there', async () => {
    const { endpoint, provider } = await addOneOfEach(room, room.globex);
    const arrivedMs = nowMs - 3_600_000;
    const [gone = '', credential = '', policy = ''] = ids(3);
    const timings = {
      receive_ms: 1,
      route_ms: 2,
      guard_ms: null,
      admit_ms: 3,
      wait_ms: 400,
      upstream_first_byte_ms: 50,
      first_content_ms: 700,
      total_ms: 900,
    };
    const trace = {
      timings,
      candidates: [
        { endpoint_id: gone, rank: 1, verdict: 'limited', reason: 'at its limit', wait_ms: null },
        { endpoint_id: endpoint.id, rank: 2, verdict: 'selected', reason: 'free', wait_ms: 400 },
      ],
      guardrails: [
        { guardrail_id: gone, stage: 'pre_dispatch', verdict: 'allowed', latency_ms: 4 },
        {
          guardrail_id: gone,
          stage: 'post_response',
          verdict: 'unavailable',
          latency_ms: 5,
          cause: 'timeout',
          skipped_parts: 2,
        },
      ],
    } as const;
    const attempt = { provider_id: provider.id, upstream_model: 'gpt-5', wait_ms: 400 };
    const row = sampleRow({
      request_id: idAt(arrivedMs, 1),
      organization_id: room.globex.organizationId,
      user_id: room.globex.userId,
      endpoint_id: endpoint.id,
      provider_id: provider.id,
      credential_id: credential,
      client_request_id: 'client-1',
      model: 'main',
      streaming: true,
      attempts: [
        {
          ...attempt,
          endpoint_id: gone,
          status: 429,
          outcome: 'failed',
          cause: 'upstream_throttled',
          started_ms: 410,
          latency_ms: 20,
        },
        {
          ...attempt,
          endpoint_id: endpoint.id,
          status: 200,
          outcome: 'completed',
          cause: null,
          started_ms: 440,
          latency_ms: 460,
        },
      ],
      bound_policy: {
        policy_id: policy,
        kind: 'user',
        scope_type: 'lane',
        scope_id: gone,
        metric: 'tokens',
        period: 'minute',
        resets_at: '2026-11-15T00:00:00.000Z',
      },
      trace,
      fallback_count: 1,
      wait_ms: 400,
      ttft_ms: 700,
      latency_ms: 900,
      actual_input_tokens: 11,
      actual_output_tokens: 7,
      actual_cached_input_tokens: 5,
      actual_cache_write_5m_tokens: 3,
      actual_cache_write_1h_tokens: 2,
      actual_cost_micros: 13,
    });
    await recordRequests(room.db, [row]);
    const { body } = await room.call('getRequest', room.globex, { id: row.request_id });
    const at = (ms: number) => new Date(arrivedMs + ms).toISOString();
    assert.deepEqual(
      [body.arrived_at, body.dispatched_at, body.first_content_at, body.finished_at],
      [at(0), at(410), at(700), at(900)],
    );
    assert.deepEqual(
      [body.input_tokens, body.output_tokens, body.cached_input_tokens, body.total_tokens, body.cost_micros],
      [11, 7, 5, 18, 13],
    );
    assert.deepEqual([body.cache_write_5m_tokens, body.cache_write_1h_tokens], [3, 2]);
    assert.deepEqual(body.timings, timings);
    assert.deepEqual(body.candidates, [
      { ...trace.candidates[0], endpoint_name: null },
      { ...trace.candidates[1], endpoint_name: endpoint.name },
    ]);
    assert.deepEqual(
      body.guardrails,
      trace.guardrails.map((said) => ({ cause: null, skipped_parts: null, ...said })),
    );
    assert.deepEqual(body.bound_policy?.policy_kind, 'user');
    assert.deepEqual(
      body.attempts.map(({ attempt: number, outcome, upstream_status, started_at }) => [
        number,
        outcome,
        upstream_status,
        started_at,
      ]),
      [
        [1, 'failed', 429, at(410)],
        [2, 'succeeded', 200, at(440)],
      ],
    );
    assert.deepEqual(
      body.attempts.map((each) => [
        each.sent,
        each.usage_source,
        each.input_tokens,
        each.output_tokens,
        each.cost_micros,
      ]),
      [
        [true, 'none', null, null, null],
        [true, 'reported', 11, 7, 13],
      ],
      'the last attempt that was sent used what the row says',
    );
    assert.deepEqual([body.credential_id, body.client_request_id], [credential, 'client-1']);
  });

  it('shows what each attempt used; one that was not sent used nothing', async () => {
    const use = { source: 'reported', input_tokens: 11, output_tokens: 3, cached_input_tokens: 2 } as const;
    const row = sampleRow({
      request_id: idAt(nowMs - 5_400_000, 3),
      organization_id: room.globex.organizationId,
      user_id: room.globex.userId,
      attempts: [
        sampleAttempt({ outcome: 'failed', use: { ...use, cost_micros: 36, cost_rounding_picos: 600_000 } }),
        sampleAttempt({ outcome: 'failed', sent: false }),
        sampleAttempt({ outcome: 'failed', status: 400 }),
        sampleAttempt({ use: { source: 'streamed', input_tokens: 8, output_tokens: 4, cost_micros: null } }),
      ],
      usage_source: 'streamed',
    });
    await recordRequests(room.db, [row]);
    const { attempts } = (await room.call('getRequest', room.globex, { id: row.request_id })).body;
    const nothing = [null, null, null, null, null];
    assert.deepEqual(
      attempts.map((each) => [
        each.sent,
        each.usage_source,
        each.input_tokens,
        each.output_tokens,
        each.cached_input_tokens,
        each.cost_micros,
        each.cost_usd,
      ]),
      [
        [true, 'reported', 11, 3, 2, 35, '0.0000354'],
        [false, 'none', ...nothing],
        [true, 'none', ...nothing],
        [true, 'streamed', 8, 4, 0, null, null],
      ],
    );
  });

  it('has nothing in place of what nobody measured, if it was never dispatched', async () => {
    const row = sampleRow({
      request_id: idAt(nowMs - 7_200_000, 2),
      organization_id: room.globex.organizationId,
      user_id: room.globex.userId,
      model: null,
      state: 'failed',
      status: 429,
      error_code: 'queue_full',
      usage_source: 'none',
      actual_input_tokens: null,
      actual_output_tokens: null,
      actual_cached_input_tokens: null,
      actual_cost_micros: null,
    });
    await recordRequests(room.db, [row]);
    const { body } = await room.call('getRequest', room.globex, { id: row.request_id });
    assert.deepEqual(
      [body.model, body.dispatched_at, body.first_content_at, body.total_tokens, body.cost_micros],
      [null, null, null, null, null],
    );
    assert.deepEqual([body.cache_write_5m_tokens, body.cache_write_1h_tokens], [null, null]);
    assert.deepEqual(
      [body.attempts, body.candidates, body.guardrails, body.bound_policy],
      [[], [], [], null],
    );
    assert.deepEqual([body.timings.total_ms, body.timings.route_ms], [12, null]);
  });
});
