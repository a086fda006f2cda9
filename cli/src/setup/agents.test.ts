import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parse } from 'yaml';
import { aider } from './aider.ts';
import { codex } from './codex.ts';
import { continueDev } from './continue.ts';
import { opencode } from './opencode.ts';

const wish = { baseUrl: 'http://127.0.0.1:8080/v1', lane: 'fast', keyVariable: 'RELAY_API_KEY' };

describe('the settings of coding agents', () => {
  for (const agent of [codex, opencode, aider, continueDev]) {
    it(`${agent.name}: setup is idempotent, with and without a file`, async () => {
      const once = await agent.edit(null, wish);
      assert.equal(await agent.edit(once, wish), once);
      const other = await agent.edit(once, { ...wish, baseUrl: 'https://other.example/v1' });
      assert.equal(await agent.edit(other, wish), once);
    });
  }

  it('codex: root keys are before existing tables', async () => {
    const text = await codex.edit('[tui]\ntheme = "dark"\n', wish);
    assert.ok(text.indexOf('model = "fast"') < text.indexOf('[tui]'));
    assert.match(text, /\[model_providers\.relay\]\n(.*\n)*wire_api = "responses"/);
  });

  it('opencode: other settings stay, and comments are rejected rather than lost', async () => {
    const text = await opencode.edit('{"theme":"dark","provider":{"x":{"name":"X"}}}', wish);
    const settings = JSON.parse(text) as { theme: string; provider: Record<string, unknown>; model: string };
    assert.deepEqual(Object.keys(settings.provider), ['x', 'relay']);
    assert.equal(settings.theme, 'dark');
    assert.equal(settings.model, 'relay/fast');
    assert.throws(() => opencode.edit('{ // mine\n}', wish), /comments/);
  });

  it('aider: changes the existing value and keeps comments', async () => {
    const text = await aider.edit('# mine\nmodel: gpt-5\ndark-mode: true\n', wish);
    assert.equal(
      text,
      '# mine\nmodel: "openai/fast"\ndark-mode: true\nopenai-api-base: "http://127.0.0.1:8080/v1"\n',
    );
  });

  it('continue: adds the model and keeps comments', async () => {
    const before =
      'name: Mine\nversion: 1.0.0\nschema: v1\nmodels:\n  # local\n  - name: Local\n    provider: ollama\n    model: x\n';
    const text = await continueDev.edit(before, wish);
    assert.ok(text.startsWith(before));
    const { models } = parse(text) as { models: { name: string; apiKey?: string }[] };
    assert.deepEqual(
      models.map(({ name }) => name),
      ['Local', 'Relay fast'],
    );
    assert.match(models[1]?.apiKey ?? '', /^\$\{\{ secrets\.RELAY_API_KEY \}\}$/);
  });
});
