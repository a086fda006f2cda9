import assert from 'node:assert/strict';
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import {
  type PrivatePostgres,
  type PrivateRedis,
  selfHostedEnvironment,
  startPostgres,
  startRedis,
} from '@relay/testbed';
import { IS_LONG } from '@relay/testbed/long-form';
import { adminClient, createLane } from '../harness/admin-client.ts';
import { reportFigures } from '../harness/figures.ts';
import { LANE, startHostedDeployment } from '../harness/hosted-deployment.ts';
import { type ProviderProcess, startProviderProcess } from '../harness/provider-process.ts';
import { type RelayProcess, runRelay, startRefused, startRelay } from '../harness/relay-process.ts';
import { type Load, startLoad, type Target } from './load.ts';

// Secrets are replaced under load, in the order of docs/operate/rotation.md and in every wrong one. The short form replaces the four
// shared secrets together, the long form one after the other.

// Processes start all the while, which leaves little of two cores to the load.
const PER_SECOND = IS_LONG ? 200 : 40;
const GATEWAYS = 3;
const NAMES = ['RELAY_MASTER_KEY', 'RELAY_AUTH_SECRET', 'RELAY_API_TOKEN', 'RELAY_ADMIN_TOKEN'] as const;
type Name = (typeof NAMES)[number];
type Env = Record<string, string>;

const figures = { rotations: 0, requests: 0, failed: 0, wrong_orders: 0, not_refused: 0 };

const fresh = (name: Name) =>
  name === 'RELAY_MASTER_KEY' ? randomBytes(32).toString('base64') : randomBytes(24).toString('base64url');

/** A start or a command that must not succeed, and says which variable is wrong. */
async function refused(
  run: Promise<{ readonly code: number | null; readonly stderr: string }>,
  says: RegExp,
) {
  const { code, stderr } = await run;
  figures.wrong_orders += 1;
  if (code === 0 || code === null || !says.test(stderr)) figures.not_refused += 1;
  assert.notEqual(code, 0, 'it was not refused');
  assert.match(stderr, says);
}

const rotateKey = (env: Env, ...args: string[]) => runRelay(['rotate-key', ...args], env);

function refusedCommand(env: Env, step: string, says: RegExp) {
  const run = rotateKey(env, step).then(
    (stderr) => ({ code: 0, stderr }),
    (error: unknown) => ({ code: 1, stderr: String(error) }),
  );
  return refused(run, says);
}

async function stopLoad(load: Load): Promise<void> {
  const { requests, failures } = await load.stop();
  figures.requests += requests;
  figures.failed += failures.length;
  const tally: Record<string, number> = {};
  for (const failure of failures) tally[failure] = (tally[failure] ?? 0) + 1;
  assert.deepEqual(tally, {});
}

