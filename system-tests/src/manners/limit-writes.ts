import assert from 'node:assert/strict';
import type { Deployment } from '../harness/deployment.ts';
import { sharedDeployment } from '../harness/shared-deployment.ts';
import { until } from '../harness/until.ts';
import { done, type Fields, fresh, made, madeEndpoints } from './management-call.ts';
import type { Manner } from './manner.ts';

const RECORDED_MS_MAX = 20_000;

interface Usage {
  readonly policy_id: string;
  readonly used: number;
}

/** A lane in front of the simulated provider, and how many of its requests are in the ledger. */
async function callableLane(site: Deployment) {
  const { provider, endpoints } = await madeEndpoints(site, 'sim-chat');
  await done(site, 'PUT', `/providers/${provider.id}`, { auth_mode: 'bearer_static' });
  await made(site, '/credentials', { provider_id: provider.id, name: 'main', secret: 'sk-upstream' });
  const members = endpoints.map(({ id }) => ({ endpoint_id: id }));
  const lane = await made(site, '/routing-lanes', { name: fresh('Counted'), members });
  async function call(times: number, status = 200): Promise<void> {
    for (let index = 0; index < times; index += 1) {
      const messages = [{ role: 'user', content: 'Hello.' }];
      const answer = await fetch(`${site.url}/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${site.apiToken}`, 'content-type': 'application/json' },
        body: JSON.stringify({ model: lane['slug'], messages }),
      });
      assert.equal(answer.status, status, await answer.text());
    }
  }
  async function untilRecorded(count: number): Promise<void> {
    const isRecorded = await until(async () => {
      const { body } = await done(site, 'GET', `/requests?limit=100&lane_id=${lane.id}`);
      return (body['data'] as unknown[]).length === count;
    }, RECORDED_MS_MAX);
    assert.ok(isRecorded, `${count} requests are not in the ledger in time`);
  }
  return { lane, call, untilRecorded };
}

async function usedOf(site: Deployment, { id }: Pick<Fields, 'id'>): Promise<number | undefined> {
  const { body } = await done(site, 'GET', '/limits/usage');
  return (body as unknown as Usage[]).find(({ policy_id }) => policy_id === id)?.used;
}

async function recounts(site: Deployment): Promise<void> {
  const { lane, call, untilRecorded } = await callableLane(site);
  const limit = { scope_type: 'lane', scope_id: lane.id, metric: 'requests', period: 'day', limit_value: 7 };
  await call(1);
  await untilRecorded(1);
  const policy = await made(site, '/limit-policies', limit);
  assert.equal(await usedOf(site, policy), 1, 'a new limit counts what was used before it');
  await call(1);
  await untilRecorded(2);
  const path = `/limit-policies/${policy.id}`;
  await done(site, 'PUT', path, { ...limit, enabled: false });
  await call(3);
  await untilRecorded(5);
  await done(site, 'PUT', path, { ...limit, enabled: true });
  assert.equal(await usedOf(site, policy), 5, 'enabled again, it counts what was used meanwhile');
  // Another period and back: the counter of the day has missed a request.
  await done(site, 'PUT', path, { ...limit, period: 'month', enabled: true });
  await call(1);
  await untilRecorded(6);
  assert.equal(await usedOf(site, policy), 6);
  await done(site, 'PUT', path, { ...limit, enabled: true });
  assert.equal(await usedOf(site, policy), 6);
  await call(1);
  await call(1, 429);
  assert.equal(await usedOf(site, policy), 7);
  await done(site, 'PUT', path, { ...limit, limit_value: 8, enabled: true });
  await call(1);
  await call(1, 429);
}

const enabledAgain: Manner = {
  name: 'a limit that was disabled, moved or created within its window counts what the ledger has of it',
  check: recounts,
};

const embedded: Manner = {
  name: 'a limit of an embedded deployment recounts from the ledger too',
  async check() {
    await recounts(await sharedDeployment('embedded'));
  },
};

export const limitManners: readonly Manner[] = [enabledAgain, embedded];
