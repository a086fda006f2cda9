import assert from 'node:assert/strict';
import type { Deployment } from '../harness/deployment.ts';
import { ask, done, type Fields, fresh, made, madeEndpoints } from './management-call.ts';
import type { Manner } from './manner.ts';

/** One of every resource that has a PUT, by the path of the resource and of what reads it. */
interface Written {
  readonly noun: string;
  readonly path: string;
  /** Where a resource without a GET of its own is listed. */
  readonly list?: string;
  /** A field that only the server sets, with another value than it has. */
  readonly changed: Readonly<Record<string, unknown>>;
}

const OTHER_ID = '00000000-0000-7000-8000-000000000000';

async function oneOfEach(site: Deployment): Promise<Written[]> {
  const { provider, endpoints } = await madeEndpoints(site, fresh('model'));
  const endpoint_id = endpoints[0]?.id ?? '';
  const credential = await made(site, '/credentials', {
    provider_id: provider.id,
    name: fresh('Credential'),
    secret: 'sk-repeated',
  });
  const lane = await made(site, '/routing-lanes', { name: fresh('Lane') });
  const membership = await made(site, '/lane-memberships', { lane_id: lane.id, endpoint_id, manual_rank: 3 });
  const prices = { input_cost_micros_per_1m_tokens: 1, output_cost_micros_per_1m_tokens: 2 };
  const pricing = await made(site, '/pricing-policies', { endpoint_id, ...prices });
  const limit = { scope_type: 'endpoint', scope_id: endpoint_id, metric: 'tokens', period: 'day' };
  const policy = await made(site, '/limit-policies', { ...limit, limit_value: 1_000_000 });
  const guardrail = await made(site, '/guardrails', {
    name: fresh('Rail'),
    base_url: 'https://example.com/x',
  });
  return [
    { noun: 'provider', path: `/providers/${provider.id}`, changed: { has_credential: false } },
    { noun: 'endpoint', path: `/endpoints/${endpoint_id}`, changed: { provider_id: OTHER_ID } },
    { noun: 'lane', path: `/routing-lanes/${lane.id}`, changed: { slug: 'another' } },
    { noun: 'membership', path: `/lane-memberships/${membership.id}`, changed: { lane_id: OTHER_ID } },
    { noun: 'limit policy', path: `/limit-policies/${policy.id}`, changed: { id: OTHER_ID } },
    { noun: 'guardrail', path: `/guardrails/${guardrail.id}`, changed: { binding_count: 7 } },
    {
      noun: 'credential',
      path: `/credentials/${credential.id}`,
      list: '/credentials',
      changed: { created_at: '2020-01-01T00:00:00.000Z' },
    },
    {
      noun: 'pricing policy',
      path: `/pricing-policies/${pricing.id}`,
      list: '/pricing-policies',
      changed: { managed_by: 'file' },
    },
  ];
}

async function readBack(
  site: Deployment,
  { path, list }: Written,
): Promise<{ etag: string | null; body: Fields }> {
  const { etag, body } = await done(site, 'GET', list ?? path);
  if (Array.isArray(body)) {
    const id = path.split('/').at(-1);
    return { etag: null, body: (body as Fields[]).find((each) => each.id === id) ?? body };
  }
  // The GET of a guardrail also has its bindings, which have a PUT of their own.
  return { etag, body: (body['guardrail'] as Fields | undefined) ?? body };
}

const repeated: Manner = {
  name: 'what a GET returns of any resource can be PUT back with its ETag, and that changes nothing',
  async check(site) {
    for (const written of await oneOfEach(site)) {
      const { etag, body } = await readBack(site, written);
      const answer = await ask(site, 'PUT', written.path, { body, ifMatch: etag });
      assert.equal(answer.status, 200, `${written.noun}: ${JSON.stringify(answer.body)}`);
      assert.deepEqual(answer.body, body, written.noun);
      const again = await readBack(site, written);
      assert.deepEqual(again, { etag, body }, written.noun);
      if (etag !== null) assert.equal(answer.etag, etag, written.noun);
    }
  },
};

const refused: Manner = {
  name: 'a PUT that would change what only the server sets is refused with 400 and names the field',
  async check(site) {
    for (const written of await oneOfEach(site)) {
      const { body } = await readBack(site, written);
      const answer = await ask(site, 'PUT', written.path, { body: { ...body, ...written.changed } });
      assert.equal(answer.status, 400, `${written.noun}: ${JSON.stringify(answer.body)}`);
      assert.equal(answer.error.param, Object.keys(written.changed)[0], written.noun);
      assert.deepEqual(await readBack(site, written).then((read) => read.body), body);
    }
  },
};

