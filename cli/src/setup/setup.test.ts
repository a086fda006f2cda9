import assert from 'node:assert/strict';
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { afterEach, beforeEach, describe, it } from 'node:test';
import type { ProgramError } from '../kit/program-error.ts';
import { processSurroundings, type Surroundings } from '../kit/surroundings.ts';
import { setupCommand } from './setup.ts';

const KEY = 'rly_0123456789_secret';
const CREATED = 'rly_9876543210_created';

let home = '';
let gateway: Server;
let server = '';
let calls: string[] = [];
let lanes = ['fast'];

async function setup(args: string, env: Record<string, string> = {}): Promise<string> {
  const screen = new PassThrough();
  const surroundings: Surroundings = {
    ...processSurroundings(),
    env: { RELAY_SERVER: server, ...env },
    home,
    stdout: screen as unknown as NodeJS.WriteStream,
    stderr: screen as unknown as NodeJS.WriteStream,
  };
  const words = args === '' ? [] : args.split(' ');
  await setupCommand(surroundings).exitOverride().parseAsync(words, { from: 'user' });
  return screen.read()?.toString() ?? '';
}

const settingsPath = () => join(home, '.claude/settings.json');
const settings = () => JSON.parse(readFileSync(settingsPath(), 'utf8'));

describe('relay setup', () => {
  beforeEach(async () => {
    home = mkdtempSync(join(tmpdir(), 'relay-setup-'));
    [calls, lanes] = [[], ['fast']];
    gateway = createServer((request, response) => {
      calls.push(`${request.method} ${request.url} ${request.headers.authorization}`);
      const models = { object: 'list', data: lanes.map((id) => ({ id, owned_by: 'relay' })) };
      const created = { api_key: CREATED, key: { name: 'Claude Code', key_prefix: 'rly_9876543210' } };
      let body = '';
      request.setEncoding('utf8').on('data', (text: string) => (body += text));
      request.once('end', () => {
        const explained = { error_code: body.includes('nope') ? 'model_not_found' : null };
        const bodies: Record<string, object> = {
          '/v1/models': models,
          '/api/relay/routing/explain': explained,
        };
        response.setHeader('content-type', 'application/json');
        response.end(JSON.stringify(bodies[request.url ?? ''] ?? created));
      });
    });
    await new Promise<void>((resolve) => gateway.listen(0, '127.0.0.1', resolve));
    server = `http://127.0.0.1:${(gateway.address() as AddressInfo).port}`;
  });
  afterEach(async () => {
    rmSync(home, { recursive: true });
    gateway.closeAllConnections();
    await new Promise((resolve) => gateway.close(resolve));
  });

  it('lists the clients without one', async () => {
    const names = (JSON.parse(await setup('')) as { name: string }[]).map(({ name }) => name);
    assert.deepEqual(names, [
      'claude-code',
      'codex',
      'cursor',
      'opencode',
      'continue',
      'aider',
      'openai-sdk',
    ]);
  });

  it('prints what to put where for every client, writes nothing, and shows no key', async () => {
    for (const name of ['claude-code', 'codex', 'cursor', 'opencode', 'continue', 'aider', 'openai-sdk']) {
      const text = await setup(`${name} --model fast`, { RELAY_API_KEY: KEY });
      assert.match(text, /fast/);
      assert.match(text, /rly_…/);
      assert.ok(text.includes(server) && !text.includes(KEY), text);
    }
    assert.ok(
      calls.every((call) => call.startsWith('GET /v1/models ')),
      calls.join(),
    );
    assert.ok(!existsSync(settingsPath()));
    assert.ok((await setup(`openai-sdk --model fast --show-key --key ${KEY}`)).includes(KEY));
  });

  it('refuses a model that nothing has, names those that can be called, and writes nothing', async () => {
    const asked = setup('claude-code --model nope --write', { RELAY_TOKEN: 'rly_admin' });
    await assert.rejects(asked, ({ message, detail }: ProgramError) => {
      assert.equal(message, 'No lane or model is named "nope".');
      return detail.fix === 'Add --model with one of: fast.';
    });
    assert.ok(!existsSync(settingsPath()));
  });

  it('takes a hidden lane, and says so when it cannot check', async () => {
    assert.match(await setup('openai-sdk --model hidden', { RELAY_TOKEN: 'rly_admin' }), /hidden/);
    const unchecked = await setup('openai-sdk --model fast --server http://127.0.0.1:1', {
      RELAY_API_KEY: KEY,
    });
    assert.match(unchecked, /Can't check that "fast" can be called/);
  });

  it('merges into a file, keeps a backup, and shows the change without any secret', async () => {
    mkdirSync(join(home, '.claude'));
    const before = '{"env":{"ANTHROPIC_AUTH_TOKEN":"sk-old","OTHER_API_KEY":"sk-other"},"theme":"dark"}';
    writeFileSync(settingsPath(), before);
    const text = await setup(`claude-code --model fast --write --key ${KEY}`);
    assert.doesNotMatch(text, /sk-|secret/);
    assert.match(text, /\+ .*"ANTHROPIC_AUTH_TOKEN": "\(your key\)"/);
    assert.equal(settings().theme, 'dark');
    assert.equal(settings().env.OTHER_API_KEY, 'sk-other');
    assert.equal(settings().env.ANTHROPIC_AUTH_TOKEN, KEY);
    assert.equal(readFileSync(`${settingsPath()}.relay-backup`, 'utf8'), before);
    await setup('claude-code --undo');
    assert.equal(readFileSync(settingsPath(), 'utf8'), before);
  });

  it('leaves a file alone that it cannot merge into, and creates no key for it', async () => {
    mkdirSync(join(home, '.claude'));
    writeFileSync(settingsPath(), '{"env": []}');
    const writing = setup('claude-code --model fast --write', { RELAY_TOKEN: 'rly_admin' });
    await assert.rejects(writing, /"env" in settings.json is not an object/);
    assert.equal(readFileSync(settingsPath(), 'utf8'), '{"env": []}');
    assert.deepEqual(calls, ['GET /v1/models Bearer rly_admin']);
  });

  it('creates a key where the file needs one, once', async () => {
    const text = await setup('claude-code --write', { RELAY_TOKEN: 'rly_admin' });
    assert.ok(!text.includes(CREATED), text);
    assert.equal(settings().env.ANTHROPIC_AUTH_TOKEN, CREATED);
    assert.equal(settings().env.ANTHROPIC_MODEL, 'fast');
    assert.match(await setup('claude-code --write', { RELAY_TOKEN: 'rly_admin' }), /already/);
    assert.equal(calls.filter((call) => call.startsWith('POST /api/account/api-keys')).length, 1);
    await assert.rejects(setup('codex --model fast --show-key'), /No API key/);
  });

  it('writes through a link', async () => {
    mkdirSync(join(home, '.codex'));
    writeFileSync(join(home, 'dotfile.toml'), 'theme = "dark"\n');
    symlinkSync(join(home, 'dotfile.toml'), join(home, '.codex/config.toml'));
    await setup('codex --model fast --write');
    assert.ok(lstatSync(join(home, '.codex/config.toml')).isSymbolicLink());
    assert.match(readFileSync(join(home, 'dotfile.toml'), 'utf8'), /theme = "dark"[\s\S]*model_providers/);
  });

  it('lists the lanes with the given key, and wants a choice among several', async () => {
    lanes = ['fast', 'slow'];
    await assert.rejects(setup(`aider --key ${KEY}`), {
      detail: { fix: 'Add --model with one of: fast, slow.' },
    });
    assert.deepEqual(calls, [`GET /v1/models Bearer ${KEY}`]);
  });

  it('rejects --write for clients without a settings file', async () => {
    await assert.rejects(setup('cursor --model fast --write'), /no settings file/);
  });
});