describe('secrets that all processes share', () => {
  let postgres: PrivatePostgres;
  let redis: PrivateRedis;
  let provider: ProviderProcess;
  let env: Env;
  let key: string;
  let keyId: string;
  const target: Target = { urls: [], tokens: [] };
  const gateways: RelayProcess[] = [];
  const others = new Map<string, RelayProcess>();

  /** Replaces every process, one after the other. A load balancer takes a gateway out before it stops. */
  async function restartAll(next: Env): Promise<void> {
    for (let index = 0; index < GATEWAYS; index += 1) {
      const started = await startRelay({ env: next, role: 'inference' });
      const stopping = gateways[index];
      gateways[index] = started;
      target.urls = gateways.map(({ url }) => url);
      await stopping?.stop();
    }
    for (const role of ['platform', 'worker']) {
      const started = await startRelay({ env: next, role });
      await others.get(role)?.stop();
      others.set(role, started);
    }
    env = next;
  }

  const admin = () => adminClient(others.get('platform')?.url ?? '', env['RELAY_ADMIN_TOKEN'] ?? '');
  /** An unrelated change, after which every gateway reads the credentials again. */
  const change = async () => {
    const name = `Lane ${randomBytes(4).toString('hex')}`;
    await admin().create('/api/relay/routing-lanes', {
      name,
      default_max_wait_ms: 1_000,
      allow_fallback: true,
      enabled: true,
    });
  };
  async function createKey(): Promise<void> {
    const { status, body } = await admin().call('POST', '/api/account/api-keys', {
      name: 'Client',
      scopes: ['relay:request'],
    });
    assert.equal(status, 201);
    const created = body as { api_key: string; key: { id: string } };
    [key, keyId] = [created.api_key, created.key.id];
  }

  before(async () => {
    [postgres, redis, provider] = await Promise.all([startPostgres(), startRedis(), startProviderProcess()]);
    const setup = selfHostedEnvironment({ DATABASE_URL: postgres.url, REDIS_URL: redis.url });
    env = { ...setup.env, RELAY_AUTH_SECRET: fresh('RELAY_AUTH_SECRET') };
    await restartAll(env);
    await createLane(admin(), {
      name: 'Open',
      endpoints: [{ baseUrl: provider.baseUrl, upstreamModel: 'sim-multi' }],
    });
    await createKey();
    target.tokens = [setup.apiToken, key];
  });
  after(async () => {
    await Promise.all([...gateways, ...others.values()].map((each) => each.stop()));
    await provider?.stop();
    await Promise.all([postgres?.remove(), redis?.remove()]);
  });

  it('each role refuses to start with each wrong secret, and the other processes fail no request', async () => {
    const load = startLoad(target, 'open', PER_SECOND);
    const roles = ['inference', 'platform', 'worker', 'all'];
    // The short form tries each secret and each role once; `main/secrets/secrets.db.test.ts` has every pair.
    for (const [at, role] of roles.entries())
      for (const name of IS_LONG ? NAMES : NAMES.slice(at, at + 1))
        await refused(
          startRefused({ env: { ...env, [name]: fresh(name) }, role }),
          new RegExp(`${name} is not the one`),
        );
    await change();
    await stopLoad(load);
  });

  for (const names of IS_LONG ? NAMES.map((name) => [name]) : [NAMES])
    it(`are replaced under load without a failed request: ${names.join(', ')}`, async () => {
      const old = env;
      const next = Object.fromEntries(names.map((name) => [name, fresh(name)]));
      const earlier = Object.fromEntries(names.map((name) => [`${name}_PREVIOUS`, old[name] ?? '']));
      const both = { ...old, ...next, ...earlier };
      const alone = { ...old, ...next };
      const [first = NAMES[0]] = names;
      const load = startLoad(target, 'open', PER_SECOND);
      // Too early: a process with the new value alone, and the step before every process has it.
      await refused(startRefused({ env: alone, role: 'inference' }), new RegExp(`${first} is not the one`));
      const early = await startRelay({ env: both, role: 'inference' });
      await refusedCommand(both, 'go', new RegExp(`not accept the new value of ${first}`));
      await refusedCommand(alone, 'go', /is not the one|do not contain the master key/);
      await change();
      await early.stop();
      await restartAll(both);
      await change();
      assert.match(await rotateKey(both, 'go'), new RegExp(first));
      await change();
      // A process with the old values alone, and one without them, before the end.
      await refused(startRefused({ env: old, role: 'inference' }), new RegExp(`${first} is not the one`));
      await refused(startRefused({ env: alone, role: 'inference' }), new RegExp(`${first}_PREVIOUS lacks`));
      // The way back and forth again.
      assert.match(await rotateKey(both, 'back'), new RegExp(first));
      await change();
      assert.match(await rotateKey(both, 'go'), new RegExp(first));
      await change();
      if (names.includes('RELAY_API_TOKEN')) {
        await refusedCommand(both, 'finish', /A client sent the earlier RELAY_API_TOKEN|API key/);
        target.tokens = [both['RELAY_API_TOKEN'] ?? '', key];
      }
      if (names.includes('RELAY_AUTH_SECRET')) {
        await refusedCommand(both, 'finish', /API keys? (was|were) created before the new value/);
        const replaced = keyId;
        await createKey();
        target.tokens = [both['RELAY_API_TOKEN'] ?? '', key];
        await load.settled();
        const { status } = await admin().call('DELETE', `/api/account/api-keys/${replaced}`);
        assert.ok(status < 300, `the key's end answered ${status}`);
      }
      await finish(both);
      await restartAll(alone);
      await change();
      await stopLoad(load);
      figures.rotations += names.length;
    });

  /** Repeated, as the page says, until no client has sent the earlier token for a minute. */
  async function finish(both: Env): Promise<void> {
    const endMs = Date.now() + 120_000;
    for (;;) {
      try {
        await rotateKey(both, 'finish');
        return;
      } catch (error) {
        if (Date.now() > endMs || !/A client sent the earlier/.test(String(error))) throw error;
      }
    }
  }
});

describe('context keys', () => {
  it('are replaced under load without a failed request, and refused in a wrong order', async () => {
    const site = await startHostedDeployment();
    const started: RelayProcess[] = [];
    try {
      const { RELAY_CONTEXT_SIGNING_KEY: _signing, RELAY_AUTH_SECRET, ...shared } = site.env as Env;
      const forInference = { ...shared };
      const [ours = '', trusted = ''] = (shared['RELAY_CONTEXT_VERIFY_KEYS'] ?? '').split(',');
      const { RELAY_CONTEXT_VERIFY_KEYS: _verify, ...rest } = shared;
      const forPlatform = {
        ...rest,
        RELAY_AUTH_SECRET: RELAY_AUTH_SECRET ?? '',
        RELAY_INFERENCE_URL: site.inference[0].url,
      };
      const nextSigning = String(site.nextKey.export({ format: 'jwk' }).d);
      const target: Target = { urls: [site.platform.url], tokens: [site.acme.key] };
      const load = startLoad(target, LANE, PER_SECOND / 2);
      const foreign = String(generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' }).d);
      await refused(
        startRefused({ env: { ...forPlatform, RELAY_CONTEXT_SIGNING_KEY: foreign }, role: 'platform' }),
        /RELAY_CONTEXT_SIGNING_KEY is a key that the inference process \d+ on .+ does not accept/,
      );
      const onlyNext = { ...forInference, RELAY_CONTEXT_VERIFY_KEYS: trusted };
      await refused(
        startRefused({ env: onlyNext, role: 'inference' }),
        /RELAY_CONTEXT_VERIFY_KEYS lacks the key/,
      );
      assert.notEqual(ours, trusted);
      // Every inference process trusts both keys already, which is the first step.
      const platform = await startRelay({
        env: { ...forPlatform, RELAY_CONTEXT_SIGNING_KEY: nextSigning },
        role: 'platform',
      });
      started.push(platform);
      target.urls = [platform.url];
      await site.platform.stop();
      started.push(await startRelay({ env: onlyNext, role: 'inference' }));
      await stopLoad(load);
      figures.rotations += 1;
    } finally {
      await Promise.all(started.map((each) => each.stop()));
      await site.stop();
    }
  });
  after(() => reportFigures(figures));
});
