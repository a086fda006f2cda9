import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { findSources, ollamaUrl } from './find-sources.ts';

const presets = [
  ['openai', 'OpenAI', 'https://api.openai.com/v1'],
  ['anthropic', 'Anthropic', 'https://api.anthropic.com/v1'],
  ['groq', 'Groq', 'https://api.groq.com/openai/v1'],
  ['vllm', 'vLLM', 'http://127.0.0.1:8000/v1'],
  ['ollama', 'Ollama', 'http://127.0.0.1:11434/v1'],
  ['lm-studio', 'LM Studio', 'http://127.0.0.1:1234/v1'],
  ['llama-cpp', 'llama.cpp', 'http://127.0.0.1:8080/v1'],
].map(([slug = '', name = '', base_url = '']) => ({ slug, name, base_url }));
const nothing = () => Promise.reject(new TypeError('fetch failed'));
const answering = (text: string) => () => Promise.resolve(new Response(text));
const seen = async (env: Record<string, string>, ask: (url: string) => Promise<Response> = nothing) =>
  (await findSources({ env }, presets, ask)).map(({ slug }) => slug);

describe('providers in sight', () => {
  it('are those with a key in the environment, and Ollama if it answers', async () => {
    assert.deepEqual(await seen({}), []);
    assert.deepEqual(await seen({ OPENAI_API_KEY: 'sk-1', ANTHROPIC_API_KEY: 'sk-ant-1' }), [
      'openai',
      'anthropic',
    ]);
    assert.deepEqual(await seen({ OPENAI_API_KEY: ' ' }, answering('{"version":"0.13.0"}')), ['ollama']);
    assert.deepEqual(await seen({}, answering('<html>')), []);
    assert.deepEqual(await seen({}, answering('{"error":"x"}')), []);
  });

  it('are model servers on this machine that list models', async () => {
    const at = (port: string, text: string) => (url: string) =>
      url.includes(`:${port}/v1/models`) ? Promise.resolve(new Response(text)) : nothing();
    const list = '{"object":"list","data":[{"id":"m"}]}';
    assert.deepEqual(await seen({}, at('8000', list)), ['vllm']);
    assert.deepEqual(await seen({}, at('1234', list)), ['lm-studio']);
    // Relay itself listens there.
    assert.deepEqual(await seen({}, at('8080', list)), []);
    assert.deepEqual(await seen({}, at('8000', '{"object":"list","data":[]}')), []);
  });

  it('are found by the variable of each provider', async () => {
    const [source] = await findSources({ env: { GROQ_API_KEY: 'gsk_1' } }, presets, nothing);
    assert.equal(source?.seen, 'GROQ_API_KEY');
    assert.equal(source?.baseUrl, 'https://api.groq.com/openai/v1');
  });

  it('a key that belongs to another address, or to Relay, is not sent to the provider', async () => {
    assert.deepEqual(await seen({ OPENAI_API_KEY: 'sk-1', OPENAI_BASE_URL: 'http://127.0.0.1:8080/v1' }), []);
    assert.deepEqual(await seen({ OPENAI_API_KEY: 'sk-1', OPENAI_API_BASE: 'https://proxy.example/v1' }), []);
    assert.deepEqual(await seen({ OPENAI_API_KEY: 'rly_1234567890_x' }), []);
    assert.deepEqual(await seen({ ANTHROPIC_API_KEY: 'relay-api-x' }), []);
    assert.deepEqual(await seen({ OPENAI_API_KEY: 'sk-1', OPENAI_BASE_URL: 'https://api.openai.com/v1' }), [
      'openai',
    ]);
  });

  it('Ollama is where its own variable says', () => {
    const origins = {
      '': 'http://127.0.0.1:11434',
      '127.0.0.1:11500': 'http://127.0.0.1:11500',
      ':11500': 'http://127.0.0.1:11500',
      '0.0.0.0': 'http://127.0.0.1:11434',
      'http://box.example:8000/': 'http://box.example:8000',
      'https://ollama.example': 'https://ollama.example',
    };
    for (const [given, origin] of Object.entries(origins))
      assert.equal(ollamaUrl(given)?.origin, origin, given);
    assert.equal(ollamaUrl('not an address'), null);
  });

  it('local servers have half a second to respond', async () => {
    const late = (_url: string, { signal }: RequestInit) =>
      new Promise<Response>((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason)));
    const startMs = performance.now();
    assert.deepEqual(await findSources({ env: {} }, presets, late), []);
    assert.ok(performance.now() - startMs < 2_000);
  });

  it('begin with a few chat models', async () => {
    const [openai, anthropic, ollama] = await findSources(
      { env: { OPENAI_API_KEY: 'sk-1', ANTHROPIC_API_KEY: 'sk-ant-1' } },
      presets,
      answering('{"version":"0.13.0"}'),
    );
    const models = ['gpt-4o', 'tts-1', 'gpt-5.1-mini', 'gpt-4o-2024-08-06', 'gpt-5.1', 'gpt-audio', 'gpt-5'];
    assert.deepEqual(openai?.choose(models), ['gpt-5.1', 'gpt-5.1-mini', 'gpt-5']);
    assert.deepEqual(openai?.choose(['gpt-audio', 'gpt-next']), ['gpt-next']);
    assert.deepEqual(anthropic?.choose(['claude-a', 'other', 'claude-b']), ['claude-a', 'claude-b']);
    assert.deepEqual(ollama?.choose(['nomic-embed-text', 'llama3']), ['llama3']);
  });
});
