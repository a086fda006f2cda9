import assert from 'node:assert/strict';
import { randomUUIDv7 } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { type FreshDatabase, freshDatabase } from '@relay/testbed';
import { uuidTimeMs } from '../../kit/uuid-time.ts';
import type { StoredBoundPolicy } from '../../store/ledger/ledger-json.ts';
import { sampleRow } from '../../store/ledger/ledger-row.fixture.ts';
import type { LedgerRow } from '../../store/ledger/ledger-row.ts';
import { addMember, addOneOfEach, type ManagementFixture, refusal, startManagement } from '../fixture.ts';
import { idAt, recordRequests } from '../requests/ledger.fixture.ts';

const MINUTE_MS = 60_000;

describe('failures by cause', () => {
  const nowMs = Date.parse('2026-03-31T12:30:00.000Z');
  let database: FreshDatabase;
  let room: ManagementFixture;
  let made: Awaited<ReturnType<typeof addOneOfEach>>;
  let number = 0;

  before(async () => {
    database = await freshDatabase();
    room = await startManagement(database.url, {
      deployment: { mode: 'self_hosted', accounts: true, version: '0.0.0' },
      clock: { nowMs: () => nowMs, monotonicMs: () => performance.now() },
    });
    made = await addOneOfEach(room, room.acme, 'Main');
  });
  after(async () => {
    await room.close();
    await database.drop();
  });

  function failed(over: Partial<LedgerRow>, minutesAgo = 5): LedgerRow {
    number += 1;
    return sampleRow({
      request_id: idAt(nowMs - minutesAgo * MINUTE_MS, number),
      organization_id: room.acme.organizationId,
      user_id: room.acme.userId,
      lane_id: made.lane.id,
      state: 'failed',
      status: 502,
      usage_source: 'none',
      ...over,
    });
  }
  const atEndpoint = () => ({ endpoint_id: made.endpoint.id, provider_id: made.provider.id });
  const bound = (over: Partial<StoredBoundPolicy>): StoredBoundPolicy => ({
    policy_id: made.limitPolicy.id,
    kind: 'resource',
    scope_type: 'endpoint',
    scope_id: made.endpoint.id,
    metric: 'requests',
    period: 'minute',
    resets_at: null,
    ...over,
  });
  const read = async (caller = room.acme, query = {}) =>
    (await room.call('getFailures', caller, { query })).body;

  it('are one entry for each cause with its times, latest request, sentence and action', async () => {
    const refused = [60, 20, 40].map((ago) =>
      failed({ ...atEndpoint(), error_code: 'upstream_credential_refused' }, ago),
    );
    const limited = failed({
      error_code: 'rate_limit_wait_budget_exceeded',
      status: 429,
      bound_policy: bound({}),
    });
    const unknown = failed({ error_code: 'model_not_found', status: 400, lane_id: null, model: 'gpt-9' });
    const completed = failed({ state: 'completed', status: 200 });
    await recordRequests(room.db, [...refused, limited, unknown, completed]);
    const { causes, requests, other_requests: others } = await read();
    assert.deepEqual([requests, others], [5, 0]);
    const [first, ...rest] = causes;
    const ofProvider = { resource_type: 'provider', resource_id: made.provider.id, resource_name: 'Main' };
    assert.deepEqual(first, {
      error_code: 'upstream_credential_refused',
      requests: 3,
      first_at: new Date(uuidTimeMs(refused[0]?.request_id ?? '')).toISOString(),
      last_at: new Date(uuidTimeMs(refused[1]?.request_id ?? '')).toISOString(),
      example_request_id: refused[1]?.request_id,
      http_status: 502,
      provider_id: made.provider.id,
      endpoint_id: made.endpoint.id,
      lane_id: null,
      guardrail_id: null,
      limited_by: null,
      summary: 'Provider "Main" rejected Relay’s credential.',
      action: { kind: 'replace_credential', ...ofProvider },
      no_action: null,
    });
    const short = new Map(rest.map(({ error_code, summary, action }) => [error_code, { summary, action }]));
    assert.deepEqual(short.get('rate_limit_wait_budget_exceeded'), {
      summary:
        'Endpoint "Main" reached its limit of 600 requests per minute, and the wait would have exceeded the wait budget.',
      action: {
        kind: 'raise_limit',
        resource_type: 'limit',
        resource_id: made.limitPolicy.id,
        resource_name: null,
      },
    });
    const by = rest.find(({ limited_by }) => limited_by !== null)?.limited_by;
    assert.deepEqual([by?.limit_value, by?.scope_name, by?.subject_name], [600, 'Main', null]);
    assert.deepEqual(short.get('model_not_found'), {
      summary: 'No lane or model is named "gpt-9".',
      action: { kind: 'create_lane', resource_type: 'model', resource_id: 'gpt-9', resource_name: 'gpt-9' },
    });
  });

  it('the same code is told apart by what it is about, and by nothing else', async () => {
    const range = { bucket: 'minute', from: at(120), to: at(100) };
    const key = bound({ policy_id: randomUUIDv7(), kind: 'api_key', scope_type: 'global', scope_id: null });
    const code = { error_code: 'budget_exhausted', status: 429 };
    const elsewhere = { lane_id: randomUUIDv7() };
    await recordRequests(room.db, [
      failed({ ...code, bound_policy: bound({}) }, 110),
      failed({ ...code, ...elsewhere, bound_policy: bound({}) }, 110),
      failed({ ...code, bound_policy: key }, 110),
      // The limit that made it wait has nothing to do with what the provider answered.
      failed({ ...atEndpoint(), error_code: 'upstream_status_500', bound_policy: key }, 110),
      failed({ ...atEndpoint(), ...elsewhere, error_code: 'upstream_status_500' }, 110),
    ]);
    const { causes } = await read(room.acme, range);
    assert.deepEqual(
      causes
        .map(({ error_code, requests, limited_by }) => [error_code, requests, limited_by?.policy_id])
        .sort(),
      [
        ['budget_exhausted', 1, key.policy_id],
        ['budget_exhausted', 2, made.limitPolicy.id],
        ['upstream_status_500', 2, undefined],
      ].sort(),
    );
    const gone = causes.find(({ limited_by: limit }) => limit?.policy_id === key.policy_id);
    assert.equal(gone?.action, null);
    assert.equal(gone?.no_action, 'The resource to change is unknown or was deleted.');
  });

  it('an estimate of a lost gateway that was replaced is no failure any more', async () => {
    const range = { bucket: 'minute', from: at(220), to: at(200) };
    const lost = failed(
      { ...atEndpoint(), error_code: 'gateway_lost', usage_source: 'estimated', status: 500 },
      210,
    );
    await recordRequests(room.db, [lost]);
    assert.equal((await read(room.acme, range)).causes[0]?.error_code, 'gateway_lost');
    const completed = {
      state: 'completed',
      status: 200,
      error_code: null,
      usage_source: 'reported',
    } as const;
    await recordRequests(room.db, [{ ...lost, ...completed }]);
    assert.deepEqual((await read(room.acme, range)).causes, []);
  });

  it('of others are shown only to those who may see the usage of the organization', async () => {
    const range = { bucket: 'minute', from: at(320), to: at(300) };
    const developer = await addMember(room, room.acme, 'developer');
    await recordRequests(room.db, [
      failed({ error_code: 'no_route' }, 310),
      failed({ error_code: 'no_route', user_id: developer.userId }, 310),
      failed({ error_code: 'internal_error' }, 310),
    ]);
    const counts = async (caller = room.acme) =>
      (await read(caller, range)).causes.map(({ error_code, requests }) => [error_code, requests]);
    assert.deepEqual(await counts(), [
      ['no_route', 2],
      ['internal_error', 1],
    ]);
    assert.deepEqual(await counts(developer), [['no_route', 1]]);
    assert.deepEqual(await counts(room.globex), []);
  });

  it('a range longer than its bucket allows is rejected', async () => {
    const query = { bucket: 'minute', from: at(60 * 24 * 7), to: at(0) } as const;
    await assert.rejects(read(room.acme, query), refusal('invalid_request', 'bucket'));
  });

  function at(minutesAgo: number): string {
    return new Date(nowMs - minutesAgo * MINUTE_MS).toISOString();
  }
});
