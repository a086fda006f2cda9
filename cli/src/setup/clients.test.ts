import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parse } from 'yaml';
import { aider } from './aider.ts';
import { claudeCode } from './claude-code.ts';
import type { Client } from './client.ts';
import { codex } from './codex.ts';
import { continueDev } from './continue.ts';
import { opencode } from './opencode.ts';

const wish = {
  server: 'http://127.0.0.1:8080',
  baseUrl: 'http://127.0.0.1:8080/v1',
  model: 'fast',
  keyVariable: 'RELAY_API_KEY',
  key: 'rly_secret',
};

async function edit(client: Client, before: string | null, more: Partial<typeof wish> = {}): Promise<string> {
  return (await client.file?.edit(before, { ...wish, ...more })) ?? '';
}

describe('the settings of clients', () => {
  for (const client of [claudeCode, codex, opencode, aider, continueDev]) {
    it(`${client.name}: setup is idempotent, with and without a file`, async () => {
      const once = await edit(client, null);
      assert.equal(await edit(client, once), once);
      const elsewhere = { server: 'https://other.example', baseUrl: 'https://other.example/v1' };
      assert.equal(await edit(client, await edit(client, once, elsewhere)), once);
    });

    it(`${client.name}: a file that cannot be parsed is rejected`, async () => {
      await assert.rejects(edit(client, '{ "a": [1, \n'), /is not valid|not plain JSON/);
    });
  }

  it('claude-code: sets its variables and keeps everything else', async () => {
    const before =
      '{\n\t"permissions": {"allow": ["Read"]},\n\t"env": {"DEBUG": "1", "ANTHROPIC_MODEL": "old"}\n}\n';
    const text = await edit(claudeCode, before);
    assert.deepEqual(JSON.parse(text), {
      permissions: { allow: ['Read'] },
      env: {
        DEBUG: '1',
        ANTHROPIC_MODEL: 'fast',
        ANTHROPIC_BASE_URL: 'http://127.0.0.1:8080',
        ANTHROPIC_AUTH_TOKEN: 'rly_secret',
        ANTHROPIC_DEFAULT_OPUS_MODEL: 'fast',
        ANTHROPIC_DEFAULT_SONNET_MODEL: 'fast',
        ANTHROPIC_DEFAULT_HAIKU_MODEL: 'fast',
      },
    });
    assert.match(text, /^\t"env"/m);
    await assert.rejects(edit(claudeCode, '{"env": []}'), /"env" in settings.json is not an object/);
  });

  it('claude-code: the key in the file counts for its own server only', () => {
    const keyIn = claudeCode.file?.keyIn;
    const before = '{"env":{"ANTHROPIC_BASE_URL":"http://a","ANTHROPIC_AUTH_TOKEN":"mine"}}';
    assert.equal(keyIn?.(before, 'http://a'), 'mine');
    assert.equal(keyIn?.(before, 'http://b'), null);
    assert.equal(keyIn?.(null, 'http://a'), null);
  });

  it('codex: has the provider, without web search and without the key', async () => {
    assert.equal(
      await edit(codex, null),
      `model = "fast"
model_provider = "relay"
web_search = "disabled"

[model_providers.relay]
name = "Relay"
base_url = "http://127.0.0.1:8080/v1"
env_key = "RELAY_API_KEY"
wire_api = "responses"
`,
    );
  });

  it('codex: root keys are before existing tables, and all else stays', async () => {
    const before = '[tui]\ntheme = "dark"\n\n[model_providers.relay]\nrequest_max_retries = 9\n';
    const text = await edit(codex, before);
    assert.ok(text.indexOf('model = "fast"') < text.indexOf('[tui]'));
    assert.match(text, /\[model_providers\.relay\]\nrequest_max_retries = 9\n(.*\n)*wire_api = "responses"/);
  });

  it('codex: a form that cannot be changed line by line is rejected', async () => {
    const forms = ['model_providers = { relay = { name = "x" } }\n', 'model = """\nfast\n"""\n'];
    for (const form of forms) await assert.rejects(edit(codex, form), /can.t change safely/);
  });

  it('opencode: other settings stay, and comments are rejected rather than lost', async () => {
    const before =
      '{"theme":"dark","provider":{"x":{"name":"X"},"relay":{"options":{"timeout":9},"models":{"slow":{}}}}}';
    const { theme, model, provider } = JSON.parse(await edit(opencode, before));
    assert.equal(theme, 'dark');
    assert.equal(model, 'relay/fast');
    assert.deepEqual(Object.keys(provider), ['x', 'relay']);
    assert.deepEqual(provider.relay.options, {
      timeout: 9,
      baseURL: 'http://127.0.0.1:8080/v1',
      apiKey: '{env:RELAY_API_KEY}',
    });
    assert.deepEqual(Object.keys(provider.relay.models), ['fast', 'slow']);
    await assert.rejects(edit(opencode, '{ // mine\n}'), /comments/);
  });

  it('aider: changes the existing value and keeps comments', async () => {
    const text = await edit(aider, '# mine\nmodel: gpt-5\ndark-mode: true\n');
    assert.equal(
      text,
      '# mine\nmodel: "openai/fast"\ndark-mode: true\nopenai-api-base: "http://127.0.0.1:8080/v1"\n',
    );
    assert.match(await edit(aider, '# nothing yet\n'), /^# nothing yet\nmodel: /);
    await assert.rejects(edit(aider, 'model: >\n  gpt\n  5\n'), /can't change|is not valid/);
  });

  it('continue: adds the model and keeps comments', async () => {
    const before =
      'name: Mine\nversion: 1.0.0\nschema: v1\nmodels:\n  # local\n  - name: Local\n    provider: ollama\n    model: x\n';
    const text = await edit(continueDev, before);
    assert.ok(text.startsWith(before));
    const { models } = parse(text) as { models: { name: string; apiKey?: string }[] };
    assert.deepEqual(
      models.map(({ name }) => name),
      ['Local', 'Relay fast'],
    );
    assert.match(models[1]?.apiKey ?? '', /^\$\{\{ secrets\.RELAY_API_KEY \}\}$/);
  });
});
