import assert from 'node:assert/strict';
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import OpenAI from 'openai';
import { type Deployment, startDeployment } from '../harness/deployment.ts';
import { reportFigures } from '../harness/figures.ts';
import { startRefused } from '../harness/relay-process.ts';
import { manyObjects } from './many-objects.ts';
import { type CommandResult, type Printed, runConfig } from './run-config.ts';

// Configuration files: applied with the CLI, applied at start, and imported from LiteLLM.

const EXAMPLE = join(import.meta.dirname, 'litellm-example.yaml');
const { config, variables } = manyObjects();
const OBJECTS = Object.values(config).reduce<number>(
  (sum, items) => sum + (Array.isArray(items) ? items.length : 0),
  0,
);
const printed: Printed = { texts: [] };
const figures = {
  objects: 0,
  round_trip_identical: false,
  imported_names: 0,
  names_served: 0,
  applied_by_replicas: 0,
};

let folder: string;
let source: Deployment;
let target: Deployment;

before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'relay-config-'));
  // Azure's path names the deployment.
  const provider = { models: upstreamModels(), anonymous: true, anyPrefix: true };
  [source, target] = await Promise.all([startDeployment({ provider }), startDeployment()]);
});
after(async () => {
  await Promise.all([source?.stop(), target?.stop()]);
  rmSync(folder, { recursive: true, force: true });
  reportFigures(figures);
});

const path = (name: string) => join(folder, name);
const on = (deployment: Deployment, env: Record<string, string> = variables) => {
  const command = { folder, printed, deployment, env };
  return (...args: string[]) => runConfig(command, ...args);
};
function succeeded(result: CommandResult): CommandResult {
  assert.equal(result.code, 0, result.stderr);
  return result;
}

