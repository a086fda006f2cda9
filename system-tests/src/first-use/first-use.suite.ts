import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { type ProviderSim, startProviderSim } from '@relay/provider-sim';
import { freePort } from '@relay/testbed';
import { IS_LONG } from '@relay/testbed/long-form';
import { type AdminClient, adminClient } from '../harness/admin-client.ts';
import { reportFigures } from '../harness/figures.ts';
import { createEmptyFolder, type EmptyFolder } from './empty-folder.ts';
import {
  createKey,
  itKnowsKeys,
  itServesFirstLane,
  type Key,
  type Newcomer,
  worksWithAccounts,
} from './keys.ts';
import { type Packed, pack } from './pack.ts';
import { blocksOf, commandsOf, faultsOf, type Page, readPage, readPages, readReadme } from './read-pages.ts';
import { createReader, type Reader } from './run-page.ts';
import { describeServers } from './servers.ts';
import { type Started, start } from './started.ts';

// What a newcomer does: docs/start/one-minute.md from its first line to its last, with the package as it would be published,
// and in between the pages of docs/clients. The commands are read from the pages and run in order; only the archive's path, the
// port and the tokens are put in. Then the same first steps with `relay serve`.

// Beside other suites everything takes longer; the long form has the machine to itself.
const SECONDS_MAX = IS_LONG ? 10 : 30;
const SILENT_SECONDS_MAX = IS_LONG ? 1 : 5;
const INSTALL_MB_MAX = 90;
const COMMANDS_MAX = 3;

const minute = readPage('docs/start/one-minute.md');
const pages = readPages();
const commands = commandsOf(minute);
const [install = '', begin = '', exportToken = '', first = '', traffic = '', keyCommand = ''] = commands;
const own = commands.slice(6, 9);
const [uninstall = '', remove = ''] = commands.slice(9);
const figures: Record<string, unknown> = { pages: pages.length };
const blocks = { run: 0, failed: 0, not_run: 0 };
const counted = ['providers', 'endpoints', 'routing-lanes', 'limit-policies', 'guardrails'] as const;
let artefacts: string;
let packed: Packed;
let folder: EmptyFolder;
let running: Started;
let url: string;
let env: Record<string, string>;
let tokens: { readonly api: string; readonly admin: string };
let admin: AdminClient;
let newcomer: Newcomer;
let app: Key;
let reader: Reader;
let provider: ProviderSim;
let found: readonly number[];

before(async () => {
  artefacts = mkdtempSync(join(tmpdir(), 'relay-artefacts-'));
  folder = createEmptyFolder();
  const port = await freePort();
  url = `http://127.0.0.1:${port}`;
  // The page has the usual port; here it may be taken.
  env = { RELAY_HTTP_ADDR: `127.0.0.1:${port}` };
});
after(async () => {
  await running?.interrupt();
  await provider?.close();
  folder.remove();
  rmSync(artefacts, { recursive: true, force: true });
  reportFigures({ ...figures, ...blocks });
});

function count(): Promise<number[]> {
  const read = (path: string) => admin.call('GET', `/api/relay/${path}`);
  return Promise.all(counted.map((path) => read(path).then(({ body }) => (body as unknown[]).length)));
}

async function runPage(page: Page): Promise<number> {
  try {
    const run = await reader.run(page);
    blocks.run += run;
    return run;
  } catch (error) {
    blocks.failed += 1;
    throw error;
  }
}

describe('the page', () => {
  it('has the commands that this suite runs, and no others', () => {
    assert.equal(commands.length, 11);
    assert.match(begin, /^npx relay-gateway start --demo$/);
    assert.match(exportToken, /^export RELAY_API_TOKEN=/);
  });

  it('of a client has a true mark at every block', () => {
    assert.ok(pages.length >= 9);
    assert.deepEqual(pages.flatMap(faultsOf), []);
  });

  it('with a block without a mark, or with one that is silently not run, is found', () => {
    const faults = (text: string) => faultsOf({ name: 'x.md', blocks: blocksOf(text) }).length;
    assert.equal(faults('Run:\n\n```sh\ntrue\n```\n'), 1);
    assert.equal(faults('Run:\n\n```sh not-run\ntrue\n```\n'), 1);
    assert.equal(faults('Not run:\n\n```sh not-run\ntrue\n```\n'), 0);
  });
});

