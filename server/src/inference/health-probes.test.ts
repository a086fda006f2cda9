import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { createEndpointHealth, type EndpointHealth } from '../admission/health/endpoint-health.ts';
import { createMemoryHealthStore } from '../admission/health/health-store.ts';
import { seenHealth } from '../domain/routing/health-view.ts';
import { routingTableOf } from '../domain/routing/routing.ts';
import { credential, endpoint, provider, snapshot } from '../domain/snapshot.fixture.ts';
import type { Provider } from '../domain/snapshot.ts';
import { systemClock } from '../kit/clock.ts';
import { createEgress, type Egress } from '../kit/egress/index.ts';
import { createLog } from '../kit/log.ts';
import { createUpstreamAuth } from '../protocols/upstream-auth/create-upstream-auth.ts';
import { createHealthProbes } from './health-probes.ts';

describe('probes that Relay sends by itself', () => {
  let server: Server;
  let egress: Egress;
  let health: EndpointHealth;
  let heard: string[];
  let answer: (response: ServerResponse) => void;
  let shiftMs: number;
  let port: number;
  const clock = { ...systemClock, nowMs: () => systemClock.nowMs() + shiftMs };

  beforeEach(async () => {
    [heard, shiftMs] = [[], 0];
    answer = (response) => response.end('{}');
    server = createServer((request, response) => {
      heard.push(`${request.method} ${request.url} ${request.headers.authorization}`);
      request.resume().once('end', () => answer(response));
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    ({ port } = server.address() as AddressInfo);
    egress = createEgress({
      allowedCidrs: ['127.0.0.0/8'],
      connectTimeoutMs: 1_000,
      connectionsPerOriginMax: 10,
      originsMax: 10,
    });
    health = createEndpointHealth({
      store: createMemoryHealthStore({ clock }),
      clock,
      log: createLog('silent'),
    });
  });
  afterEach(async () => {
    await egress.close();
    server.closeAllConnections();
    server.close();
  });

  function organize(healthProbe: Provider['healthProbe']) {
    return snapshot({
      providers: [provider('p', { baseUrl: `http://127.0.0.1:${port}/v1`, healthProbe })],
      credentials: [credential('key', 'p')],
      endpoints: [
        endpoint('a', 'p', 'm-a'),
        endpoint('b', 'p', 'm-b'),
        endpoint('c', 'p', 'm', { enabled: false }),
      ],
    });
  }

  /** What is known of the endpoints a and b after so many rounds, 31 s apart. */
  async function after(healthProbe: Provider['healthProbe'], rounds = 1): Promise<string[]> {
    const organization = organize(healthProbe);
    const probes = createHealthProbes({
      egress,
      upstreamAuth: createUpstreamAuth({ clock, egress, random: Math.random }),
      health,
      clock,
      version: '0',
    });
    const other = createHealthProbes({
      egress,
      upstreamAuth: createUpstreamAuth({ clock, egress, random: Math.random }),
      health,
      clock,
      version: '0',
    });
    for (const each of [probes, other]) each.know(organization.organizationId, organization);
    for (let round = 0; round < rounds; round += 1, shiftMs += 31_000)
      await Promise.all([probes.tick(), other.tick(), probes.tick()]);
    const { candidates } = routingTableOf(organization);
    const known = await health.read(organization.organizationId, [...candidates.values()]);
    return ['a', 'b'].map((id) => {
      const found = known.get(id);
      assert.ok(found);
      return seenHealth(found, clock.nowMs()).health;
    });
  }

  it('are not sent unless the provider is configured so', async () => {
    assert.deepEqual(await after('off'), ['unknown', 'unknown']);
    assert.deepEqual(heard, []);
  });
  it('list models with the credential, once for the deployment, and count for all enabled endpoints', async () => {
    assert.deepEqual(await after('models'), ['healthy', 'healthy']);
    assert.deepEqual(heard, ['GET /v1/models Bearer key']);
  });
  it('ask one endpoint for a token', async () => {
    assert.deepEqual(await after('request'), ['healthy', 'unknown']);
    assert.deepEqual(heard, ['POST /v1/chat/completions Bearer key']);
  });
  it('find out that the credential is refused', async () => {
    answer = (response) => response.writeHead(401).end('{}');
    assert.deepEqual(await after('models', 3), ['down', 'down']);
    assert.equal(heard.length, 3);
  });
  it('find out that nothing listens', async () => {
    server.close();
    assert.deepEqual(await after('models', 3), ['down', 'down']);
  });
  it('do not mind a provider without a list of models', async () => {
    answer = (response) => response.writeHead(404).end('{}');
    assert.deepEqual(await after('models', 3), ['unknown', 'unknown']);
  });
});
