import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { randomBytes, randomUUIDv7 } from 'node:crypto';
import { tmpdir } from 'node:os';
import { after, before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { adminClient, createLane } from '../harness/admin-client.ts';
import { bareEnvironment } from '../harness/bare-environment.ts';
import { type Deployment, startDeployment } from '../harness/deployment.ts';
import { reportFigures } from '../harness/figures.ts';
import { RELAY_ENTRY } from '../harness/relay-entry.ts';
import { readRequest } from '../harness/request-log.ts';
import { until } from '../harness/until.ts';

// API keys from the first start, without accounts: `relay start`, and `relay serve` with one process that serves inference
// only. A key is created, used, limited and revoked; a key that exists stays valid when accounts are turned on.

const run = promisify(execFile);
const REQUESTS_MAX = 2;
const figures = { passed: 0 };
after(() => reportFigures(figures));

interface Key {
  readonly id: string;
  readonly secret: string;
}

for (const stores of ['embedded', 'servers'] as const) {
  describe(stores === 'embedded' ? 'relay start' : 'relay serve, without accounts', () => {
    let deployment: Deployment;
    /** Where inference is served: with servers, a process that has never seen the key. */
    let inferenceUrl: string;
    let app: Key;
    const check = (name: string, run: () => Promise<void>) => {
      it(name, async () => {
        await run();
        figures.passed += 1;
      });
    };

    before(async () => {
      deployment = await startDeployment({ stores });
      const { admin, provider } = deployment;
      await createLane(admin, {
        name: 'First',
        endpoints: [{ baseUrl: provider.baseUrl, upstreamModel: 'sim-chat' }],
      });
      inferenceUrl =
        stores === 'embedded' ? deployment.url : (await deployment.startProcess({ role: 'inference' })).url;
      app = await createKey({ name: 'App', scopes: ['relay:request'] });
    });
    after(() => deployment?.stop());

    async function createKey(body: object): Promise<Key> {
      const { api_key, key } = (await deployment.admin.create('/api/account/api-keys', body)) as unknown as {
        api_key: string;
        key: { id: string };
      };
      return { id: key.id, secret: api_key };
    }

    async function complete(token: string, url = inferenceUrl): Promise<{ said: string; requestId: string }> {
      const response = await fetch(`${url}/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body: JSON.stringify({ model: 'first', messages: [{ role: 'user', content: 'Hello' }] }),
      });
      const body = (await response.json()) as { error?: { code: string } };
      const code = body.error === undefined ? '' : ` ${body.error.code}`;
      return {
        said: `${response.status}${code}`,
        requestId: response.headers.get('x-request-id') ?? '',
      };
    }

    async function manage(token: string, method: string, path: string, body?: object): Promise<string> {
      const answer = await adminClient(deployment.url, token).call(method, path, body);
      const { error } = (answer.body ?? {}) as { error?: { code: string } };
      return `${answer.status}${error === undefined ? '' : ` ${error.code}`}`;
    }

    check(
      'the key of the implicit owner gets a completion, and its row in the ledger names the key',
      async () => {
        const { said, requestId } = await complete(app.secret);
        assert.equal(said, '200');
        assert.ok(await until(async () => (await readRequest(deployment.admin, requestId)) !== null, 10_000));
        const row = await readRequest(deployment.admin, requestId);
        assert.equal(row?.api_key_id, app.id);
        const { body } = await deployment.admin.call('GET', '/api/account');
        assert.equal(row?.user_uuid, (body as { user: { id: string } }).user.id);
      },
    );

    check(
      'the command of the documentation creates a key, with the settings of the server alone',
      async () => {
        const args = ['keys', 'create', '--name', 'My app', '--expires', '90d'];
        const { stdout } = await run(process.execPath, [RELAY_ENTRY, ...args], {
          cwd: tmpdir(),
          env: { ...bareEnvironment(), ...deployment.env, RELAY_HTTP_ADDR: new URL(deployment.url).host },
        });
        const { api_key, key } = JSON.parse(stdout) as { api_key: string; key: { scopes: string[] } };
        assert.deepEqual(key.scopes, ['relay:request']);
        assert.equal((await complete(api_key)).said, '200');
      },
    );

    check('the tokens keep working, and neither opens what the other does', async () => {
      const { apiToken, adminToken } = deployment;
      assert.equal((await complete(apiToken)).said, '200');
      assert.equal(await manage(adminToken, 'GET', '/api/account'), '200');
      assert.equal((await complete(adminToken)).said, '401 invalid_api_key');
      assert.equal(await manage(apiToken, 'GET', '/api/account'), '401 invalid_api_key');
    });

    check('a key without management scopes manages nothing and reads no request', async () => {
      const asks: [string, string, object?][] = [
        ['GET', '/api/relay/requests'],
        ['GET', '/api/relay/providers'],
        ['GET', '/api/org/api-keys'],
        ['POST', '/api/account/api-keys', { name: 'More', scopes: ['relay:request'] }],
        ['DELETE', `/api/account/api-keys/${app.id}`],
        ['DELETE', `/api/relay/api-key-limit-policies?limit_uuid=${randomUUIDv7()}`],
      ];
      for (const [method, path, body] of asks)
        assert.equal(
          await manage(app.secret, method, path, body),
          '403 insufficient_scope',
          `${method} ${path}`,
        );
    });

    check('a key with a management scope manages that, sends no requests and grants no more', async () => {
      const { secret } = await createKey({
        name: 'Deploy',
        scopes: ['relay:providers:manage', 'cloud:account:manage'],
      });
      assert.equal(await manage(secret, 'GET', '/api/relay/providers'), '200');
      assert.equal(await manage(secret, 'GET', '/api/relay/requests'), '403 insufficient_scope');
      assert.equal((await complete(secret)).said, '403 insufficient_scope');
      const broader = { name: 'Broader', scopes: ['relay:request'] };
      assert.equal(await manage(secret, 'POST', '/api/account/api-keys', broader), '403 permission_denied');
    });

    check('the limit of a key is enforced for that key alone', async () => {
      const limited = await createKey({ name: 'Limited', scopes: ['relay:request'] });
      const policy = {
        api_key_uuid: limited.id,
        target_type: 'global',
        metric: 'requests',
        period: 'day',
        limit_value: REQUESTS_MAX,
      };
      const { status } = await deployment.admin.call('POST', '/api/relay/api-key-limit-policies', policy);
      assert.equal(status, 200);
      const answers: string[] = [];
      for (let sent = 0; sent <= REQUESTS_MAX; sent += 1) answers.push((await complete(limited.secret)).said);
      assert.deepEqual(answers, [...Array(REQUESTS_MAX).fill('200'), '429 budget_exhausted']);
      assert.equal((await complete(app.secret)).said, '200');
    });

    check('an expired key and a revoked key are rejected from the next request on', async () => {
      const expiresMs = Date.now() + 1_500;
      const brief = await createKey({
        name: 'Brief',
        scopes: ['relay:request'],
        expires_at: new Date(expiresMs).toISOString(),
      });
      const revoked = await createKey({ name: 'Revoked', scopes: ['relay:request'] });
      assert.equal((await complete(revoked.secret)).said, '200');
      const { status } = await deployment.admin.call('DELETE', `/api/account/api-keys/${revoked.id}`);
      assert.equal(status, 204);
      assert.equal((await complete(revoked.secret)).said, '401 revoked_api_key');
      assert.ok(
        await until(async () => (await complete(brief.secret)).said === '401 expired_api_key', 10_000),
      );
      assert.ok(Date.now() >= expiresMs);
      assert.equal((await complete(app.secret)).said, '200');
    });

    check('a key from before accounts works with them, and so does one that is created then', async () => {
      const env = { RELAY_ACCOUNTS: 'true', RELAY_AUTH_SECRET: randomBytes(32).toString('base64url') };
      await deployment.beside({ env }, async ({ url }) => {
        assert.equal((await complete(app.secret, url)).said, '200');
        const created = await adminClient(url, deployment.adminToken).create('/api/account/api-keys', {
          name: 'Later',
          scopes: ['relay:request'],
        });
        assert.equal((await complete(String(created['api_key']), url)).said, '200');
      });
    });

    if (stores === 'servers')
      check('a key outlives the master key while it is listed as previous, and not longer', async () => {
        const previous = deployment.env['RELAY_MASTER_KEY'] ?? '';
        const RELAY_MASTER_KEY = randomBytes(32).toString('base64');
        const models = async (url: string) =>
          (await fetch(`${url}/v1/models`, { headers: { authorization: `Bearer ${app.secret}` } })).status;
        const rotated = { RELAY_MASTER_KEY, RELAY_MASTER_KEY_PREVIOUS: previous };
        await deployment.beside({ env: rotated }, async ({ url }) => assert.equal(await models(url), 200));
        await deployment.beside({ env: { RELAY_MASTER_KEY } }, async ({ url }) =>
          assert.equal(await models(url), 401),
        );
      });
  });
}
