import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { tmpdir } from 'node:os';
import { after, before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import OpenAI from 'openai';
import { bareEnvironment } from '../harness/bare-environment.ts';
import { type Deployment, startDeployment } from '../harness/deployment.ts';
import { RELAY_ENTRY } from '../harness/relay-entry.ts';
import { type RelayProcess, startRefused } from '../harness/relay-process.ts';
import { until } from '../harness/until.ts';
import {
  complete,
  createKey,
  itKnowsKeys,
  itServesFirstLane,
  type Key,
  type Newcomer,
  worksWithAccounts,
} from './keys.ts';

// `relay serve` on PostgreSQL and Redis, from an empty database on.

const VISIBLE_MS_MAX = 2_000;
const BACK_MS_MAX = 10_000;
const run = promisify(execFile);

export function describeServers(): void {
  let deployment: Deployment;
  /** It serves inference only. */
  let gateway: RelayProcess;
  let newcomer: Newcomer;
  let app: Key;

  before(async () => {
    // Two processes start concurrently on an empty database: both must come up.
    deployment = await startDeployment({ stores: 'servers', processes: 2 });
    gateway = await deployment.startProcess({ role: 'inference' });
    newcomer = {
      ...deployment,
      inferenceUrl: gateway.url,
      async createByCommand() {
        const args = ['keys', 'create', '--name', 'My app', '--expires', '90d'];
        const { stdout } = await run(process.execPath, [RELAY_ENTRY, ...args], {
          cwd: tmpdir(),
          env: { ...bareEnvironment(), ...deployment.env, RELAY_HTTP_ADDR: new URL(deployment.url).host },
        });
        return JSON.parse(stdout) as Awaited<ReturnType<Newcomer['createByCommand']>>;
      },
    };
    app = await createKey(deployment.admin, { name: 'App', scopes: ['relay:request'] });
  });
  after(() => deployment?.stop());

  itServesFirstLane(() => newcomer);

  it('makes a change visible to the other process within two seconds', async () => {
    const other = deployment.processes[1]?.url ?? '';
    const isServed = async () => (await complete(other, deployment.apiToken)).said === '200';
    assert.ok(await until(isServed, VISIBLE_MS_MAX));
  });

  itKnowsKeys(
    () => newcomer,
    () => app,
  );

  it('a key works with accounts, and outlives the master key while that is listed as previous', async () => {
    const RELAY_MASTER_KEY = randomBytes(32).toString('base64');
    const rotated = {
      RELAY_MASTER_KEY,
      RELAY_MASTER_KEY_PREVIOUS: deployment.env['RELAY_MASTER_KEY'] ?? '',
      RELAY_ACCOUNTS: 'true',
      RELAY_AUTH_SECRET: randomBytes(32).toString('base64url'),
    };
    await deployment.beside({ env: rotated }, ({ url }) =>
      worksWithAccounts(url, deployment.adminToken, app),
    );
    const { code, stderr } = await startRefused({ env: { ...deployment.env, RELAY_MASTER_KEY } });
    assert.equal(code, 1);
    assert.match(stderr, /RELAY_MASTER_KEY is not the one that this deployment uses/);
  });

  describe('start', () => {
    const refused: [string, Record<string, string>, RegExp[]][] = [
      [
        'names every fault at once',
        {
          DATABASE_URL: 'mysql://x',
          RELAY_MODE: 'other',
          RELAY_API_TOKEN: 'short',
          RELAY_MASTER_KEY: 'A'.repeat(43),
        },
        [/DATABASE_URL/, /RELAY_MODE/, /RELAY_API_TOKEN/, /RELAY_MASTER_KEY/],
      ],
      [
        'refuses equal tokens',
        {
          RELAY_API_TOKEN: `kkkkkabcdefghijklmnopqrstuvwxyz012345`,
          RELAY_ADMIN_TOKEN: `kkkkkabcdefghijklmnopqrstuvwxyz012345`,
        },
        [/must differ/],
      ],
      [
        'refuses a placeholder',
        { RELAY_ADMIN_TOKEN: 'change-me-change-me-change-me-change-me' },
        [/placeholder/],
      ],
    ];
    for (const [what, env, expected] of refused) {
      it(what, async () => {
        const { code, stderr } = await startRefused({ env: { ...deployment.env, ...env } });
        assert.equal(code, 1);
        for (const pattern of expected) assert.match(stderr, pattern);
        assert.doesNotMatch(stderr, /\n\s+at /);
      });
    }
  });

  describe('when PostgreSQL is killed', () => {
    before(() => deployment.postgres.kill());

    it('inference goes on from memory', async () => {
      assert.equal((await complete(deployment.url, deployment.apiToken)).said, '200');
    });

    it('management answers 503 and not 401', async () => {
      const { status, body } = await deployment.admin.call('GET', '/api/relay/providers');
      assert.equal(status, 503);
      assert.equal((body as { error: { code: string } }).error.code, 'store_unavailable');
    });

    it('probes answer from memory', async () => {
      for (const path of ['/livez', '/readyz', '/healthz'])
        assert.equal((await fetch(deployment.url + path)).status, 200);
    });

    it('management comes back with it', async () => {
      await deployment.postgres.start();
      const isBack = async () => (await deployment.admin.call('GET', '/api/relay/providers')).status === 200;
      assert.ok(await until(isBack, BACK_MS_MAX));
    });
  });

  describe('SIGTERM', () => {
    it('finishes a stream under way, refuses new work with 503, and exits 0', async () => {
      const openai = new OpenAI({
        apiKey: deployment.apiToken,
        baseURL: `${gateway.url}/v1`,
        maxRetries: 0,
      });
      const ask = { model: 'first-lane', messages: [{ role: 'user' as const, content: 'Say hello.' }] };
      const slow = { ...ask, stream: true as const, sim: { frames: 20, frameDelayMs: 50 } };
      const stream = await openai.chat.completions.create(slow);
      let frames = 0;
      let stopped: Promise<number | null> | null = null;
      let refusal: unknown = null;
      for await (const _chunk of stream) {
        frames += 1;
        if (frames !== 2) continue;
        stopped = gateway.stop();
        while ((await fetch(`${gateway.url}/readyz`)).status !== 503);
        refusal = await openai.chat.completions.create(ask).catch((error: unknown) => error);
      }
      assert.ok(frames >= 20);
      assert.ok(refusal instanceof OpenAI.APIError);
      assert.equal(refusal.status, 503);
      assert.equal(refusal.code, 'draining');
      assert.equal(await stopped, 0);
    });
  });
}
