import assert from 'node:assert/strict';
import type { RelayProcess } from '../harness/relay-process.ts';
import { until } from '../harness/until.ts';
import { infer, operations } from './rules/scene.ts';
import type { World } from './world.ts';

interface Report {
  readonly status: string;
  readonly version?: string;
  readonly role?: string;
  readonly checks?: Readonly<Record<string, { status: string } | undefined>>;
}

/** How long a store may be away before every process says so, and how long it may take to say that it is back. */
const NOTICED_MS_MAX = 8_000;

async function probe(url: string, path: string): Promise<{ code: number; body: Report }> {
  const response = await fetch(url + path);
  return { code: response.status, body: (await response.json()) as Report };
}

/** Resolves once the processes report this, with exactly these stores unavailable. */
async function untilAll(
  processes: readonly RelayProcess[],
  [code, status]: readonly [number, string],
  down: readonly string[],
): Promise<void> {
  for (const { url } of processes) {
    let last: unknown;
    const held = await until(async () => {
      const { code: came, body } = await probe(url, '/healthz');
      last = body;
      const isDown = (name: string) => body.checks?.[name]?.status === 'unavailable';
      const isSo = ['postgresql', 'redis'].every((name) => isDown(name) === down.includes(name));
      return came === code && body.status === status && isSo;
    }, NOTICED_MS_MAX);
    assert.ok(held, `${status} without ${down.join()}: ${JSON.stringify(last)}`);
  }
}

/** Stops and starts the stores of a deployment with all roles. */
export async function checkHealth(world: World): Promise<void> {
  const { processes, postgres, redis } = world.deployment;
  await untilAll(processes, [200, 'ok'], []);
  const reports = await Promise.all(processes.map(({ url }) => probe(url, '/healthz')));
  const roles = reports.map(({ body }) => body.role).toSorted();
  assert.deepEqual(roles, ['all', 'inference', 'platform', 'worker']);
  for (const { body } of reports) assert.match(body.version ?? '', /^\d+\.\d+\.\d+/);
  await postgres.stop();
  await untilAll(processes, [200, 'degraded'], ['postgresql']);
  await redis.stop();
  await untilAll(processes, [503, 'unavailable'], ['postgresql', 'redis']);
  for (const { url } of processes) {
    assert.equal((await probe(url, '/livez')).code, 200);
    assert.equal((await probe(url, '/readyz')).code, 200, 'inference serves the last known configuration');
  }
  await postgres.start();
  await untilAll(processes, [200, 'degraded'], ['redis']);
  for (const path of operations) {
    const { summary } = await infer({ world }, 'limited', { path });
    assert.match(summary, /^503 /, `POST ${path} without the store of limits`);
  }
  await redis.start();
  await untilAll(processes, [200, 'ok'], []);
}
