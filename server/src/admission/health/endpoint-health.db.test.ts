import assert from 'node:assert/strict';
import { randomUUIDv7 } from 'node:crypto';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import { type RedisCluster, startRedisCluster } from '@relay/testbed';
import { seenHealth } from '../../domain/routing/health-view.ts';
import { type Candidate, routingTableOf } from '../../domain/routing/routing.ts';
import { credential, endpoint, provider, snapshot } from '../../domain/snapshot.fixture.ts';
import type { OrganizationSnapshot } from '../../domain/snapshot.ts';
import { systemClock as clock } from '../../kit/clock.ts';
import type { Log } from '../../kit/log.ts';
import { createLog } from '../../kit/log.ts';
import { createRedis, type Redis } from '../../store/redis/redis.ts';
import { prefixOf } from '../../store/redis/shards.ts';
import { createEndpointHealth, type EndpointHealth } from './endpoint-health.ts';
import type { EndedAttempt } from './note-attempts.ts';
import { createRedisHealthStore } from './redis-health-store.ts';

const quiet = createLog('silent');

interface Gateway {
  readonly health: EndpointHealth;
  /** How often it sent a command of this kind. */
  readonly commands: Map<string, number>;
  stop(): Promise<void>;
}

describe('health shared by gateways, on a cluster', () => {
  let cluster: RedisCluster;
  let gateways: Gateway[];
  let organization: OrganizationSnapshot;
  let first: Candidate;
  let second: Candidate;
  let lines: string[];

  before(async () => {
    cluster = await startRedisCluster();
  });
  after(() => cluster.remove());
  beforeEach(async () => {
    lines = [];
    const [id, a, b, key] = [randomUUIDv7(), randomUUIDv7(), randomUUIDv7(), randomUUIDv7()];
    organization = {
      ...snapshot({
        providers: [provider('p')],
        credentials: [credential(key, 'p')],
        endpoints: [endpoint(a, 'p', 'm'), endpoint(b, 'p', 'm')],
      }),
      organizationId: id,
    };
    [first, second] = candidatesOf(organization, a, b);
    gateways = await Promise.all([start(), start(), start()]);
  });
  afterEach(() => Promise.all(gateways.map((gateway) => gateway.stop())));

  function candidatesOf(from: OrganizationSnapshot, a: string, b: string): [Candidate, Candidate] {
    const { candidates } = routingTableOf(from);
    const found = [candidates.get(a), candidates.get(b)];
    assert.ok(found[0] !== undefined && found[1] !== undefined);
    return [found[0], found[1]];
  }

  async function start(): Promise<Gateway> {
    const commands = new Map<string, number>();
    const redis = createRedis({ url: cluster.urls.join(','), clock, log: quiet });
    await redis.whenReady(60_000);
    const counted: Redis = {
      ...redis,
      run(command, key) {
        const name = command[0] ?? '';
        commands.set(name, (commands.get(name) ?? 0) + 1);
        return redis.run(command, key);
      },
    };
    const note: Log['info'] = (...[, text]: unknown[]) => void lines.push(String(text));
    const log: Log = { ...quiet, info: note, warn: note };
    const health = createEndpointHealth({
      store: createRedisHealthStore({ redis: counted, log }),
      clock,
      log,
    });
    await health.start();
    return {
      health,
      commands,
      async stop() {
        await health.stop();
        await redis.close();
      },
    };
  }

  function at(index: number): EndpointHealth {
    const found = gateways[index];
    assert.ok(found);
    return found.health;
  }

  function attempt(over: Partial<EndedAttempt>): EndedAttempt {
    return {
      organizationId: organization.organizationId,
      candidate: first,
      caller: 'anne',
      count: 'ok',
      error: null,
      hard: false,
      tookMs: 1,
      probe: false,
      noted: false,
      cooldownUntilMs: null,
      ...over,
    };
  }

  const refused = (over: Partial<EndedAttempt> = {}) =>
    attempt({ count: 'fault', hard: true, error: { message: 'connection refused', status: null }, ...over });

  async function offeredBy(health: EndpointHealth, mayFallBack = false): Promise<Candidate[]> {
    const offer = await health.offer(organization.organizationId, [first, second], mayFallBack);
    return [...(offer?.candidates ?? [first, second])];
  }

  const isOut = async (health: EndpointHealth) => (await offeredBy(health)).length === 1;

  async function eventually(what: string, holds: () => Promise<boolean>): Promise<void> {
    const untilMs = clock.monotonicMs() + 5_000;
    while (!(await holds())) {
      if (clock.monotonicMs() > untilMs) assert.fail(`not in time: ${what}`);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  }

  const everywhere = (what: string, holds: (health: EndpointHealth) => Promise<boolean>) =>
    Promise.all(
      gateways.map(({ health }, index) => eventually(`${what}, gateway ${index}`, () => holds(health))),
    );

  async function seenBy(health: EndpointHealth, candidate = first) {
    const known = await health.read(organization.organizationId, [candidate]);
    const [only] = known.values();
    assert.ok(only);
    return seenHealth(only, clock.nowMs());
  }

  async function takeOut(): Promise<void> {
    for (let n = 0; n < 3; n += 1) at(0).ended(refused());
    await everywhere('out', isOut);
  }

  it('takes an endpoint out everywhere after three faults that three gateways saw, and logs it once', async () => {
    for (const { health } of gateways) {
      assert.equal(await isOut(health), false);
      health.ended(refused());
    }
    await everywhere('out', isOut);
    assert.deepEqual(
      lines.filter((line) => line === 'endpoint is down'),
      ['endpoint is down'],
    );
    const views = await Promise.all(gateways.map(({ health }) => seenBy(health)));
    for (const view of views) {
      assert.deepEqual(view, views[0]);
      assert.equal(view.health, 'down');
      assert.equal(view.detail.reason, 'connection refused');
      assert.equal(view.detail.requests, 3);
      assert.equal(view.detail.error_share, 1);
    }
  });

  it('lets a success on one gateway end the row of another', async () => {
    at(0).ended(refused());
    at(0).ended(refused());
    await eventually('the row is known', async () => (await seenBy(at(1))).detail.requests === 2);
    at(1).ended(attempt({}));
    await eventually('the row is over', async () => (await seenBy(at(0))).detail.requests === 3);
    at(2).ended(refused());
    at(2).ended(refused());
    await eventually('both were reported', async () => (await seenBy(at(0))).detail.requests === 5);
    for (const { health } of gateways) assert.equal(await isOut(health), false);
  });

  it('gives one probe to the whole deployment, and brings the endpoint back everywhere with its success', async () => {
    await takeOut();
    await new Promise((resolve) => setTimeout(resolve, 1_050));
    const asks = await Promise.all(
      gateways.flatMap(({ health }) => [1, 2, 3].map(() => offeredBy(health, true))),
    );
    const probes = asks.filter((offered) => offered.includes(first));
    assert.equal(probes.length, 1);
    at(1).ended(attempt({ probe: true }));
    await everywhere('back', async (health) => !(await isOut(health)));
    assert.equal(lines.filter((line) => line === 'endpoint is up again').length, 1);
  });

  it('takes out all endpoints of a refused credential', async () => {
    const rejected = { count: 'credential_refused', hard: true } as const;
    const error = { message: 'credential rejected (401)', status: 401 };
    for (const candidate of [first, second, first]) at(0).ended(attempt({ ...rejected, error, candidate }));
    await eventually('down', async () => (await seenBy(at(2), second)).health === 'down');
    assert.equal((await seenBy(at(2), second)).detail.reason, 'credential rejected (401)');
    assert.deepEqual(await offeredBy(at(0)), [first, second], 'all are down, so all stay');
  });

  it('is known to a process that has just started, and to one that served nothing', async () => {
    await takeOut();
    const started = await start();
    gateways.push(started);
    started.health.learn(organization);
    await eventually('learned', () => isOut(started.health));
    assert.equal((await seenBy(started.health)).health, 'down');
    assert.equal((await seenBy(started.health, second)).health, 'unknown');
  });

  it('reports nothing of an endpoint that was deleted or disabled while it was down', async () => {
    await takeOut();
    const { id } = first.endpoint;
    const counted = (endpoints: OrganizationSnapshot['endpoints']) =>
      at(1).counts(() => ({ ...organization, endpoints }));
    const down = { unwell: [{ endpointId: id, health: 'down' }], open: { endpoint: 1, credential: 0 } };
    const none = { unwell: [], open: { endpoint: 0, credential: 0 } };
    const reported = [
      organization.endpoints,
      new Map(),
      new Map([[id, { ...first.endpoint, enabled: false }]]),
    ].map((endpoints) => {
      const { unwell, open } = counted(endpoints);
      return { unwell, open };
    });
    assert.deepEqual(reported, [down, none, none]);
  });

  it('starts afresh when the configuration changes', async () => {
    await takeOut();
    const moved = {
      ...organization,
      providers: new Map([['p', provider('p', { baseUrl: 'https://elsewhere.example.com/v1' })]]),
    };
    [first, second] = candidatesOf(moved, first.endpoint.id, second.endpoint.id);
    for (const { health } of gateways) assert.equal(await isOut(health), false);
    assert.equal((await seenBy(at(1))).health, 'unknown');
  });

  it('costs nothing while all is well, but for a report of the counts now and then', async () => {
    for (let n = 0; n < 10_000; n += 1) at(0).ended(attempt({}));
    const { health, commands } = gateways[0] as Gateway;
    assert.equal(commands.size, 0, 'a success sends nothing');
    assert.equal(health.offer(organization.organizationId, [first, second], true), null);
    await health.stop();
    assert.equal((await seenBy(at(1))).detail.requests, 10_000);
    assert.equal(commands.get('EVAL'), 1);
  });

  it('bounds what a storm of faults costs', async () => {
    const startMs = clock.monotonicMs();
    let faults = 0;
    while (clock.monotonicMs() - startMs < 1_000) {
      for (let n = 0; n < 100; n += 1, faults += 1) at(0).ended(refused({ caller: `caller-${n}` }));
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    await eventually('all counted', async () => (await seenBy(at(0))).detail.requests === faults);
    const commands = gateways[0]?.commands.get('EVAL') ?? 0;
    assert.ok(commands <= 12, `${commands} commands for ${faults} faults`);
  });

  it('keeps its keys in the slot of the organization, and lets them expire', async () => {
    await takeOut();
    const redis = createRedis({ url: cluster.urls.join(','), clock, log: quiet });
    await redis.whenReady(60_000);
    const { organizationId } = organization;
    const key = `${prefixOf(organizationId)}${organizationId}:health:endpoint:${first.endpoint.id}`;
    const leftMs = Number(await redis.run(['PTTL', key], key));
    assert.ok(leftMs > 0 && leftMs <= 15 * 60_000, String(leftMs));
    await redis.close();
  });
});