describe('the package', () => {
  it('is packed', async () => {
    packed = await pack(artefacts);
    figures['package_bytes'] = packed.bytes;
  });

  it('installs into an empty folder', async () => {
    const { code, stderr, seconds } = await folder.run(install.replace('relay-gateway', packed.archive));
    assert.equal(code, 0, stderr);
    const { stdout } = await folder.run('du -sm --exclude=openai node_modules | cut -f 1');
    figures['install_seconds'] = Number(seconds.toFixed(1));
    figures['install_mb'] = Number(stdout);
    assert.ok(Number(stdout) < INSTALL_MB_MAX, `${stdout} MB`);
  });

  it('runs nothing when it is installed, and depends on exact versions alone', () => {
    const file = join(folder.path, 'node_modules/relay-gateway/package.json');
    const manifest = JSON.parse(readFileSync(file, 'utf8')) as Record<string, Record<string, string>>;
    assert.equal(manifest['scripts'], undefined);
    for (const version of Object.values(manifest['dependencies'] ?? {}))
      assert.match(version, /^\d+\.\d+\.\d+$/);
  });

  it('says what it can do', async () => {
    const { code, stdout } = await folder.run('npx relay --help');
    assert.equal(code, 0);
    for (const command of ['start', 'serve', 'migrate', 'demo'])
      assert.match(stdout, new RegExp(`^ {2}${command} `, 'm'));
  });
});

describe('the first minute', () => {
  it('prints what the page shows, with tokens of its own', async () => {
    running = await start(folder, begin, env);
    const find = (kind: string) => new RegExp(`relay-${kind}-[\\w-]{32}`).exec(running.printed)?.[0] ?? '';
    tokens = { api: find('api'), admin: find('admin') };
    admin = adminClient(url, tokens.admin);
    const shown = running.printed
      .replaceAll(tokens.api, 'relay-api-…')
      .replaceAll(tokens.admin, 'relay-admin-…')
      .replaceAll(url, 'http://127.0.0.1:8080')
      .replace(/#sign_in=[\w-]{43}$/m, '#sign_in=…')
      .replaceAll(folder.path, '/path/to/folder');
    figures['silent_seconds'] = Number((running.silentMs / 1_000).toFixed(1));
    assert.equal(shown.trim(), minute.blocks.find(({ language }) => language === 'text')?.text.trim());
    running.watch.within(1_000 * SILENT_SECONDS_MAX, running.silentMs, 'silence');
  });

  it(`gives the openai client its first completion within ${SECONDS_MAX} s`, async () => {
    for (const { mark: file, text } of minute.blocks.filter(({ language }) => language === 'js'))
      writeFileSync(join(folder.path, file), text.replaceAll('http://127.0.0.1:8080', url));
    const withToken = `${exportToken.replace(/=.*$/, `=${tokens.api}`)}; ${first}`;
    const { code, stdout, stderr } = await folder.run(withToken);
    const seconds = (performance.now() - running.startedMs) / 1_000;
    assert.equal(code, 0, stderr);
    assert.match(stdout, /\w/);
    const { body } = await untilLogged(1);
    figures['status'] = body.data[0]?.['http_status'];
    figures['seconds'] = Number(seconds.toFixed(1));
    assert.equal(figures['status'], 200);
    running.watch.within(1_000 * SECONDS_MAX, 1_000 * seconds, 'the first completion');
  });

  it('gives an answer to the very line it prints', async () => {
    const line = /^ {4}(curl .*\n.*)$/m.exec(running.printed)?.[1] ?? '';
    const { stdout } = await folder.run(line);
    assert.ok((JSON.parse(stdout) as { choices: unknown[] }).choices.length > 0, stdout);
  });

  it('signs in by its link, once', async () => {
    const code = /#sign_in=([\w-]+)/.exec(running.printed)?.[1] ?? '';
    const signIn = () =>
      fetch(`${url}/api/session`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', origin: url },
        body: JSON.stringify({ token: code }),
      });
    assert.equal((await signIn()).status, 201);
    assert.equal((await signIn()).status, 401);
  });

  it('keeps the secrets from others', () => {
    const mode = (name: string) => statSync(join(folder.path, 'relay-data', name)).mode & 0o777;
    assert.equal(mode('.'), 0o700);
    assert.equal(mode('secrets.json'), 0o600);
  });

  it('has what the page says that the demo creates', async () => {
    assert.deepEqual(await count(), [2, 2, 2, 4, 1]);
  });

  it('serves the console', async () => {
    const page = await fetch(`${url}/console/`);
    assert.equal(page.status, 200);
    assert.match(page.headers.get('content-type') ?? '', /text\/html/);
    const script = /src="(\/console\/[^"]+\.js)"/.exec(await page.text())?.[1] ?? '';
    assert.equal((await fetch(url + script)).status, 200);
  });

  it('shows fallbacks, blocked texts and clients that left once there is traffic', async () => {
    const { code, stdout, stderr } = await folder.run(traffic);
    assert.equal(code, 0, stderr);
    const counts = JSON.parse(stdout) as Record<string, number>;
    assert.equal(counts['failed'], 0, stdout);
    const { body } = await untilLogged(32);
    const states = new Set(body.data.map((each) => `${String(each['state'])} ${String(each['error_code'])}`));
    assert.ok(states.has('failed content_policy_violation'), [...states].join());
    assert.ok(states.has('cancelled client_disconnected'), [...states].join());
    assert.ok(body.data.some((each) => Number(each['fallback_count']) > 0));
    figures['traffic'] = counts;
  });
});