const volatile: Manner = {
  name: 'health in a PUT is ignored, because it changes by itself',
  async check(site) {
    const { endpoints } = await madeEndpoints(site, fresh('model'));
    const path = `/endpoints/${endpoints[0]?.id}`;
    const { body } = await done(site, 'GET', path);
    const stale = { ...body, health: 'down', cooldown_until: '2020-01-01T00:00:00.000Z' };
    assert.equal((await done(site, 'PUT', path, { ...stale, pacing: false })).body['pacing'], false);
  },
};

const single: Manner = {
  name: 'lanes, memberships and limit policies have a GET of their own with an ETag that a PUT honours',
  async check(site) {
    for (const written of await oneOfEach(site)) {
      if (!['lane', 'membership', 'limit policy'].includes(written.noun)) continue;
      const first = await done(site, 'GET', written.path);
      assert.match(first.etag ?? '', /^".+"$/, written.noun);
      const changed = { ...first.body, enabled: false };
      const second = await ask(site, 'PUT', written.path, { body: changed, ifMatch: first.etag });
      assert.equal(second.status, 200, JSON.stringify(second.body));
      assert.notEqual(second.etag, first.etag);
      assert.equal((await done(site, 'GET', written.path)).etag, second.etag);
      const late = await ask(site, 'PUT', written.path, { body: first.body, ifMatch: first.etag });
      assert.equal(late.status, 412);
      assert.equal((await ask(site, 'GET', `${written.path.replace(/[^/]+$/, '')}${OTHER_ID}`)).status, 404);
    }
  },
};

const quiet: Manner = {
  name: 'a write that changes nothing leaves the ETag, the configuration version and the audit log alone',
  async check(site) {
    const entries = async () => (await done(site, 'GET', '/audit-log?limit=1')).body['data'];
    for (const written of await oneOfEach(site)) {
      const { body } = await readBack(site, written);
      const before = await entries();
      await done(site, 'PUT', written.path, body);
      assert.deepEqual(await entries(), before, written.noun);
    }
    const { body: account } = await site.admin.call('GET', '/api/account');
    const user_uuid = (account as unknown as { user: { id: string } }).user.id;
    const budget = {
      user_uuid,
      target_type: 'global',
      metric: 'tokens',
      period: 'month',
      limit_value: 9_000_000,
    };
    await done(site, 'POST', '/pro/user-limit-policies', budget);
    const { body: list } = await done(site, 'GET', '/pro/user-limit-policies');
    const policies = list['policies'] as { limit_uuid: string }[];
    const repeat = { ...budget, limit_uuid: policies.at(-1)?.limit_uuid };
    const before = await entries();
    const [first, second] = [
      await done(site, 'POST', '/pro/user-limit-policies', repeat),
      await done(site, 'POST', '/pro/user-limit-policies', repeat),
    ];
    assert.equal(first.etag, second.etag);
    assert.deepEqual(await entries(), before);
  },
};

const blank: Manner = {
  name: 'a name that shows nothing is refused for every resource',
  async check(site) {
    const { provider, endpoints } = await madeEndpoints(site, fresh('model'));
    const own = { provider_id: provider.id, upstream_model: 'm', route_kind: 'chat' };
    for (const name of ['   ', '\u200b\u200b', '\t\n', '\u2060\ufeff', '\u3164']) {
      const bodies: [string, string, object][] = [
        ['POST', '/providers', { name, base_url: 'https://example.com' }],
        ['POST', '/endpoints', { name, ...own }],
        ['POST', '/routing-lanes', { name }],
        ['POST', '/credentials', { name, provider_id: provider.id, secret: 'sk' }],
        ['POST', '/guardrails', { name, base_url: 'https://example.com/x' }],
        ['PUT', `/endpoints/${endpoints[0]?.id}`, { name }],
      ];
      for (const [method, path, body] of bodies) {
        const answer = await ask(site, method, path, { body });
        assert.equal(answer.status, 400, `${method} ${path} ${JSON.stringify(name)}`);
        assert.equal(answer.error.param, 'name');
        assert.match(answer.error.message, /visible/);
      }
    }
  },
};

export const repeatedManners: readonly Manner[] = [single, repeated, refused, volatile, quiet, blank];
