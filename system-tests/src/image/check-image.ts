import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { startProviderSim } from '@relay/provider-sim';
import { freePort, selfHostedEnvironment, startPostgres, startRedis } from '@relay/testbed';
import { adminClient, createLane } from '../harness/admin-client.ts';
import { until } from '../harness/until.ts';
import { buildah } from './buildah.ts';
import { type Contained, createSandbox, type Sandbox } from './sandbox.ts';

const START_MS_MAX = 180_000;
const CONFIGURED_MS_MAX = 60_000;
const DRAIN_MS = 20_000;
/** How long the provider takes for the request that is in flight at SIGTERM. */
const SLOW_MS = 1_500;
const ROLES = ['platform', 'inference', 'worker'] as const;
/** Programs that an attacker would like, and an operator does not need. */
const NOT_THERE = [
  'bin/sh',
  'usr/bin/sh',
  'usr/bin/dpkg',
  'usr/bin/apt',
  'usr/local/bin/npm',
  'usr/local/lib/node_modules',
];

type Env = Readonly<Record<string, string>>;
type Role = (typeof ROLES)[number];

interface Running {
  readonly contained: Contained;
  readonly url: string;
  readonly env: Env;
}

export interface ImageFigures {
  readonly status: number;
  readonly in_flight_status: number;
  readonly user: number;
  readonly stop_ms: number;
  readonly exit_codes: readonly (number | null)[];
}

/** Runs the three roles of the image on private stores, from the migration to the end by SIGTERM. */
export async function checkImage(image: string): Promise<ImageFigures> {
  const [postgres, redis, provider] = await Promise.all([startPostgres(), startRedis(), startProviderSim()]);
  const sandbox = await createSandbox(image);
  try {
    const stores = { DATABASE_URL: postgres.url, REDIS_URL: redis.url };
    const secrets = selfHostedEnvironment(stores);
    const env = { ...secrets.env, RELAY_DRAIN_TIMEOUT_MS: String(DRAIN_MS) };
    checkFiles(sandbox);
    await migrate(image, postgres.url);
    await checkReadOnly(sandbox);
    await checkStopWhileStarting(sandbox, env);
    const running = await startRoles(sandbox, env);
    const user = checkUser(running.inference.contained);
    await checkHealth(sandbox, running.inference);
    const admin = adminClient(running.platform.url, secrets.adminToken);
    await createLane(admin, {
      name: 'First',
      endpoints: [{ baseUrl: provider.baseUrl, upstreamModel: 'gpt-4o' }],
    });
    const ask = () => complete(running.inference.url, secrets.apiToken);
    assert.ok(await until(async () => (await ask()) === 200, CONFIGURED_MS_MAX, 200), 'no completion');
    const status = await ask();
    const logged = async () => {
      const { body } = await admin.call('GET', '/api/relay/requests');
      return (body as { data: unknown[] }).data.length > 0;
    };
    assert.ok(await until(logged, CONFIGURED_MS_MAX), 'the worker wrote no row to the ledger');

    provider.script({ fault: { delayMs: SLOW_MS } });
    const sent = provider.log.length;
    const inFlight = ask();
    assert.ok(await until(() => provider.log.length > sent, CONFIGURED_MS_MAX), 'the request did not arrive');
    const { stopMs, codes } = await stopAll(running);
    return { status, in_flight_status: await inFlight, user, stop_ms: stopMs, exit_codes: codes };
  } finally {
    await Promise.all([postgres.remove(), redis.remove(), provider.close()]);
    await sandbox.remove();
  }
}

function checkFiles({ root }: Sandbox): void {
  for (const path of NOT_THERE) assert.ok(!existsSync(join(root, path)), `the image has ${path}`);
}

/** As an operator does before an upgrade: another command of the same image. */
async function migrate(image: string, url: string): Promise<void> {
  const container = await buildah('from', image);
  const command = ['/usr/local/bin/node', '/app/bin/relay.js', 'migrate'];
  const run = (word: string) =>
    buildah('run', '--env', `DATABASE_URL=${url}`, container, '--', ...command, word);
  assert.match(await run('up'), /^applied/m);
  assert.match(await run('status'), /^applied/m);
  await buildah('rm', container);
}

