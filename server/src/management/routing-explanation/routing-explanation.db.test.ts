import assert from 'node:assert/strict';
import { randomUUIDv7 } from 'node:crypto';
import { after, before, beforeEach, describe, it } from 'node:test';
import type { LaneCreate, LimitPolicyCreate } from '@relay/contract';
import { type FreshDatabase, freshDatabase } from '@relay/testbed';
import { sql } from 'kysely';
import { SOMEBODY } from '../../admission/ask.fixture.ts';
import type { AdmissionAsk } from '../../admission/engine.ts';
import { chargesFor } from '../../domain/limits/limits.ts';
import { routingTableOf } from '../../domain/routing/routing.ts';
import { storeUnavailable } from '../../store/store-error.ts';
import { type ManagementFixture, REFUSED, refusal, startManagement } from '../fixture.ts';

describe('a routing explanation', () => {
  let database: FreshDatabase;
  let room: ManagementFixture;
  let number = 0;
  let providerId: string;
  let endpointIds: string[];
  let model: string;
  let storeIsAway = false;

  before(async () => {
    database = await freshDatabase();
    room = await startManagement(database.url, {
      limitUsage: (organizationId, policies) =>
        storeIsAway
          ? Promise.reject(storeUnavailable('redis', 'the breaker is open'))
          : room.engine.usage(organizationId, policies),
    });
  });
  after(async () => {
    await room.close();
    await database.drop();
  });
  beforeEach(() => laneOfThree({}));

  /** A lane with three endpoints, ranked 10, 20, 30. */
  async function laneOfThree(settings: Partial<LaneCreate>): Promise<void> {
    number += 1;
    model = `lane-${number}`;
    const { body: provider } = await room.call('createProvider', room.acme, {
      body: { name: `Provider ${number}`, base_url: 'https://api.example.com/v1' },
    });
    providerId = provider.id;
    await room.call('createCredential', room.acme, {
      body: { provider_id: providerId, name: 'Key', secret: 'sk-x' },
    });
    const { body: lane } = await room.call('createLane', room.acme, {
      body: { name: `Lane ${number}`, default_max_wait_ms: 10_000, ...settings },
    });
    endpointIds = [];
    for (const rank of [10, 20, 30]) {
      const { body: endpoint } = await room.call('createEndpoint', room.acme, {
        body: {
          provider_id: providerId,
          name: `E${rank}`,
          upstream_model: `m-${number}`,
          route_kind: 'chat',
        },
      });
      await room.call('createMembership', room.acme, {
        body: { lane_id: lane.id, endpoint_id: endpoint.id, manual_rank: rank },
      });
      endpointIds.push(endpoint.id);
    }
  }

  async function explain(body: object = {}, operation: 'chat' | 'embeddings' = 'chat') {
    const request = { model, messages: [{ role: 'user', content: 'x'.repeat(400) }], ...body };
    return (await room.call('explainRouting', room.acme, { body: { operation, body: request } })).body;
  }
  const verdicts = ({ candidates }: Awaited<ReturnType<typeof explain>>) =>
    candidates.map(({ verdict }) => verdict);
  const endpoint = (index: number) => endpointIds[index] ?? '';
  const coolDown = (index: number, ms: number) => room.penalize(endpoint(index), Date.now() + ms);

  it('names the first candidate by rank, with estimates and cost', async () => {
    await room.call('createPricingPolicy', room.acme, {
      body: {
        endpoint_id: endpoint(0),
        input_cost_micros_per_1m_tokens: 1_000_000,
        output_cost_micros_per_1m_tokens: 2_000_000,
      },
    });
    const answer = await explain({ max_tokens: 50 });
    assert.equal(answer.outcome, 'dispatch');
    assert.equal(answer.resolved_as, 'lane');
    assert.equal(answer.selected_endpoint_id, endpoint(0));
    assert.equal(answer.wait_ms, 0);
    assert.equal(answer.wait_budget_ms, 10_000);
    assert.equal(answer.estimated_input_tokens, 104);
    assert.equal(answer.estimated_output_tokens, 50);
    assert.deepEqual(verdicts(answer), ['selected', 'available', 'available']);
    assert.deepEqual(
      answer.candidates.map(({ rank, estimated_cost_micros }) => [rank, estimated_cost_micros]),
      [
        [10, 204],
        [20, null],
        [30, null],
      ],
    );
  });

  it('leaves out candidates without a price under a spend limit, and says which limit', async () => {
    const { body: limit } = await room.call('createLimitPolicy', room.acme, {
      body: { scope_type: 'global', metric: 'spend', period: 'minute', limit_value: 5_000_000 },
    });
    const refused = await explain({ max_tokens: 50 });
    assert.deepEqual([refused.outcome, refused.error_code], ['refuse', 'unpriced']);
    assert.deepEqual(verdicts(refused), ['unpriced', 'unpriced', 'unpriced']);
    assert.match(refused.candidates[0]?.reason ?? '', /no price.*limit of \$5\.00 per minute/);
    await room.call('createPricingPolicy', room.acme, {
      body: {
        endpoint_id: endpoint(1),
        input_cost_micros_per_1m_tokens: 1_000_000,
        output_cost_micros_per_1m_tokens: 2_000_000,
      },
    });
    const priced = await explain({ max_tokens: 50 });
    assert.deepEqual(verdicts(priced), ['unpriced', 'selected', 'unpriced']);
    await room.call('updateLimitPolicy', room.acme, { id: limit.id, body: { ...limit, unpriced: 'allow' } });
    assert.deepEqual(verdicts(await explain({ max_tokens: 50 })), ['selected', 'available', 'available']);
    await room.call('deleteLimitPolicy', room.acme, { id: limit.id });
  });

  it('shows what a hard limit would reserve, the cap that would be written, and what nothing bounds', async () => {
    const { body: limit } = await room.call('createLimitPolicy', room.acme, {
      body: {
        scope_type: 'global',
        metric: 'tokens',
        period: 'minute',
        limit_value: 3_000,
        enforcement: 'hard',
      },
    });
    const capped = (await explain({ max_tokens: 50 })).candidates[0]?.reserved;
    assert.deepEqual([capped?.output_tokens, capped?.output_cap], [50, null]);
    assert.ok((capped?.input_tokens ?? 0) > 104);
    const reserved = (await explain({})).candidates[0]?.reserved;
    assert.equal(
      (reserved?.input_tokens ?? 0) + (reserved?.output_cap ?? 0),
      3_000,
      'it fits the limit alone',
    );
    const open = await explain({ max_tokens: -1 });
    assert.deepEqual([open.outcome, open.error_code], ['refuse', 'unbounded_request']);
    assert.deepEqual(verdicts(open), ['unbounded', 'unbounded', 'unbounded']);
    assert.match(open.candidates[0]?.reason ?? '', /"max_tokens" makes usage unbounded.*context_window/);
    await room.call('deleteLimitPolicy', room.acme, { id: limit.id });
    assert.equal((await explain({})).candidates[0]?.reserved, null);
  });

  it('skips candidates that are disabled or cannot serve the request, and says why', async () => {
    await room.call('updateEndpoint', room.acme, { id: endpoint(0), body: { enabled: false } });
    await room.call('updateEndpoint', room.acme, { id: endpoint(1), body: { supports_streaming: false } });
    const answer = await explain({ stream: true });
    assert.deepEqual(verdicts(answer), ['disabled', 'incompatible', 'selected']);
    assert.match(answer.candidates[1]?.reason ?? '', /streaming/);
    assert.equal(answer.candidates[0]?.wait_ms, null);
  });

  it('of a lane without a candidate for the operation is no_route', async () => {
    const answer = await explain({ input: 'x' }, 'embeddings');
    assert.equal(answer.outcome, 'refuse');
    assert.equal(answer.error_code, 'no_route');
    assert.deepEqual(verdicts(answer), ['incompatible', 'incompatible', 'incompatible']);
  });

  it('takes the next candidate that is free now, unless the lane prefers to wait', async () => {
    coolDown(0, 5_000);
    const free = await explain();
    assert.deepEqual([free.outcome, free.selected_endpoint_id], ['dispatch', endpoint(1)]);
    await laneOfThree({ selection: 'preferred' });
    coolDown(0, 5_000);
    const answer = await explain();
    assert.equal(answer.outcome, 'wait');
    assert.equal(answer.selected_endpoint_id, endpoint(0));
    assert.ok((answer.wait_ms ?? 0) > 4_000 && (answer.wait_ms ?? 0) <= 5_000);
  });

  it('passes over a candidate whose cooldown is past the budget', async () => {
    coolDown(0, 60_000);
    coolDown(2, 5_000);
    const answer = await explain();
    assert.deepEqual(verdicts(answer), ['limited', 'selected', 'would_wait']);
    assert.match(answer.candidates[0]?.reason ?? '', /which ends in (1 min|\d+ s), and this/);
  });

  it('of a lane with selection soonest names the candidate that is free now', async () => {
    await laneOfThree({ selection: 'soonest' });
    coolDown(0, 5_000);
    const answer = await explain();
    assert.equal(answer.selected_endpoint_id, endpoint(1));
    assert.deepEqual(verdicts(answer), ['would_wait', 'selected', 'available']);
  });

  it('refuses with the Retry-After of the engine when no candidate fits the wait budget', async () => {
    for (const [index, ms] of [60_000, 40_000, 50_000].entries()) coolDown(index, ms);
    const answer = await explain();
    assert.equal(answer.outcome, 'refuse');
    assert.equal(answer.error_code, 'rate_limit_wait_budget_exceeded');
    assert.equal(answer.selected_endpoint_id, null);
    // The cooldown ends in 40 s and the wait budget is 10 s, less the 200 ms that a promise leaves.
    assert.ok((answer.retry_after_ms ?? 0) > 29_000 && (answer.retry_after_ms ?? 0) <= 30_200);
  });

  it('skips a candidate that is down while another is not, and says since when and why', async () => {
    const takeDown = async (index: number) => {
      for (let n = 0; n < 3; n += 1) await room.attempted(room.acme, endpoint(index), REFUSED);
    };
    await takeDown(0);
    const answer = await explain();
    assert.deepEqual(verdicts(answer), ['unhealthy', 'selected', 'available']);
    assert.match(
      answer.candidates[0]?.reason ?? '',
      /^skipped: down for 1 s, connection refused; Relay tries it again with a single request every 1 s$/,
    );
    await takeDown(1);
    await takeDown(2);
    const allDown = await explain();
    assert.equal(allDown.selected_endpoint_id, endpoint(0), 'the last one is never taken out');
    assert.match(
      allDown.candidates[0]?.reason ?? '',
      /it is down \(connection refused\), and all other endpoints are down too/,
    );
  });

  it('says when a provider has no credential to send', async () => {
    const { body: credentials } = await room.call('listCredentials', room.acme);
    const own = credentials.find(({ provider_id }) => provider_id === providerId);
    await room.call('updateCredential', room.acme, { id: own?.id ?? '', body: { enabled: false } });
    const answer = await explain();
    assert.equal(answer.error_code, 'upstream_not_prepared');
    assert.deepEqual(verdicts(answer), ['unhealthy', 'unhealthy', 'unhealthy']);
  });

  it('resolves provider/model and a bare model, and reports an unknown name', async () => {
    const asked = async (name: string) => {
      const { resolved_as, candidates, lane_id } = await explain({ model: name });
      return [resolved_as, candidates.length, lane_id];
    };
    assert.deepEqual(await asked(`provider-${number}/m-${number}`), ['provider_model', 3, null]);
    assert.deepEqual(await asked(`m-${number}`), ['model', 3, null]);
    const unknown = await explain({ model: 'nobody' });
    assert.equal(unknown.resolved_as, 'unknown');
    assert.equal(unknown.outcome, 'refuse');
    assert.equal(unknown.error_code, 'model_not_found');
    assert.deepEqual(unknown.candidates, []);
    assert.match(unknown.reason ?? '', /"nobody".*lane slug.*provider\/model.*upstream model/);
    assert.doesNotMatch(unknown.reason ?? '', /disabled/);
  });

  it('says that a lane of that name is disabled', async () => {
    await laneOfThree({ enabled: false });
    const answer = await explain();
    assert.equal(answer.error_code, 'model_not_found');
    assert.match(answer.reason ?? '', /but it is disabled/);
  });

  describe('of an endpoint with limits', () => {
    let policyId: string;

    async function limitFirst(over: Partial<LimitPolicyCreate>, index = 0): Promise<void> {
      const whole = { metric: 'requests', period: 'second', limit_value: 1 } as const;
      const body = { scope_type: 'endpoint', scope_id: endpoint(index), ...whole, ...over } as const;
      policyId = (await room.call('createLimitPolicy', room.acme, { body })).body.id;
    }

    /** Admits one request at the first endpoint with room, as the data plane would. */
    async function use(tokens = 10): Promise<string> {
      const { organizationId } = room.acme;
      const snapshot = await room.snapshots.load(organizationId);
      const route = routingTableOf(snapshot).resolve(model);
      assert.ok(route);
      const operationId = randomUUIDv7();
      const ask: AdmissionAsk = {
        organizationId,
        operationId,
        queue: operationId,
        waitersMax: 10,
        ...SOMEBODY,
        candidates: route.members.map(({ candidate }) => ({
          endpointId: candidate.endpoint.id,
          paced: false,
          charges: chargesFor(snapshot, room.acme, route, candidate, { tokens, spendMicros: 0 }),
        })),
        selection: 'preferred',
        waitMsMax: 0,
        leaseMs: 60_000,
        draft: '{}',
      };
      const { kind } = await room.engine.admit(ask);
      assert.equal(kind, 'admitted');
      return operationId;
    }
    const usageOf = async () =>
      (await room.call('listLimitUsage', room.acme)).body.find(({ policy_id }) => policy_id === policyId);

    it('dispatches while there is room, and reserves nothing', async () => {
      await limitFirst({ period: 'minute' });
      for (const _ of [1, 2]) {
        const answer = await explain();
        assert.deepEqual([answer.outcome, answer.limited_by, answer.reason], ['dispatch', null, null]);
      }
      const usage = await usageOf();
      assert.deepEqual([usage?.used, usage?.reserved], [0, 0]);
    });

    it('names the limit that would make it wait, and until when', async () => {
      await laneOfThree({ default_max_wait_ms: 90_000, selection: 'preferred' });
      await limitFirst({ period: 'minute' });
      await use();
      const answer = await explain();
      assert.equal(answer.outcome, 'wait');
      assert.equal(answer.limited_by?.policy_id, policyId);
      assert.equal(answer.limited_by?.scope, `endpoint:${endpoint(0)}`);
      assert.deepEqual([answer.limited_by?.metric, answer.limited_by?.period], ['requests', 'minute']);
      assert.ok((answer.wait_ms ?? 0) > 50_000 && (answer.wait_ms ?? 0) <= 61_000);
      assert.ok(Date.parse(answer.limited_by?.resets_at ?? '') > Date.now());
      assert.equal(answer.candidates[0]?.limited_by?.policy_id, policyId);
      assert.equal(answer.candidates[1]?.limited_by, null);
    });

    it('skips an endpoint whose limit is full for longer than the wait budget', async () => {
      await limitFirst({ period: 'minute' });
      await use();
      const answer = await explain();
      assert.deepEqual(verdicts(answer), ['limited', 'selected', 'available']);
      assert.equal(answer.candidates[0]?.limited_by?.policy_id, policyId);
      assert.equal(answer.limited_by, null);
    });

    it('names the limit that would reject it when no candidate has room', async () => {
      await limitFirst({ period: 'minute', scope_type: 'global', scope_id: null });
      await use();
      const answer = await explain();
      await room.call('deleteLimitPolicy', room.acme, { id: policyId });
      assert.equal(answer.outcome, 'refuse');
      assert.equal(answer.error_code, 'rate_limit_wait_budget_exceeded');
      assert.deepEqual([answer.limited_by?.policy_id, answer.limited_by?.scope], [policyId, 'global']);
      assert.match(answer.reason ?? '', /wait budget of 10 s/);
    });

    it('names the limit that a request is too large for, unless it has no output cap', async () => {
      await limitFirst({ metric: 'tokens', period: 'minute', limit_value: 200 });
      const capped = await explain({ max_tokens: 5_000 });
      assert.deepEqual(verdicts(capped), ['limited', 'selected', 'available']);
      assert.equal(capped.candidates[0]?.limited_by?.policy_id, policyId);
      assert.equal(capped.candidates[0]?.wait_ms, null);
      assert.deepEqual(verdicts(await explain()), ['selected', 'available', 'available']);
    });

    it('queues for concurrency that is in use, with an unknown wait', async () => {
      for (const index of [2, 1, 0]) await limitFirst({ metric: 'concurrency', period: 'none' }, index);
      const held = [await use(), await use()];
      assert.deepEqual(verdicts(await explain()), ['would_wait', 'would_wait', 'selected']);
      held.push(await use());
      const answer = await explain();
      assert.equal(answer.outcome, 'wait');
      assert.deepEqual([answer.wait_ms, answer.limited_by?.resets_at], [null, null]);
      assert.equal(answer.limited_by?.policy_id, policyId);
      const actual = { dispatched: true, tokens: 0, spendMicros: 0 };
      const { organizationId } = room.acme;
      for (const operationId of held)
        await room.engine.settle({ organizationId, operationId, actual, record: '{}' });
      assert.equal((await explain()).outcome, 'dispatch');
    });

    it('fails while the store of limits is unavailable, and needs no store without limits', async () => {
      storeIsAway = true;
      try {
        assert.equal((await explain()).outcome, 'dispatch');
        await limitFirst({});
        await assert.rejects(explain(), refusal('policy_unavailable'));
      } finally {
        storeIsAway = false;
      }
    });
  });

  it('changes nothing and keeps nothing', async () => {
    const version = await room.configVersion(room.acme);
    const rows = async () =>
      (
        await sql<{ total: number }>`select (select count(*) from audit_log) +
          (select count(*) from requests) as total`.execute(room.db)
      ).rows;
    const before = await rows();
    await explain();
    assert.deepEqual(await rows(), before);
    assert.equal(await room.configVersion(room.acme), version);
  });

  it('rejects a body without a model, and one that nests too deep', async () => {
    await assert.rejects(explain({ model: 5 }), refusal('invalid_request', 'body.model'));
    const nested = JSON.parse(`${'['.repeat(50_000)}${']'.repeat(50_000)}`);
    await assert.rejects(explain({ messages: nested }), refusal('invalid_request', 'body'));
  });
});
