import assert from 'node:assert/strict';
import { test } from 'node:test';
import { answerOf, bodyOf, deltaOf, type Settings, usageOf, vectorsOf } from './request.ts';

const settings: Settings = {
  operation: 'chat',
  model: 'assistant',
  system: '',
  maxTokens: null,
  temperature: null,
  stream: false,
};
const turns = [{ role: 'user', content: 'Hello' }] as const;

test('unset values are not sent', () => {
  assert.deepEqual(bodyOf(settings, turns), { model: 'assistant', messages: [...turns] });
  assert.deepEqual(bodyOf({ ...settings, operation: 'embeddings' }, turns), {
    model: 'assistant',
    input: 'Hello',
  });
});

test('each operation has its own field names for the same settings', () => {
  const full = { ...settings, system: 'Be brief.', maxTokens: 50, temperature: 0.2, stream: true };
  assert.deepEqual(bodyOf(full, turns), {
    model: 'assistant',
    messages: [{ role: 'system', content: 'Be brief.' }, ...turns],
    max_tokens: 50,
    temperature: 0.2,
    stream: true,
    stream_options: { include_usage: true },
  });
  assert.deepEqual(bodyOf({ ...full, operation: 'responses' }, turns), {
    model: 'assistant',
    instructions: 'Be brief.',
    input: 'Hello',
    max_output_tokens: 50,
    temperature: 0.2,
    stream: true,
  });
  assert.deepEqual(bodyOf({ ...full, operation: 'messages' }, turns), {
    model: 'assistant',
    max_tokens: 50,
    system: 'Be brief.',
    messages: turns,
    temperature: 0.2,
    stream: true,
  });
  assert.equal(bodyOf({ ...settings, operation: 'messages' }, turns)['max_tokens'], 1024);
});

test('text and usage are read from frames and bodies of messages', () => {
  const delta = { type: 'content_block_delta', delta: { type: 'text_delta', text: 'Hi' } };
  assert.equal(deltaOf('messages', JSON.stringify(delta)), 'Hi');
  assert.equal(deltaOf('messages', '{"type":"ping"}'), '');
  const content = [
    { type: 'thinking', thinking: 'x' },
    { type: 'text', text: 'Hi' },
  ];
  assert.equal(answerOf('messages', { content }), 'Hi');
  const start = { type: 'message_start', message: { usage: { input_tokens: 3, output_tokens: 1 } } };
  assert.deepEqual(usageOf(JSON.stringify(start)), { input: 3, output: 1 });
});

test('text is read from frames and bodies of both APIs, and unknown shapes are empty', () => {
  assert.equal(deltaOf('chat', '{"choices":[{"delta":{"content":"Hi"}}]}'), 'Hi');
  assert.equal(deltaOf('responses', '{"type":"response.output_text.delta","delta":"Hi"}'), 'Hi');
  assert.equal(deltaOf('chat', '[DONE]'), '');
  assert.equal(deltaOf('chat', 'not json'), '');
  assert.equal(answerOf('chat', { choices: [{ message: { content: 'Hi' } }] }), 'Hi');
  assert.equal(answerOf('responses', { output: [{ content: [{ type: 'output_text', text: 'Hi' }] }] }), 'Hi');
  assert.deepEqual(vectorsOf({ data: [{ embedding: [0.5, 1] }] }), [[0.5, 1]]);
  assert.deepEqual(usageOf('{"usage":{"prompt_tokens":3,"completion_tokens":4}}'), { input: 3, output: 4 });
  assert.deepEqual(usageOf('{"response":{"usage":{"input_tokens":3,"output_tokens":4}}}'), {
    input: 3,
    output: 4,
  });
  assert.equal(usageOf('{}'), null);
});
