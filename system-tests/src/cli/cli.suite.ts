import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { after, before, describe, it } from 'node:test';
import { IS_LONG } from '@relay/testbed/long-form';
import { type Accounts, openAccounts } from '../harness/accounts.ts';
import { createLane } from '../harness/admin-client.ts';
import { reportFigures } from '../harness/figures.ts';
import { RELAY_ENTRY } from '../harness/relay-entry.ts';
import { lookChapters } from './chapters-look.ts';
import { setUpChapters } from './chapters-set-up.ts';
import { type ErrorCase, type ErrorWorld, tryError } from './error-case.ts';
import { serverCases } from './error-cases-server.ts';
import { usageCases } from './error-cases-usage.ts';
import { type OddName, type OddServers, startOddServers } from './odd-servers.ts';
import { runChapters } from './run-chapters.ts';
import { runOnTerminal, runPiped } from './run-cli.ts';
import { runHereOnTerminal, runHerePiped } from './run-here.ts';
import { authSecret, type Site, startSite } from './site.ts';

// Every CLI command on a terminal and with pipes, and its errors.

const REFERENCE = join(import.meta.dirname, '../../../docs/reference/cli.md');
const AT_ONCE = 3;
const figures = { commands: 0, errors_tried: 0, stack_traces: 0 };

let piped: Site;
let terminal: Site;
let odd: OddServers;
let accounts: Accounts;

before(async () => {
  [piped, terminal, odd] = await Promise.all([startSite(), startSite(), startOddServers()]);
  accounts = openAccounts({ databaseUrl: piped.deployment.postgres.url, authSecret });
});
after(async () => {
  await accounts?.close();
  await Promise.all([piped?.stop(), terminal?.stop(), odd?.stop()]);
  reportFigures(figures);
});

