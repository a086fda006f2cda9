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
