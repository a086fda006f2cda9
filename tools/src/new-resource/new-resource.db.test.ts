// A resource is announced once: with its folder, a migration and its contract file, and after `npm run generate`, it has
// everything that the shipped ones have. The test adds one to a copy of the repository and uses it.
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { type PlantedCopy, plantedCopy } from '../check/planted-copy.ts';
import { runCommand } from '../check/run-command.ts';
import { widgetFiles } from './planted-widgets.fixture.ts';

// Only what hangs takes longer.
const START_MS_MAX = 300_000;
// A cold compilation takes its time on a busy machine.
const COMPILE_MS_MAX = 300_000;
// Two compilations, a server and what is asked of it.
const ALL_MS_MAX = 2 * COMPILE_MS_MAX + START_MS_MAX;

describe('a resource that is added with its folder, a migration and its contract file', {
  timeout: ALL_MS_MAX,
}, () => {
  let copy: PlantedCopy;
  let server: ChildProcess;
  let url = '';
  let tokens: Readonly<Record<string, string>> = {};

  before(async () => {
    copy = plantedCopy();
    for (const [path, text] of Object.entries(widgetFiles)) copy.write(path, text);
    const generated = await runCommand(process.execPath, ['tools/src/generate.ts'], copy.root);
    assert.ok(generated.ok, generated.output);
    const port = await freePort();
    url = `http://127.0.0.1:${port}`;
    tokens = { RELAY_ADMIN_TOKEN: randomSecret(), RELAY_API_TOKEN: randomSecret() };
    const env = {
      PATH: process.env['PATH'],
      ...tokens,
      RELAY_ACCOUNTS: 'true',
      RELAY_AUTH_SECRET: randomSecret(),
    };
    const data = join(copy.root, 'data');
    mkdirSync(data);
    const args = ['cli/bin/relay.js', 'start', '--data-dir', data, '--port', String(port)];
    server = spawn(process.execPath, args, { cwd: copy.root, env, stdio: ['ignore', 'pipe', 'inherit'] });
    await once(server.stdout ?? server, 'data', { signal: AbortSignal.timeout(START_MS_MAX) });
  });

  after(async () => {
    if (server.exitCode === null) {
      server.kill('SIGTERM');
      await once(server, 'exit');
    }
    copy[Symbol.dispose]();
  });

  async function call(method: string, path: string, body?: object, token = tokens['RELAY_ADMIN_TOKEN']) {
    const response = await fetch(url + path, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, body: text === '' ? null : JSON.parse(text) };
  }

  async function relay(...args: string[]) {
    const env = { ...process.env, RELAY_SERVER: url, ...tokens };
    const child = spawn(process.execPath, ['cli/bin/relay.js', ...args], { cwd: copy.root, env });
    let stdout = '';
    let stderr = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      stdout += text;
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr += text;
    });
    const [code] = await once(child, 'close');
    assert.equal(code, 0, `relay ${args.join(' ')}: ${stderr}`);
    return stdout;
  }

  // The `routes` suite has a request for every route of the contract, and asks for those of new ones; what is
  // shipped needs no change.
  for (const members of [['contract', 'server', 'cli'], ['console']]) {
    it(`compiles with ${members.join(', ')}`, { timeout: COMPILE_MS_MAX }, async () => {
      const base = members.includes('console') ? './console/tsconfig.json' : './tsconfig.json';
      const include = members.flatMap((member) => [`${member}/src/**/*.ts`, `${member}/src/**/*.tsx`]);
      const project = { extends: base, include, exclude: ['**/*.test.ts', '**/*.fixture.ts'] };
      copy.write('tsconfig.planted.json', JSON.stringify(project));
      const args = ['node_modules/@typescript/native/bin/tsc', '--project', 'tsconfig.planted.json'];
      const { ok, output } = await runCommand(process.execPath, args, copy.root);
      assert.ok(ok, output);
    });
  }

  it('is created, listed, changed and deleted, with entity tags, slugs and audit entries', async () => {
    const created = await call('POST', '/api/relay/widgets', { name: 'First' });
    assert.deepEqual([created.status, created.body.slug, created.body.size], [201, 'first', 1]);
    const { id } = created.body;
    const changed = await call('PUT', `/api/relay/widgets/${id}`, { size: 7 });
    assert.deepEqual([changed.status, changed.body.size], [200, 7]);
    const listed = await call('GET', '/api/relay/widgets?limit=1');
    assert.deepEqual(listed.body, [changed.body]);
    assert.equal((await call('DELETE', `/api/relay/widgets/${id}`)).status, 204);
    assert.deepEqual((await call('GET', '/api/relay/widgets')).body, []);
    const log = await call('GET', '/api/relay/audit-log?target_type=widget');
    const actions = log.body.data.map((entry: { action: string }) => entry.action);
    assert.deepEqual(actions, ['widget.delete', 'widget.update', 'widget.create']);
  });

  it('is refused without its scopes and served with them', async () => {
    const keyWith = async (...scopes: string[]) =>
      (await call('POST', '/api/account/api-keys', { name: 'k', scopes })).body.api_key;
    const without = await keyWith('relay:providers:read');
    const refused = await call('GET', '/api/relay/widgets', undefined, without);
    assert.deepEqual([refused.status, refused.body.error.code], [403, 'insufficient_scope']);
    const reader = await keyWith('relay:widgets:read');
    assert.equal((await call('GET', '/api/relay/widgets', undefined, reader)).status, 200);
    assert.equal((await call('POST', '/api/relay/widgets', { name: 'x' }, reader)).status, 403);
    const manager = await keyWith('relay:widgets:manage');
    assert.equal((await call('GET', '/api/relay/widgets', undefined, manager)).status, 200);
    const { features } = (await call('GET', '/api/relay/capabilities')).body;
    assert.equal(features.widgets, true);
  });

  it('is a section of the configuration file, which then owns it', async () => {
    const config = { version: 1, widgets: [{ slug: 'filed', name: 'Filed', size: 3 }] };
    const plan = await call('POST', '/api/relay/config/plan', { config });
    assert.deepEqual([plan.status, plan.body.creates, plan.body.changes[0].section], [200, 1, 'widgets']);
    const applied = await call('POST', '/api/relay/config/apply', { config });
    assert.equal(applied.status, 200, JSON.stringify(applied.body));
    const exported = await call('GET', '/api/relay/config/export');
    assert.deepEqual(exported.body.widgets, config.widgets);
    const [owned] = (await call('GET', '/api/relay/widgets')).body;
    assert.equal(owned.managed_by, 'file');
    const refused = await call('DELETE', `/api/relay/widgets/${owned.id}`);
    assert.deepEqual([refused.status, refused.body.error.code], [409, 'managed_by_file']);
    const file = join(copy.root, 'relay.yaml');
    writeFileSync(file, 'version: 1\nwidgets:\n  - slug: "no spaces here"\n    name: Bad\n');
    const bad = await runCommand(
      process.execPath,
      ['cli/bin/relay.js', 'config', 'validate', file],
      copy.root,
    );
    assert.equal(bad.ok, false);
    assert.match(bad.output, /widgets\[0\]\.slug/);
    await call('POST', '/api/relay/config/apply', { config: { version: 1 }, prune: true });
    assert.deepEqual((await call('GET', '/api/relay/widgets')).body, []);
  });

  it('has a command that lists, shows, creates, changes and deletes', async () => {
    const created = JSON.parse(
      await relay('widgets', 'create', '--name', 'By hand', '--size', '2', '-o', 'json'),
    );
    assert.deepEqual([created.slug, created.size], ['by-hand', 2]);
    assert.match(await relay('widgets', 'list', '-o', 'table'), /By hand\s+by-hand\s+2/);
    await relay('widgets', 'update', 'by-hand', '--size', '5');
    assert.equal(JSON.parse(await relay('widgets', 'get', 'by-hand', '-o', 'json')).size, 5);
    await relay('widgets', 'delete', 'by-hand', '--yes');
    assert.deepEqual(JSON.parse(await relay('widgets', 'list', '-o', 'json')), []);
    assert.match(await relay('--help'), /widgets\s+Manage widgets/);
  });
});

function randomSecret(): string {
  return randomBytes(32).toString('base64url');
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  assert.ok(typeof address === 'object' && address !== null);
  return address.port;
}
