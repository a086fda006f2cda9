import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { finish } from '../../kit/slices.ts';
import { protocols } from '../index.ts';
import { inputAtMost } from './input-at-most.ts';

const GPT = 'gpt-4o';
const CLAUDE = 'claude-sonnet-4';
const SENTENCE = 'This is what people write when they want to know something about the world.';
const PNG = 'data:image/png;base64,iVBORw0KGgoAAAANSUhEUg==';

function atMost(operation: keyof typeof protocols, request: object, model: string) {
  const { request: rules } = protocols[operation];
  const body = finish(rules.parse(Buffer.from(JSON.stringify({ model: 'lane', ...request }))));
  return inputAtMost(finish(rules.inputBound(body)), model);
}

const chat = (content: unknown, more: object = {}, model = GPT) =>
  atMost('chat', { messages: [{ role: 'user', content }], ...more }, model);

const unbounded = (reason: string, field: string) => ({ unbounded: { reason, field } });

function tokensOf(bound: ReturnType<typeof inputAtMost>): number {
  assert.ok('tokens' in bound, JSON.stringify(bound));
  return bound.tokens;
}

describe('input at most', () => {
  it('counts known words as few tokens for tested models, and every byte for others', () => {
    const empty = tokensOf(chat(''));
    const emptyElsewhere = tokensOf(chat('', {}, CLAUDE));
    const tested = tokensOf(chat(` ${SENTENCE}`)) - empty;
    assert.ok(tested >= 14 && tested < 20, String(tested));
    assert.equal(tokensOf(chat(SENTENCE, {}, CLAUDE)) - emptyElsewhere, SENTENCE.length);
    assert.equal(tokensOf(chat(SENTENCE, {}, 'my-gpt-4o')), tokensOf(chat(SENTENCE, {}, CLAUDE)));
  });

  it('takes escapes for what they stand for', () => {
    const bytes = Buffer.from(
      '{"model":"lane","messages":[{"role":"user","content":"\\u4e2d\\ud83d\\ude00\\n"}]}',
    );
    const { request: rules } = protocols.chat;
    const escaped = inputAtMost(finish(rules.inputBound(finish(rules.parse(bytes)))), GPT);
    assert.equal(tokensOf(escaped) - tokensOf(chat('')), 3 + 4 + 1);
  });

  it('does not take words apart that a provider may join', () => {
    const parts = (...texts: readonly string[]) => texts.map((text) => ({ type: 'text', text }));
    const joined = tokensOf(chat(parts('some', 'thing', 'else')));
    assert.equal(joined - tokensOf(chat(parts('', '', ''))), 'somethingelse'.length);
  });

  it('bounds inline images by what the provider documents, and refuses those of unknown models', () => {
    const content = [{ type: 'image_url', image_url: { url: PNG } }];
    assert.ok(tokensOf(chat(content)) >= 48_169);
    assert.deepEqual(chat(content, {}, 'unknown'), unbounded('image', 'messages'));
    const source = { type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgo=' };
    const messages = [{ role: 'user', content: [{ type: 'image', source }] }];
    const tokens = tokensOf(atMost('messages', { messages, max_tokens: 1 }, CLAUDE));
    assert.ok(tokens >= 5_000 && tokens < 6_000, String(tokens));
  });

  it('names what nothing in the request bounds', () => {
    const link = { type: 'image_url', image_url: { url: 'https://example.com/a.png' } };
    const file = { type: 'file', file: { file_data: 'data:application/pdf;base64,JVBERi0=' } };
    const stored = { type: 'file', file: { file_id: 'file-1' } };
    const audio = { type: 'input_audio', input_audio: { data: 'UklGRg==', format: 'wav' } };
    const remote = unbounded('remote_content', 'messages');
    assert.deepEqual(chat([link]), remote);
    assert.deepEqual(chat([{ type: 'image_url', image_url: { url: PNG } }, link]), remote);
    assert.deepEqual(chat([stored]), remote);
    assert.deepEqual(chat([file]), unbounded('file', 'messages'));
    assert.deepEqual(chat([audio]), unbounded('file', 'messages'));
    const spoken = [{ role: 'assistant', audio: { id: 'audio_1' } }];
    assert.deepEqual(atMost('chat', { messages: spoken }, GPT), remote);
    for (const more of [
      { previous_response_id: 'resp_1' },
      { conversation: 'conv_1' },
      { prompt: { id: 'pmpt_1' } },
      { input: [{ type: 'item_reference', id: 'item_1' }] },
    ]) {
      const [field = ''] = Object.keys(more);
      const bound = atMost('responses', { input: 'a', ...more }, GPT);
      assert.deepEqual(bound, unbounded('remote_content', field), field);
    }
  });

  it('bounds tools that the client runs, and not those that the provider runs', () => {
    const own = { type: 'function', function: { name: 'find', parameters: { type: 'object' } } };
    assert.ok(tokensOf(chat('a', { tools: [own] })) > tokensOf(chat('a')) + 1_000);
    for (const more of [
      { tools: [own, { type: 'web_search' }] },
      { Tools: [{ type: 'mcp', server_url: 'https://example.com' }] },
      { plugins: [{ id: 'web' }] },
      { mcp_servers: [] },
    ]) {
      const [field = ''] = Object.keys(more);
      assert.deepEqual(chat('a', more), unbounded('hosted_tools', field), field);
    }
    assert.ok('tokens' in chat('a', { tools: null, plugins: null }));
  });

  it('counts members that Relay does not know', () => {
    const text = 'x'.repeat(500);
    assert.ok(tokensOf(chat('a', { context: text })) >= tokensOf(chat('a')) + 500);
  });
});