describe('a key for an application', () => {
  it('takes the place of the API token, and the log names it', async () => {
    const { code, stdout, stderr } = await folder.run(keyCommand);
    assert.equal(code, 0, stderr);
    const { api_key, key } = JSON.parse(stdout) as { api_key: string; key: { id: string; scopes: string[] } };
    assert.deepEqual(key.scopes, ['relay:request']);
    const answer = await folder.run(`${exportToken.replace(/=.*$/, `=${api_key}`)}; ${first}`);
    assert.equal(answer.code, 0, answer.stderr);
    const { body } = await untilLogged(33);
    assert.ok(body.data.some((each) => each['api_key_id'] === key.id));
  });
});

describe('a provider of one’s own', () => {
  it(`responds after at most ${COMMANDS_MAX} commands`, async () => {
    const theirs = await startProviderSim({ keys: ['sk-own'], models: ['gpt-5.1', 'gpt-5.1-mini'] });
    try {
      const lines = own.map((line) =>
        line.replace('sk-…', 'sk-own').replace('add openai', `add openai --base-url ${theirs.baseUrl}`),
      );
      const { code, stdout, stderr } = await folder.run(lines.join(' && '));
      assert.equal(code, 0, stderr);
      assert.match(stdout, /^Added OpenAI to lane default:\n {2}gpt-5\.1 \(.*\n {2}gpt-5\.1-mini \(/m);
      const chat = await theirs.waitFor(({ path }) => path === '/v1/chat/completions');
      assert.equal(chat.model, 'gpt-5.1');
      figures['commands'] = own.length;
      assert.ok(own.length <= COMMANDS_MAX);
    } finally {
      await theirs.close();
    }
  });
});

describe('a reader of the pages of clients', () => {
  before(() => {
    reader = createReader(folder, url, tokens.api);
  });
  after(() => reader.remove());

  for (const page of pages.filter(({ blocks: { length } }) => length > 0))
    it(`${page.name} works as it is written`, async () => {
      blocks.not_run += page.blocks.filter(({ mark }) => mark === 'not-run').length;
      await runPage(page);
    });

  it('the README’s first request works', async () => {
    assert.equal(await runPage(readReadme()), 1);
  });

  it('reached the gateway: requests of every operation completed', async () => {
    const { body } = await admin.call('GET', '/api/relay/requests?state=completed&limit=100');
    const operations = new Set(
      (body as { data: { operation: string }[] }).data.map((each) => each.operation),
    );
    assert.deepEqual([...operations].sort(), ['chat', 'embeddings', 'messages', 'responses']);
  });
});

describe('a lane and keys', () => {
  before(async () => {
    provider = await startProviderSim();
    newcomer = {
      ...{ url, inferenceUrl: url, apiToken: tokens.api, adminToken: tokens.admin, admin, provider },
      async createByCommand() {
        const { stdout } = await folder.run(keyCommand);
        return JSON.parse(stdout) as Awaited<ReturnType<Newcomer['createByCommand']>>;
      },
    };
    app = await createKey(admin, { name: 'App', scopes: ['relay:request'] });
  });

  itServesFirstLane(() => newcomer);
  itKnowsKeys(
    () => newcomer,
    () => app,
  );
});

describe('the next start', () => {
  it('goes on with the same data and tokens, and shows none', async () => {
    found = await count();
    const before = await untilLogged(32);
    await running.interrupt();
    running = await start(folder, begin, env);
    assert.doesNotMatch(running.printed, /relay-(api|admin)-|sign_in=/);
    assert.match(running.printed, /\/console\/ \(sign in with the admin token\)$/m);
    assert.match(running.printed, /relay-data\/secrets\.json/);
    const now = await untilLogged(32);
    assert.deepEqual(now.body.data.at(-1), before.body.data.at(-1));
    const { code, stderr } = await folder.run(first, { RELAY_API_TOKEN: tokens.api });
    assert.equal(code, 0, stderr);
  });

  it('creates nothing a second time', async () => {
    assert.deepEqual(await count(), found);
  });

  it('leaves alone what people changed', async () => {
    const { body } = await admin.call('GET', '/api/relay/limit-policies');
    const [policy] = body as { id: string }[];
    assert.equal((await admin.call('DELETE', `/api/relay/limit-policies/${policy?.id}`)).status, 204);
    await running.interrupt();
    const accounts = { RELAY_ACCOUNTS: 'true', RELAY_AUTH_SECRET: randomBytes(32).toString('base64url') };
    running = await start(folder, begin, { ...env, ...accounts });
    const [, , , policies = 0] = found;
    assert.equal((await count())[3], policies - 1);
  });

  it('can have accounts: a key from before them works, and so does one that is created then', async () => {
    await worksWithAccounts(url, tokens.admin, app);
  });
});

describe('the end', () => {
  it('leaves nothing behind, in the folder or outside', async () => {
    await running.interrupt();
    for (const command of [uninstall, remove]) {
      const { code, stderr } = await folder.run(command);
      assert.equal(code, 0, stderr);
    }
    const { folder: inFolder, home, temporary } = folder.left();
    assert.deepEqual(
      inFolder.filter((name) => name !== 'node_modules'),
      ['first.mjs', 'package-lock.json', 'package.json'],
    );
    assert.equal(existsSync(join(folder.path, 'node_modules/relay-gateway')), false);
    assert.deepEqual(home, []);
    // What npm itself compiles it keeps there, whatever is installed.
    assert.deepEqual(
      temporary.filter((name) => name !== 'node-compile-cache'),
      [],
    );
  });
});

describe('relay serve', describeServers);

/** The request log once it holds that many; what is settled is written in batches. */
async function untilLogged(wanted: number): Promise<{ body: { data: Record<string, unknown>[] } }> {
  const deadlineMs = performance.now() + 10_000;
  for (;;) {
    const answer = await admin.call('GET', '/api/relay/requests?limit=100');
    const body = answer.body as { data: Record<string, unknown>[] };
    if (body.data.length >= wanted) return { body };
    assert.ok(performance.now() < deadlineMs, `${body.data.length} of ${wanted} requests are logged`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}
