import assert from 'node:assert/strict';
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { startDeployment } from '../../harness/deployment.ts';
import type { RelayProcess } from '../../harness/relay-process.ts';
import { until } from '../../harness/until.ts';
import type { Manner } from '../manner.ts';

interface Report {
  readonly status: string;
  readonly version?: string;
  readonly role?: string;
  readonly checks?: Readonly<Record<string, { status: string; detail?: string } | undefined>>;
}

/** How long a store may be away before every process says so, and how long it may take to say that it is back. */
const NOTICED_MS_MAX = 8_000;

async function probe(url: string, path: string): Promise<{ code: number; body: Report }> {
  const response = await fetch(url + path);
  return { code: response.status, body: (await response.json()) as Report };
}

async function untilAll(
  processes: readonly RelayProcess[],
  what: string,
  isSo: (of: { code: number; body: Report }) => boolean,
): Promise<void> {
  for (const { url } of processes) {
    let last: unknown;
    const held = await until(async () => {
      const found = await probe(url, '/healthz');
      last = found;
      return isSo(found);
    }, NOTICED_MS_MAX);
    assert.ok(held, `${what}: ${JSON.stringify(last)}`);
  }
}

export const healthReports: readonly Manner[] = [
  {
    name: '/healthz tells version, role and the state of each part, as the contract says',
    async check(site) {
      const { code, body } = await probe(site.url, '/healthz');
      assert.equal(code, 200);
      assert.deepEqual([body.status, body.role], ['ok', 'all']);
      assert.match(body.version ?? '', /^\d+\.\d+\.\d+/);
      assert.equal(body.checks?.['postgresql']?.status, 'ok');
      assert.equal(body.checks?.['redis']?.status, 'ok');
      assert.deepEqual((await probe(site.url, '/livez')).body, { status: 'ok' });
    },
  },
  {
    name: '/healthz is never ok while a store is down, in every role, and is again once it is back',
    async check() {
      const key = generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' });
      const site = await startDeployment({
        env: {
          RELAY_MODE: 'hosted',
          RELAY_AUTH_SECRET: randomBytes(32).toString('base64url'),
        },
      });
      try {
        const verifying = { RELAY_CONTEXT_VERIFY_KEYS: String(key.x) };
        const signing = { RELAY_CONTEXT_SIGNING_KEY: String(key.d), RELAY_INFERENCE_URL: site.url };
        await site.startProcess({ role: 'inference', env: verifying });
        await site.startProcess({ role: 'worker' });
        await site.startProcess({ role: 'platform', env: signing });
        const { processes } = site;
        const is =
          (status: string, code: number, down: readonly string[]) =>
          (of: Awaited<ReturnType<typeof probe>>) =>
            of.code === code &&
            of.body.status === status &&
            ['postgresql', 'redis'].every(
              (name) => (of.body.checks?.[name]?.status === 'unavailable') === down.includes(name),
            );
        await untilAll(processes, 'every role is ok', is('ok', 200, []));
        await site.postgres.stop();
        await untilAll(processes, 'PostgreSQL is down', is('degraded', 200, ['postgresql']));
        await site.redis.stop();
        await untilAll(processes, 'both are down', is('unavailable', 503, ['postgresql', 'redis']));
        for (const { url } of processes) {
          assert.equal((await probe(url, '/livez')).code, 200);
          assert.equal(
            (await probe(url, '/readyz')).code,
            200,
            'inference serves the last known configuration',
          );
        }
        await site.postgres.start();
        await untilAll(processes, 'Redis is down', is('degraded', 200, ['redis']));
        await site.redis.start();
        await untilAll(processes, 'every role is ok again', is('ok', 200, []));
      } finally {
        await site.stop();
      }
    },
  },
];
