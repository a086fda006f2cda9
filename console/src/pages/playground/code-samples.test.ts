import assert from 'node:assert/strict';
import { test } from 'node:test';
import { codeSamples } from './code-samples.ts';

const body = { model: 'assistant', messages: [{ role: 'user', content: "It's me" }] };

test('every sample calls this deployment and reads its key from the environment', () => {
  for (const { id, code } of codeSamples('https://relay.example', 'chat', body)) {
    assert.match(code, /https:\/\/relay\.example\/v1/, id);
    assert.match(code, /RELAY_API_KEY/, id);
    assert.match(code, /assistant/, id);
  }
});

test('messages have samples of their own client, and curl sends the version', () => {
  const message = { ...body, max_tokens: 50 };
  const [curl, sdk] = codeSamples('https://relay.example', 'messages', message);
  assert.match(curl?.code ?? '', /anthropic-version: 2023-06-01/);
  assert.match(sdk?.code ?? '', /baseURL: 'https:\/\/relay\.example',[\s\S]*client\.messages\.create/);
});

test('a quote in the body does not end the argument of curl', () => {
  const [curl] = codeSamples('https://relay.example', 'chat', body);
  assert.match(curl?.code ?? '', /It'\\''s me/);
});

test('embeddings have samples for clients that support them', () => {
  const ids = codeSamples('https://relay.example', 'embeddings', { model: 'm', input: 'x' }).map(
    (each) => each.id,
  );
  assert.deepEqual(ids, ['curl', 'openai']);
});
