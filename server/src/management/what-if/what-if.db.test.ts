import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ConfigFile, WhatIf } from '@relay/contract';
import type { Caller } from '../../domain/caller.ts';
import { uuidAt } from '../../kit/uuid-time.ts';
import { sampleRow } from '../../store/ledger/ledger-row.fixture.ts';
import { configFileRoom, smallFile, withSecret } from '../config-file/config-file.fixture.ts';
import { refusal } from '../fixture.ts';
import { recordRequests } from '../requests/ledger.fixture.ts';
import { HOUR_MS, servedRows, type Traffic } from './traffic.fixture.ts';

describe('what-if', () => {
  const { room, empty, apply, exported } = configFileRoom();

  async function site(config: ConfigFile, traffic: Traffic): Promise<Caller> {
    const caller = await empty();
    await apply(caller, config, withSecret);
    const { endpoints } = await room().snapshots.load(caller.organizationId);
    const [endpointId = ''] = endpoints.keys();
    await recordRequests(room().db, servedRows(caller, endpointId, traffic));
    return caller;
  }

  async function whatIf(caller: Caller, config: ConfigFile): Promise<WhatIf> {
    return (await room().call('whatIf', caller, { body: { config } })).body;
  }

  /** Another value of the file's limit. */
  function limited(limit: number) {
    const [policy] = smallFile().limit_policies;
    assert.ok(policy);
    return { version: 1, limit_policies: [{ ...policy, limit_value: limit }] } satisfies ConfigFile;
  }

  it('says of the same configuration that nothing differs, and of history what the ledger says', async () => {
    const caller = await site(smallFile(), { count: 20, everyMs: 1_000 });
    const { summary, requests, history, before, after, cut } = await whatIf(caller, smallFile());
    assert.equal(summary, 'No difference in rejections, waits, fallbacks or spend.');
    assert.deepEqual(before, after);
    assert.deepEqual(history, before);
    assert.equal(requests, 20);
    assert.equal(before.served, 20);
    assert.equal(before.cost_micros, 60);
    assert.equal(cut, null);
  });

  it('replays a lower limit: requests wait within the wait budget, and are rejected beyond it', async () => {
    const caller = await site(smallFile(), { count: 60, everyMs: 100 });
    const { before, after, limits, keys } = await whatIf(caller, limited(10));
    assert.equal(before.rejected, 0);
    // 6 s of traffic: ten requests go, and a wait for the next minute is longer than the budget of 30 s.
    assert.equal(after.served, 10);
    assert.deepEqual(after.rejections, [{ code: 'rate_limit_wait_budget_exceeded', requests: 50 }]);
    assert.deepEqual(
      limits.map(({ limit_before, limit_after, rejected_after }) => [
        limit_before,
        limit_after,
        rejected_after,
      ]),
      [[600, 10, 50]],
    );
    assert.deepEqual(
      keys.map(({ user_id, before: b, after: a }) => [user_id, b.rejected, a.rejected]),
      [[caller.userId, 0, 50]],
    );
    const lanes = [{ name: 'Fast', default_max_wait_ms: 600_000 }];
    const waiting = await whatIf(caller, { ...limited(30), lanes });
    assert.equal(waiting.after.served, 60);
    assert.ok(waiting.after.waited >= 30);
    assert.ok(waiting.after.wait_ms_p95 > 30_000);
  });

  it('counts concurrency by how long requests were in flight', async () => {
    const caller = await site(smallFile(), { count: 10, everyMs: 1_000 });
    const [endpoint] = smallFile().endpoints;
    assert.ok(endpoint);
    const { after } = await whatIf(caller, {
      version: 1,
      endpoints: [{ ...endpoint, max_concurrency: 1 }],
    });
    // One every second that takes two seconds: each waits a second longer than the one before.
    assert.equal(after.served, 10);
    assert.equal(after.wait_ms, (1_000 * 9 * 10) / 2);
  });

  it('rejects under unchanged settings exactly what a concurrency limit and a short wait budget rejected', async () => {
    const [policy] = smallFile().limit_policies;
    assert.ok(policy);
    const file = {
      ...smallFile(),
      lanes: [{ name: 'Fast', default_max_wait_ms: 300 }],
      limit_policies: [
        {
          ...policy,
          scope_type: 'lane',
          scope: 'fast',
          metric: 'concurrency',
          period: 'none',
          limit_value: 1,
        },
      ],
    } satisfies ConfigFile;
    const caller = await empty();
    await apply(caller, file, withSecret);
    const { endpoints } = await room().snapshots.load(caller.organizationId);
    const [endpointId = ''] = endpoints.keys();
    const startMs = Date.now() - HOUR_MS;
    const [served] = servedRows(caller, endpointId, { count: 1, everyMs: 1 });
    const [attempt] = served?.attempts ?? [];
    assert.ok(served && attempt);
    // As a gateway records it: how long each was in flight, and where none was free, how long it waited before it was rejected.
    const recorded = [
      { atMs: 0, tookMs: 1_000 },
      { atMs: 500, waitedMs: 300 },
      { atMs: 1_100, tookMs: 200 },
      { atMs: 1_150, waitedMs: 0 },
      { atMs: 1_299, waitedMs: 0 },
      { atMs: 1_400, tookMs: 700 },
      { atMs: 1_900, waitedMs: 0 },
      { atMs: 2_150, tookMs: 100 },
    ];
    await recordRequests(
      room().db,
      recorded.map(({ atMs, tookMs, waitedMs }) => ({
        ...served,
        request_id: uuidAt(startMs + atMs),
        ...(tookMs === undefined
          ? {
              state: 'failed' as const,
              status: 429,
              error_code: 'rate_limit_wait_budget_exceeded',
              usage_source: 'none' as const,
              actual_input_tokens: null,
              actual_output_tokens: null,
              actual_cost_micros: null,
              endpoint_id: null,
              attempts: [],
              wait_ms: waitedMs,
              latency_ms: waitedMs,
            }
          : { latency_ms: tookMs, attempts: [{ ...attempt, latency_ms: tookMs }] }),
      })),
    );
    const { history, before, after, rejecting } = await whatIf(caller, { version: 1 });
    assert.equal(history.rejected, 4);
    for (const each of [before, after]) {
      assert.deepEqual(each.rejections, history.rejections);
      assert.equal(each.wait_ms_rejected, history.wait_ms_rejected);
      assert.deepEqual([each.served, each.waited], [history.served, history.waited]);
    }
    assert.deepEqual(
      rejecting.map(({ metric, limit, scope_name: scope, requests }) => [metric, limit, scope, requests]),
      [['concurrency', 1, 'Fast', 4]],
    );
  });

  it('prices the same requests again', async () => {
    const caller = await site(smallFile(), { count: 10, everyMs: 1_000 });
    const { before, after, summary } = await whatIf(caller, {
      version: 1,
      pricing_policies: [
        { endpoint: 'model', input_cost_micros_per_1m_tokens: 500_001, output_cost_micros_per_1m_tokens: 2 },
      ],
    });
    assert.equal(Number(after.cost_micros) - Number(before.cost_micros), 5_000_000);
    assert.match(summary, /^\+\$5\.00, in 1 h/);
  });

  it('serves requests that were rejected, as others of their lane were served', async () => {
    const file = { ...smallFile(), ...limited(10) };
    const caller = await site(file, { count: 10, everyMs: 10 });
    const rejected = Array.from({ length: 5 }, (_, at) =>
      sampleRow({
        request_id: uuidAt(Date.now() - HOUR_MS + 200 + at),
        organization_id: caller.organizationId,
        user_id: caller.userId,
        model: 'fast',
        state: 'failed',
        status: 429,
        error_code: 'rate_limit_wait_budget_exceeded',
        usage_source: 'none',
        latency_ms: 1,
      }),
    );
    await recordRequests(room().db, rejected);
    const { history, before, after, keys } = await whatIf(caller, limited(20));
    assert.equal(history.rejected, 5);
    assert.equal(before.rejected, 5);
    assert.equal(after.rejected, 0);
    assert.equal(after.cost_micros, Number(before.cost_micros) + 5 * 3);
    assert.equal(keys[0]?.after.served, 15);
  });

  it('has no sum of requests that have no price, with and without the edit', async () => {
    const { pricing_policies, ...unpriced } = smallFile();
    const caller = await site(unpriced, { count: 4, everyMs: 1_000 });
    const { before, after, keys, endpoints } = await whatIf(caller, { version: 1, pricing_policies });
    const none = { cost_micros: null, cost_usd: null, unpriced_requests: 4 };
    for (const each of [before, keys[0]?.before, endpoints[0]?.before])
      assert.partialDeepStrictEqual(each, none);
    assert.deepEqual([after.cost_micros, after.cost_usd, after.unpriced_requests], [12, '0.000012', 0]);
  });

  it('writes nothing, with new credentials in the file too', async () => {
    const caller = await site(smallFile(), { count: 1, everyMs: 1 });
    const version = await room().configVersion(caller);
    const before = await exported(caller);
    await whatIf(caller, {
      version: 1,
      providers: [{ name: 'Other', base_url: 'https://other.example.com/v1' }],
      credentials: [{ provider: 'other', name: 'key', secret_ref: 'env:OTHER_KEY' }],
      lanes: [{ name: 'Slow' }],
    });
    assert.deepEqual(await exported(caller), before);
    assert.equal(await room().configVersion(caller), version);
  });

  it('answers like an apply to a file that an apply would reject', async () => {
    const caller = await site(smallFile(), { count: 1, everyMs: 1 });
    const wrong: ConfigFile = {
      version: 1,
      memberships: [{ lane: 'fast', endpoint: 'none', manual_rank: 1 }],
    };
    await assert.rejects(whatIf(caller, wrong), refusal('invalid_request', 'memberships[0].endpoint'));
  });

  it('runs one at a time, and rejects more than 8 that wait in an organization', async () => {
    const caller = await site(smallFile(), { count: 1, everyMs: 1 });
    const other = await site(smallFile(), { count: 1, everyMs: 1 });
    const running = Array.from({ length: 8 }, () => whatIf(caller, smallFile()));
    await assert.rejects(whatIf(caller, smallFile()), refusal('queue_full'));
    running.push(whatIf(other, smallFile()));
    assert.deepEqual(
      (await Promise.all(running)).map(({ requests }) => requests),
      running.map(() => 1),
    );
  });
});