async function checkReadOnly(sandbox: Sandbox): Promise<void> {
  const write = (file: string) => `require('fs').writeFileSync('${file}', '')`;
  const code = `${write('/tmp/x')}; try { ${write('/app/x')} } catch (error) { process.exit(error.code === 'EROFS' ? 7 : 1) }`;
  const contained = sandbox.start({}, ['/usr/local/bin/node', '-e', code]);
  assert.equal(await contained.exited(), 7, `the root can be written to: ${contained.output()}`);
}

/** The kernel ignores a signal without a handler for the first process, so one that waits for its stores needs a handler too. */
async function checkStopWhileStarting(sandbox: Sandbox, env: Env): Promise<void> {
  const silent = createServer();
  const asked = new Promise((resolve) => silent.once('connection', resolve));
  const port = await freePort();
  silent.listen(port, '127.0.0.1');
  const contained = sandbox.start({ ...env, DATABASE_URL: `postgres://postgres@127.0.0.1:${port}/postgres` });
  await asked;
  contained.signal('SIGTERM');
  const timer = setTimeout(() => contained.signal('SIGKILL'), DRAIN_MS);
  assert.equal(
    await contained.exited(),
    143,
    `SIGTERM did not end a process that starts: ${contained.output()}`,
  );
  clearTimeout(timer);
  silent.close();
}

async function startRoles(sandbox: Sandbox, env: Env): Promise<Record<Role, Running>> {
  const started = await Promise.all(
    ROLES.map(async (role) => [role, await startRole(sandbox, env, role)] as const),
  );
  return Object.fromEntries(started) as Record<Role, Running>;
}

async function startRole(sandbox: Sandbox, stores: Env, role: Role): Promise<Running> {
  const port = await freePort();
  const env = { ...stores, RELAY_HTTP_ADDR: `127.0.0.1:${port}` };
  const contained = sandbox.start(env, [...sandbox.config.Entrypoint, 'serve', '--role', role]);
  const isUp = await until(() => contained.output().includes('"msg":"listening"'), START_MS_MAX);
  assert.ok(isUp, `${role} did not listen:\n${contained.output()}`);
  return { contained, url: `http://127.0.0.1:${port}`, env };
}

function checkUser(contained: Contained): number {
  const status = readFileSync(`/proc/${contained.pid()}/status`, 'utf8');
  const [, user = '0'] = /^Uid:\s+(\d+)/m.exec(status) ?? [];
  assert.notEqual(Number(user), 0, 'the process is root');
  assert.match(status, /^NSpid:\s+\d+\s+1$/m, 'it is not the first process');
  return Number(user);
}

async function checkHealth(sandbox: Sandbox, { env }: Running): Promise<void> {
  const [kind, ...command] = sandbox.config.Healthcheck.Test;
  assert.equal(kind, 'CMD');
  const ask = async (own: Env) => sandbox.start(own, command).exited();
  assert.equal(await ask(env), 0, 'the health check fails on a healthy process');
  const closed = { ...env, RELAY_HTTP_ADDR: `127.0.0.1:${await freePort()}` };
  assert.equal(await ask(closed), 1, 'the health check does not fail without a process');
}

async function complete(url: string, token: string): Promise<number> {
  const response = await fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', connection: 'close' },
    body: JSON.stringify({ model: 'first', messages: [{ role: 'user', content: 'Say hello.' }] }),
  });
  await response.text();
  return response.status;
}

/** The gateway first, as in a rolling restart, then what it needs. */
async function stopAll(
  running: Record<Role, Running>,
): Promise<{ stopMs: number; codes: (number | null)[] }> {
  const startedMs = performance.now();
  const codes: (number | null)[] = [];
  for (const role of ['inference', 'platform', 'worker'] as const) {
    running[role].contained.signal('SIGTERM');
    codes.push(await running[role].contained.exited());
  }
  return { stopMs: Math.round(performance.now() - startedMs), codes };
}
