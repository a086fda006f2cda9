import assert from 'node:assert/strict';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { type ProviderSim, startProviderSim } from '@relay/provider-sim';
import OpenAI from 'openai';
import { adminClient, createLane } from '../harness/admin-client.ts';
import { reportFigures } from '../harness/figures.ts';
import { findRequest } from '../harness/request-log.ts';
import { emptyFolder, type Folder, type Started } from './start-process.ts';

// `relay start`: one process, no database, no Redis. What it prints on a terminal, what it rejects, and what it keeps.

const figures: Record<string, unknown> = { passed: 0, failed: 0 };

function count(passed: number, failed: number): void {
  figures['passed'] = Number(figures['passed']) + passed;
  figures['failed'] = Number(figures['failed']) + failed;
}

function check(name: string, run: () => Promise<void>): void {
  it(name, async () => {
    try {
      await run();
      count(1, 0);
    } catch (error) {
      count(0, 1);
      throw error;
    }
  });
}

const unused = emptyFolder();

after(() => {
  unused.remove();
  reportFigures(figures);
});

describe('relay start', () => {
  let folder: Folder;
  let provider: ProviderSim;
  let running: Started;
  let tokens: { api: string; admin: string };

  before(async () => {
    folder = emptyFolder();
    provider = await startProviderSim();
    // It listens on loopback, so it may call the provider there.
    running = await folder.start();
    figures['first_start_seconds'] = Number(running.seconds.toFixed(1));
    tokens = {
      api: /API token +(\S+)/.exec(running.printed)?.[1] ?? '',
      admin: /Admin token +(\S+)/.exec(running.printed)?.[1] ?? '',
    };
  });
  after(async () => {
    await running.stop();
    await provider.close();
    folder.remove();
  });

  const ask = { model: 'first', messages: [{ role: 'user' as const, content: 'Hello.' }] };
  const client = () => new OpenAI({ apiKey: tokens.api, baseURL: `${running.url}/v1`, maxRetries: 0 });
  const dataDirectory = () => join(folder.path, 'relay-data');

  check('prints where it is, both tokens and a command to try, which works as it stands', async () => {
    assert.match(running.printed, new RegExp(`Relay is running\\..*\\n\\n +${running.url}/console/`));
    assert.match(tokens.api, /^relay-api-.{32}$/);
    assert.match(tokens.admin, /^relay-admin-.{32}$/);
    const [, url = '', header = ''] = /curl (\S+) -H "([^"]+)"/.exec(running.printed) ?? [];
    const [name = '', value = ''] = header.split(': ');
    const answer = await fetch(url, { headers: { [name]: value } });
    assert.equal(answer.status, 200);
    assert.equal(((await answer.json()) as { object: string }).object, 'list');
  });

  check('keeps what it has made for nobody else to read, and nothing outside its directory', async () => {
    assert.deepEqual(readdirSync(folder.path), ['relay-data']);
    assert.equal(statSync(dataDirectory()).mode & 0o777, 0o700);
    assert.equal(statSync(join(dataDirectory(), 'secrets.json')).mode & 0o777, 0o600);
    const health = (await (await fetch(`${running.url}/healthz`)).json()) as Record<string, unknown>;
    assert.equal(health['stores'], 'embedded');
    assert.deepEqual(health['checks'], { postgresql: { status: 'ok' } });
  });

  check('serves the openai client, and the request is in the log soon', async () => {
    const admin = adminClient(running.url, tokens.admin);
    await createLane(admin, {
      name: 'First',
      endpoints: [{ baseUrl: provider.baseUrl, upstreamModel: 'sim-chat' }],
    });
    const answer = await client().chat.completions.create(ask, { headers: { 'x-request-id': 'the first' } });
    assert.ok(answer.choices[0]?.message.content);
    const endMs = performance.now() + 2_000;
    while ((await findRequest(admin, 'the first')) === null) assert.ok(performance.now() < endMs);
  });

  check('answers metrics without a word of Redis being up or down', async () => {
    const text = await (await fetch(`${running.url}/metrics`)).text();
    assert.match(text, /^relay_store_up\{store="postgresql"\} 1$/m);
    assert.doesNotMatch(text, /store="redis"|^relay_redis_breaker\{/m);
    assert.match(text, /^relay_ledger_rows_total 1$/m);
    assert.match(text, /^relay_usage_stream_entries 0$/m);
  });

  check('refuses a second process on the same directory, and names the first', async () => {
    const { code, stdout, stderr } = await folder.refused(['--port', '1']);
    assert.equal(code, 1);
    assert.equal(stdout, '');
    assert.match(stderr, new RegExp(`relay-data is in use by process ${running.child.pid}`));
    assert.match(stderr, /relay serve/);
    assertNoStack(stderr);
    assert.equal((await fetch(`${running.url}/readyz`)).status, 200);
  });

  const refusals: [string, string[], Record<string, string>, number, RegExp[]][] = [
    [
      'settings of servers, every one of them in one message',
      [],
      {
        DATABASE_URL: 'postgres://localhost/relay',
        REDIS_URL: 'redis://localhost',
        RELAY_API_TOKEN: 'short',
      },
      1,
      [
        /DATABASE_URL is set/,
        /REDIS_URL is set/,
        /relay serve/,
        /relay migrate --from/,
        /RELAY_API_TOKEN must/,
      ],
    ],
    [
      'roles that belong in processes of their own',
      [],
      { RELAY_MODE: 'hosted', RELAY_INFERENCE_URL: 'http://inference:8080' },
      1,
      [/RELAY_INFERENCE_URL is set/, /relay serve --role/],
    ],
    ['a role', ['--role', 'worker'], {}, 2, [/a single process/, /relay serve/]],
    ['replicas', ['--replicas', '2'], {}, 2, [/a single process/, /relay migrate --from DIR/]],
    ['a port that is none', ['--port', 'http'], {}, 2, [/--port http is not a valid port/]],
  ];
  for (const [what, args, env, expected, patterns] of refusals) {
    check(`refuses ${what}, before it makes anything`, async () => {
      const other = emptyFolder();
      try {
        const { code, stdout, stderr } = await other.refused(args, env);
        assert.equal(code, expected, stderr);
        assert.equal(stdout, '');
        for (const pattern of patterns) assert.match(stderr, pattern);
        assertNoStack(stderr);
        assert.deepEqual(readdirSync(other.path), []);
      } finally {
        other.remove();
      }
    });
  }

  check('refuses a port that is taken, and shows the tokens on the start that succeeds', async () => {
    const port = new URL(running.url).port;
    const { code, stderr } = await unused.refused(['--port', port]);
    assert.equal(code, 1);
    assert.match(stderr, new RegExp(`can't listen on port ${port}: another process is using it`));
    assert.match(stderr, /--port/);
    assertNoStack(stderr);
    const second = await unused.start();
    figures['second_start_seconds'] = Number(second.seconds.toFixed(1));
    assert.match(second.printed, /API token +relay-api-/);
    assert.equal(await second.stop(), 0);
  });

  check('killed, it goes on with everything it has confirmed, and shows no token again', async () => {
    const slow = { ...ask, stream: true as const, sim: { frames: 200, frameDelayMs: 50 } };
    const stream = await client().chat.completions.create(slow, {
      headers: { 'x-request-id': 'the lost one' },
    });
    // Not by a loop that is left: that would hang up.
    await stream[Symbol.asyncIterator]().next();
    await running.kill();
    running = await folder.start();
    figures['start_after_kill_seconds'] = Number(running.seconds.toFixed(1));
    for (const token of Object.values(tokens)) assert.ok(!running.printed.includes(token));
    assert.match(running.printed, /secrets\.json/);
    const admin = adminClient(running.url, tokens.admin);
    const lost = await findRequest(admin, 'the lost one');
    assert.equal(lost?.error_code, 'gateway_lost');
    assert.equal(lost.usage_source, 'estimated');
    assert.ok(await findRequest(admin, 'the first'));
    assert.ok((await client().chat.completions.create(ask)).id);
  });

  check('a limit is as spent after a restart as it was before', async () => {
    const admin = adminClient(running.url, tokens.admin);
    const policy = { scope_type: 'global', scope_id: null, metric: 'requests', enabled: true };
    await admin.create('/api/relay/limit-policies', { ...policy, period: 'day', limit_value: 5 });
    let served = 0;
    const status = () =>
      client()
        .chat.completions.create(ask)
        .then(
          () => 200,
          (error: unknown) => (error as { status: number }).status,
        );
    while (served < 10 && (await status()) === 200) served += 1;
    assert.ok(served > 0 && served < 5, `${served} were served`);
    assert.equal(await running.stop(), 0);
    running = await folder.start();
    assert.equal(await status(), 429);
    const [usage] = (await adminClient(running.url, tokens.admin).call('GET', '/api/relay/limits/usage'))
      .body as { used: number }[];
    assert.equal(usage?.used, 5);
  });

  check('takes values from the environment before those it keeps', async () => {
    const api = 'q8Zk3vTq0cPp1xYw7Jm2Rb5Ld9Ns4Gh6';
    await running.stop();
    running = await folder.start([], { RELAY_API_TOKEN: api, RELAY_DATA_DIR: dataDirectory() });
    const statusOf = async (token: string) =>
      (await fetch(`${running.url}/v1/models`, { headers: { authorization: `Bearer ${token}` } })).status;
    assert.deepEqual([await statusOf(api), await statusOf(tokens.api)], [200, 401]);
    assert.ok(!running.printed.includes(api));
  });

  check('calls nothing on this machine when it listens for others', async () => {
    await running.stop();
    running = await folder.start(['--host', '0.0.0.0']);
    const { status, body } = await adminClient(running.url, tokens.admin).call(
      'POST',
      '/api/relay/providers',
      {
        name: 'Local',
        base_url: 'http://127.0.0.1:11434/v1',
      },
    );
    assert.equal(status, 400);
    assert.match(JSON.stringify(body), /RELAY_ALLOW_PRIVATE_NETWORKS.*listens on loopback only/);
  });

  check('does not make a new master key for what is sealed with another', async () => {
    await running.stop();
    const path = join(dataDirectory(), 'secrets.json');
    const text = readFileSync(path, 'utf8');
    const { RELAY_MASTER_KEY: _key, ...rest } = JSON.parse(text) as Record<string, unknown>;
    writeFileSync(path, JSON.stringify(rest));
    const { code, stderr } = await folder.refused();
    assert.equal(code, 1);
    assert.match(stderr, /secrets\.json has no master key.*backup/s);
    writeFileSync(path, text);
    running = await folder.start();
  });
});

function assertNoStack(text: string): void {
  assert.doesNotMatch(text, /\n\s+at /);
}