describe('a configuration of 500 objects', () => {
  it('is checked without a server, and applied', async () => {
    writeFileSync(path('relay.yaml'), JSON.stringify(config));
    const checked = succeeded(await runConfig({ folder, printed }, 'validate'));
    assert.match(checked.stderr, new RegExp(`is valid: ${OBJECTS} resources`));
    const applied = succeeded(await on(source)('apply', '--yes'));
    const { creates, updates } = JSON.parse(applied.stdout) as { creates: number; updates: number };
    assert.deepEqual([creates, updates], [OBJECTS, 0]);
    figures.objects = OBJECTS;
  });

  it('arrives on an empty server byte by byte, and shows no difference there', async () => {
    const exported = succeeded(await on(source)('export')).stdout;
    assert.match(exported, /^# yaml-language-server: \$schema=/);
    assert.equal(exported.match(/^ {2}- /gm)?.length, OBJECTS);
    writeFileSync(path('exported.yaml'), exported);
    succeeded(await on(target)('apply', 'exported.yaml', '--yes'));
    const again = succeeded(await on(target)('export')).stdout;
    figures.round_trip_identical = again === exported;
    assert.ok(figures.round_trip_identical);
    assert.match(succeeded(await on(target)('diff', 'exported.yaml', '-o', 'table')).stdout, /^No changes/m);
    succeeded(await on(source)('diff', 'exported.yaml'));
  });

  it('differs by the field that was changed, with what it was and what it will be', async () => {
    const changed = readFileSync(path('exported.yaml'), 'utf8').replace(
      'limit_value: 107',
      'limit_value: 999',
    );
    writeFileSync(path('changed.yaml'), changed);
    const { code, stdout } = await on(target)('diff', 'changed.yaml', '-o', 'table');
    assert.equal(code, 5);
    assert.match(
      stdout,
      /^~ limit_policies endpoint endpoint-7: requests\/minute\n {4}limit_value: 107 → 999\n1 to update\.\n$/,
    );
  });

  it('shows of secrets whether they change, and never what they are', async () => {
    const others = { ...variables, CONFIG_KEY_1: 'sk-planted-in-config-other', CONFIG_KEY_2: '' };
    const { code, stdout } = await on(target, others)('diff', 'exported.yaml', '-o', 'table');
    assert.equal(code, 5);
    assert.match(stdout, /secret: changed/);
    assert.match(stdout, /secret env:CONFIG_KEY_2 not found here/);
    const piped = await on(target, others)('diff', 'exported.yaml');
    const { secrets } = JSON.parse(piped.stdout) as { secrets: { secret_ref: string; state: string }[] };
    const counts = Map.groupBy(secrets, ({ state }) => state);
    assert.deepEqual(
      ['unchanged', 'changed', 'unknown'].map((state) => counts.get(state)?.length),
      [19, 1, 1],
    );
  });

  it('refuses a secret that is written into it, and one that is missing, with line and column', async () => {
    const text = readFileSync(path('exported.yaml'), 'utf8');
    writeFileSync(
      path('inline.yaml'),
      text.replace('secret_ref: env:CONFIG_KEY_0', 'secret_ref: sk-planted-inline'),
    );
    const lineOf = (words: string) => text.slice(0, text.indexOf(words)).split('\n').length;
    const line = lineOf('secret_ref: env:CONFIG_KEY_0');
    const inline = await runConfig({ folder, printed }, 'validate', 'inline.yaml', '-o', 'table');
    assert.equal(inline.code, 1);
    assert.match(
      inline.stdout,
      new RegExp(`^inline.yaml:${line}:17: credentials\\[\\d+\\]\\.secret_ref must say where`),
    );
    writeFileSync(
      path('renamed.yaml'),
      text.replace('secret_ref: env:CONFIG_KEY_0', 'secret_ref: env:NOT_SET'),
    );
    const missing = await on(target)('apply', 'renamed.yaml', '--yes');
    assert.equal(missing.code, 1);
    assert.match(missing.stderr, new RegExp(`renamed.yaml:${line}:17: .*env:NOT_SET.*not set`));
  });

  it('belongs to the file: others get 409 until it is released, and prune deletes nothing else', async () => {
    const byHand = await target.admin.create('/api/relay/routing-lanes', { name: 'By hand' });
    const { body: lanes } = await target.admin.call('GET', '/api/relay/routing-lanes');
    const owned = (lanes as { id: string; slug: string }[]).find(({ slug }) => slug === 'lane-1');
    const write = { name: 'Lane 1', default_max_wait_ms: 5, allow_fallback: true, enabled: true };
    const put = () => target.admin.call('PUT', `/api/relay/routing-lanes/${owned?.id}`, write);
    const refused = await put();
    assert.equal(refused.status, 409);
    assert.match(JSON.stringify(refused.body), /managed_by_file.*relay config apply --release/);
    const less = { ...config, lanes: config.lanes?.slice(2), memberships: [] };
    writeFileSync(path('less.json'), JSON.stringify(less));
    const kept = await on(target)('diff', 'less.json', '-o', 'table');
    assert.equal(kept.code, 5);
    assert.match(kept.stdout, /manages 152 resources that it does not list/);
    const pruned = succeeded(await on(target)('apply', 'less.json', '--prune', '--yes'));
    assert.equal((JSON.parse(pruned.stdout) as { deletes: number }).deletes, 152);
    const { body: left } = await target.admin.call('GET', '/api/relay/routing-lanes');
    const ids = (left as { id: string }[]).map(({ id }) => id);
    assert.equal(ids.length, 59);
    assert.ok(ids.includes(byHand.id));
    writeFileSync(path('none.yaml'), 'version: 1\n');
    succeeded(await on(target)('apply', 'none.yaml', '--release', '--yes'));
    const [free] = left as { id: string }[];
    const freed = await target.admin.call('PUT', `/api/relay/routing-lanes/${free?.id}`, {
      ...write,
      name: 'Free',
    });
    assert.equal(freed.status, 200);
  });
});

describe('a configuration of LiteLLM', () => {
  const names = exampleNames();
  let replicas: Deployment | undefined;
  after(() => replicas?.stop());

  it('is imported with its names and budgets, and what has no counterpart is reported with its line', async () => {
    copyFileSync(EXAMPLE, path('litellm.yaml'));
    const env = { UPSTREAM_BASE: source.provider.baseUrl };
    const result = succeeded(
      await runConfig({ folder, printed, env }, 'import', 'litellm', 'litellm.yaml', '-o', 'imported.yaml'),
    );
    const reported = (words: string, place: string) => {
      const line = exampleText().slice(0, exampleText().indexOf(words)).split('\n').length;
      assert.ok(result.stderr.includes(`litellm.yaml:${line}:${place}\n`), `${words} on line ${line}`);
    };
    reported('model_name: bedrock-claude', '5 model_list[32]');
    reported('max_internal_user_budget', '3 litellm_settings.max_internal_user_budget');
    reported('drop_params', '3 litellm_settings.drop_params');
    reported('environment_variables', '1 environment_variables');
    const text = readFileSync(path('imported.yaml'), 'utf8');
    assert.equal(text.match(/metric: spend/g)?.length, 3);
    succeeded(await runConfig({ folder, printed }, 'validate', 'imported.yaml'));
    figures.imported_names = names.length;
    assert.equal(names.length, 30);
  });

  it('is applied at start by two replicas at once, and written once', async () => {
    const keys = Object.fromEntries(
      exampleVariables().map((name) => [name, `sk-planted-of-${name.toLowerCase()}`]),
    );
    const env = { RELAY_CONFIG: path('imported.yaml'), ...keys };
    replicas = await startDeployment({ processes: 2, env, stores: 'servers' });
    const applied = replicas.processes.map(({ logs }) =>
      logs.find(({ msg }) => msg === 'configuration file applied'),
    );
    const creates = applied.map((line) => Number(line?.['creates'])).sort((a, b) => a - b);
    assert.equal(creates[0], 0);
    assert.ok(Number(creates[1]) > 100);
    figures.applied_by_replicas = creates.filter((count) => count > 0).length;
    assert.match(
      succeeded(await on(replicas, keys)('diff', 'imported.yaml', '-o', 'table')).stdout,
      /^No changes/m,
    );
  });

  it('serves a request to each imported name, on both replicas', async () => {
    const clients = (replicas?.processes ?? []).map(
      ({ url }) => new OpenAI({ apiKey: replicas?.apiToken ?? '', baseURL: `${url}/v1`, maxRetries: 0 }),
    );
    assert.equal(clients.length, 2);
    await Promise.all(
      [...names, 'default'].map(async (name) => {
        for (const client of clients) {
          if (name.startsWith('text-embedding'))
            await client.embeddings.create({ model: name, input: 'Hello.' });
          else
            await client.chat.completions.create({
              model: name,
              messages: [{ role: 'user', content: 'Hello.' }],
            });
        }
        if (name !== 'default') figures.names_served += 1;
      }),
    );
  });

  it('stops the start with file, line and column when it cannot be applied', async () => {
    const started = replicas as Deployment;
    const text = readFileSync(path('imported.yaml'), 'utf8');
    const refusedAt = async (name: string, contents: string, env: Record<string, string> = {}) => {
      writeFileSync(path(name), contents);
      const options = {
        env: { ...started.env, RELAY_HTTP_ADDR: '127.0.0.1:0', RELAY_CONFIG: path(name), ...env },
      };
      const { code, stderr } = await startRefused(options);
      printed.texts.push(stderr);
      assert.equal(code, 1, stderr);
      return stderr.replaceAll(folder, '');
    };
    const [shape, reference, absent] = await Promise.all([
      refusedAt('shape.yaml', 'version: 1\nlanes:\n  - name: Fast\n    speed: 1\n'),
      refusedAt(
        'reference.yaml',
        'version: 1\nmemberships:\n  - { lane: nowhere, endpoint: gpt-4o, manual_rank: 1 }\n',
      ),
      refusedAt('absent.yaml', text.replace('secret_ref: env:XAI_API_KEY', 'secret_ref: env:NEVER_SET')),
    ]);
    assert.match(shape, /\/shape\.yaml:4:5: unknown field lanes\[0\]\.speed/);
    assert.match(reference, /\/reference\.yaml:3:13: memberships\[0\]\.lane names the lane "nowhere"/);
    assert.match(absent, /\/absent\.yaml:\d+:17: .*env:NEVER_SET/);
  });
});

it('no secret was printed by any command', () => {
  assert.ok(printed.texts.length > 30);
  const leaks = printed.texts.filter((text) => /sk-(planted|written|the-master|lf)/.test(text));
  assert.deepEqual(leaks, []);
  assert.doesNotMatch(readFileSync(path('imported.yaml'), 'utf8'), /sk-/);
});

function exampleText(): string {
  return readFileSync(EXAMPLE, 'utf8');
}

/** The names that can be served; the last two of the example cannot. */
function exampleNames(): string[] {
  const found = [...exampleText().matchAll(/model_name: (.+)/g)].map(([, name = '']) => name);
  return [...new Set(found)].slice(0, -2);
}

/** What the provider is asked for: the model of each entry without the provider before it. */
function upstreamModels(): string[] {
  const found = [...exampleText().matchAll(/\bmodel: ([^,\s}]+)/g)].map(([, model = '']) => model);
  return found.map((model) => (model.includes('/') ? model.slice(model.indexOf('/') + 1) : model));
}

function exampleVariables(): string[] {
  const found = [...exampleText().matchAll(/api_key: os\.environ\/(\w+)/g)].map(([, name = '']) => name);
  return [...new Set([...found, 'RELAY_SECRET_VLLM'])];
}