describe('every command', { concurrency: 2 }, () => {
  // Most commands print by the same few rules on a terminal; the short form has those that set things up.
  const chaptersOf = (mode: 'piped' | 'terminal') =>
    mode === 'piped' || IS_LONG ? [...setUpChapters, ...lookChapters] : setUpChapters;
  const ran: Promise<readonly (readonly string[])[]>[] = [];
  for (const mode of ['piped', 'terminal'] as const) {
    it(`prints what it should, ${mode}`, async () => {
      const { promise, resolve } = Promise.withResolvers<readonly (readonly string[])[]>();
      if (mode === 'piped') ran.push(promise);
      const site = mode === 'piped' ? piped : terminal;
      const { commands, complaints } = await runChapters(chaptersOf(mode), site, mode);
      resolve(commands);
      figures.commands += commands.length;
      assert.deepEqual(complaints, [], complaints.join('\n\n'));
    });
  }

  it('is among them, as the reference lists them', async () => {
    const reference = readFileSync(REFERENCE, 'utf8');
    const listed = [...reference.matchAll(/^```\nrelay ([a-z -]+?)(?: [[<].*)?$/gm)].map(
      ([, path]) => path ?? '',
    );
    assert.ok(listed.length > 60, 'the reference lists commands');
    await new Promise((resolve) => setImmediate(resolve));
    for (const commands of await Promise.all(ran)) {
      const tried = commands.map((words) => words.join(' '));
      const missing = listed.filter(
        (path) => !tried.some((line) => line === path || line.startsWith(`${path} `)),
      );
      assert.deepEqual(missing, []);
    }
  });
});

describe('a user’s errors', () => {
  it('are told with what, why and what to do, with the right exit status, and never with a stack', async () => {
    const world = await errorWorld();
    const left: ErrorCase[] = [...usageCases, ...serverCases(world)];
    figures.errors_tried = left.length;
    const complaints: string[] = [];
    async function work(): Promise<void> {
      for (let next = left.shift(); next !== undefined; next = left.shift()) {
        const result = await tryError(next, world);
        complaints.push(...result.complaints);
        if (result.isStack) figures.stack_traces += 1;
      }
    }
    await Promise.all(Array.from({ length: AT_ONCE }, work));
    assert.deepEqual(complaints, [], complaints.join('\n\n'));
    assert.ok(figures.errors_tried >= 60);
  });
});

describe('a process of its own', () => {
  const cases: readonly (readonly [args: string, code: number, server?: OddName])[] = [
    ['--version', 0],
    ['--help', 0],
    ['lanes list -o json', 0],
    ['lanes list', 1, 'broken'],
    ['lanes lst', 2],
    ['lanes get nothing', 4],
    ['config diff relay.yaml', 5],
    ['lanes list', 6, 'limited'],
  ];

  it('prints the same as the commands above in one process, and exits with the same status', async () => {
    for (const [line, code, server] of cases) {
      const env = { ...piped.env, ...(server === undefined ? {} : { RELAY_SERVER: odd.urls[server] }) };
      const options = { env, cwd: piped.home };
      const real = await runPiped(line.split(' '), options);
      assert.equal(real.code, code, `relay ${line}: ${real.raw}`);
      assert.deepEqual(real, await runHerePiped(line.split(' '), options), `relay ${line}`);
    }
  });

  it('shows the same on a terminal', async () => {
    const options = { env: terminal.env, cwd: terminal.home };
    for (const args of [['--help'], ['lanes', 'list'], ['lanes', 'lst']]) {
      const [real, here] = [await runOnTerminal(args, options), await runHereOnTerminal(args, options)];
      assert.deepEqual([real.stdout, real.code], [here.stdout, here.code], `relay ${args.join(' ')}`);
    }
  });

  it('ends without an error when the reader of its output is gone', async () => {
    const child = spawn(process.execPath, [RELAY_ENTRY, 'config', 'schema'], {
      env: { ...piped.env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    child.stdout.destroy();
    const stderr = text(child.stderr);
    const [code] = (await once(child, 'exit')) as [number | null];
    assert.deepEqual([code, await stderr], [0, '']);
  });
});

describe('the terminal', () => {
  const env = () => ({ ...terminal.env, RELAY_SERVER: odd.urls.slow });

  it('shows that something is awaited after 300 ms, and takes it away again', async () => {
    const ran = await runOnTerminal(['lanes', 'list'], { env: env(), cwd: terminal.home });
    assert.match(ran.raw, /⠋ waiting for 127\.0\.0\.1/);
    assert.doesNotMatch(ran.stdout, /waiting/);
    const quiet = await runPiped(['lanes', 'list'], { env: env(), cwd: terminal.home });
    assert.equal(quiet.raw, '[]\n');
  });

  it('has colours, unless NO_COLOR is set', async () => {
    const coloured = await runOnTerminal(['whoami'], { env: terminal.bareEnv, cwd: terminal.home });
    const plain = await runOnTerminal(['whoami'], {
      env: { ...terminal.bareEnv, NO_COLOR: '1' },
      cwd: terminal.home,
    });
    assert.ok(coloured.raw.includes('\u001b[31m'));
    assert.ok(!plain.raw.includes('\u001b['));
    assert.equal(plain.stdout, coloured.stdout);
  });
});

describe('login contexts', () => {
  it('are kept for their owner alone, and their tokens reach no other server', async () => {
    const { deployment, bareEnv: env, home: cwd } = piped;
    const stdin = `${deployment.adminToken}\n${deployment.apiToken}\n`;
    const login = await runPiped(['login', '--server', deployment.url, '--token-stdin'], { env, cwd, stdin });
    assert.equal(login.code, 0, login.stderr);
    const path = join(cwd, '.config/relay/contexts.json');
    assert.ok(existsSync(path));
    assert.equal(statSync(path).mode & 0o777, 0o600);
    assert.equal(statSync(join(path, '..')).mode & 0o777, 0o700);
    assert.ok(!login.raw.includes(deployment.adminToken));

    const asked = odd.authorizations.length;
    const elsewhere = await runPiped(['lanes', 'list', '--server', odd.urls.html], { env, cwd });
    assert.equal(elsewhere.code, 3);
    const moved = await runPiped(['lanes', 'list'], { env: { ...env, RELAY_SERVER: odd.urls.html }, cwd });
    assert.equal(moved.code, 3);
    assert.equal(odd.authorizations.length, asked);
  });
});

async function errorWorld(): Promise<ErrorWorld> {
  const { deployment } = piped;
  await createLane(deployment.admin, {
    name: 'Fast',
    endpoints: [{ baseUrl: deployment.provider.baseUrl, upstreamModel: 'gpt-4o-mini' }],
  });
  // A second one of the same name, and a provider that things can be asked of.
  await deployment.admin.create('/api/relay/routing-lanes', { name: 'Fast', takes_over: true });
  await deployment.admin.create('/api/relay/providers', {
    name: 'Sim One',
    base_url: deployment.provider.baseUrl,
  });
  const organizationId = await accounts.addOrganization({ plan: 'self_hosted' });
  const userId = await accounts.addMember(organizationId, { role: 'owner' });
  const own = { organizationId, userId };
  return {
    site: piped,
    odd,
    keys: {
      revoked: await accounts.addKey({ ...own, scopes: ['relay:request'], state: 'revoked' }),
      expired: await accounts.addKey({ ...own, scopes: ['relay:request'], state: 'expired' }),
      inferenceOnly: await accounts.addKey({ ...own, scopes: ['relay:request'] }),
    },
  };
}
