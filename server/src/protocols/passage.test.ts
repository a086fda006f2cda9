import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Operation, RouteKind, WireProtocol } from '@relay/contract';
import { servedOperations } from '@relay/contract/words';
import { endpoint } from '../domain/snapshot.fixture.ts';
import { AskedRequest } from './asked-request.ts';
import { allProtocols, protocols } from './index.ts';
import { passageTo } from './passage.ts';
import { NO_QUIRKS, quirksOf } from './provider-presets.ts';
import { withQuirks } from './splice-body.ts';
import { chatToMessages } from './translate/chat-to-messages/index.ts';
import { responsesToChat } from './translate/responses-to-chat/index.ts';

describe('how a request reaches an endpoint', () => {
  const cases: [Operation, WireProtocol, RouteKind, string][] = [
    ['chat', 'openai', 'chat', 'as it is'],
    ['chat', 'openai', 'multi', 'as it is'],
    ['chat', 'anthropic', 'messages', 'as messages'],
    ['chat', 'anthropic', 'multi', 'as messages'],
    ['chat', 'openai', 'responses', 'not'],
    ['chat', 'openai', 'embeddings', 'not'],
    ['responses', 'openai', 'multi', 'as it is'],
    ['responses', 'openai', 'responses', 'as it is'],
    ['responses', 'openai', 'chat', 'as chat'],
    ['responses', 'anthropic', 'messages', 'as messages'],
    ['messages', 'anthropic', 'multi', 'as it is'],
    ['messages', 'openai', 'multi', 'as chat'],
    ['messages', 'openai', 'chat', 'as chat'],
    ['messages', 'openai', 'embeddings', 'not'],
    ['embeddings', 'openai', 'multi', 'as it is'],
    ['embeddings', 'anthropic', 'multi', 'not'],
    ['count_tokens', 'anthropic', 'messages', 'as it is'],
    ['count_tokens', 'openai', 'multi', 'not'],
  ];
  for (const [operation, protocol, routeKind, expected] of cases) {
    it(`${operation} to ${routeKind} of ${protocol}: ${expected}`, () => {
      const passage = passageTo(protocols[operation], { protocol, routeKind });
      const how = passage?.translation == null ? 'as it is' : `as ${passage.protocol.operation}`;
      assert.equal(passage === undefined ? 'not' : how, expected);
    });
  }

  it('is what the contract tells clients that offer operations', () => {
    for (const protocol of WireProtocol.enum)
      for (const routeKind of RouteKind.enum) {
        const reached = allProtocols
          .filter((client) => passageTo(client, { protocol, routeKind }) !== undefined)
          .map(({ operation }) => operation);
        const served = servedOperations({ protocol, route_kind: routeKind });
        assert.deepEqual(served.toSorted(), reached.toSorted(), `${protocol} ${routeKind}`);
      }
  });
});

describe('a request that is passed through', () => {
  const signed = { type: 'thinking', thinking: 'a', signature: 'c2lnbmVk' };
  const unsigned = { type: 'thinking', thinking: 'b', signature: 'relay-unsigned' };
  const sealed = { type: 'reasoning', summary: [], encrypted_content: 'relay-thinking-1:c2ln' };
  const text = { type: 'text', text: 'relay-unsigned, relay-thinking-1:c2ln' };
  const requests: readonly [Operation, object, readonly string[]][] = [
    [
      'messages',
      { messages: [{ role: 'assistant', content: [signed, unsigned, unsigned] }] },
      ['messages.content'],
    ],
    ['messages', { messages: [{ role: 'user', content: [text] }] }, []],
    ['responses', { input: [{ role: 'user', content: 'Hi' }, sealed, sealed] }, ['input']],
    ['responses', { input: text.text }, []],
    ['chat', { messages: [{ role: 'assistant', content: [unsigned] }] }, []],
  ];
  for (const [operation, request, leftOut] of requests)
    it(`names the thinking of Relay that the provider does not get: ${operation} ${JSON.stringify(leftOut)}`, () => {
      const bytes = Buffer.from(JSON.stringify(request));
      const measured = { members: [], settings: {} };
      // As it is received, and as it is explained.
      for (const body of [{ ...measured, bytes }, measured])
        assert.deepEqual(
          new AskedRequest(protocols[operation], body, () => request).leftOut(null, NO_QUIRKS),
          leftOut,
        );
    });

  it('names a parameter that the provider does not take, if the client sent it', () => {
    const measured = protocols.chat.request.measure({ messages: [], stream_options: {} });
    assert.ok(measured !== null);
    const asked = new AskedRequest(protocols.chat, measured, () => assert.fail('parsed'));
    assert.deepEqual(
      asked.leftOut(null, { ...NO_QUIRKS, dropped_parameters: ['stream_options', 'logprobs'] }),
      ['stream_options'],
    );
  });

  it('is not parsed for it without a mark', () => {
    const body = { members: [], settings: {}, bytes: Buffer.from('{"messages":"not JSON}') };
    const parse = () => assert.fail('parsed');
    assert.deepEqual(new AskedRequest(protocols.messages, body, parse).leftOut(null, NO_QUIRKS), []);
  });
});

describe('a request that has to be translated', () => {
  const atAnthropic = endpoint('e', 'p', 'm', { protocol: 'anthropic' });
  const asked = (request: object) =>
    new AskedRequest(protocols.chat, { members: [], settings: {} }, () => request);
  const messages = [{ role: 'user', content: 'Hi' }];

  it('reaches the endpoint, and names what is left out, without positions', () => {
    const request = asked({ model: 'lane', messages, user: 'u-1', prompt_cache_key: 'k' });
    assert.equal(request.obstacle(atAnthropic), null);
    assert.deepEqual([...request.leftOut(chatToMessages, NO_QUIRKS)].sort(), ['prompt_cache_key', 'user']);
  });

  it('has who asks and the key of a cache where the preset accepts them, and they are named elsewhere', () => {
    const said = { user: 'u', prompt_cache_key: 'k', safety_identifier: 's' };
    const given = { model: 'lane', input: 'Hi', store: false, ...said, metadata: { a: 'b' } };
    const measured = protocols.responses.request.measure(given);
    assert.ok(measured !== null);
    const request = new AskedRequest(protocols.responses, measured, () => given);
    const translated = request.translated(responsesToChat);
    assert.ok(translated.kind === 'translated');
    for (const [preset, names] of [
      ['openai', ['user', 'prompt_cache_key', 'safety_identifier']],
      ['groq', ['user']],
      ['google-gemini', []],
      ['mistral', []],
      [null, []],
    ] as const) {
      const sent = withQuirks(translated.body, quirksOf(preset));
      const isSent = (name: string) => names.some((each) => each === name);
      assert.deepEqual(
        Object.keys(said).filter((name) => name in sent),
        Object.keys(said).filter(isSent),
      );
      const unsent = Object.keys(said).filter((name) => !isSent(name));
      assert.deepEqual(
        [...request.leftOut(responsesToChat, quirksOf(preset))].sort(),
        ['metadata', ...unsent].sort(),
      );
    }
  });

  it('does not reach it with a field that the provider cannot be told, and says which', () => {
    const obstacle = asked({ model: 'lane', messages, n: 2 }).obstacle(atAnthropic);
    assert.deepEqual(obstacle, {
      why: 'untranslatable',
      reason: 'chat to messages: "n" cannot be translated. The Messages API can’t express this field',
    });
  });

  it('names no more of an invented field than its beginning', () => {
    const obstacle = asked({ model: 'lane', messages, ['x'.repeat(5_000)]: 1 }).obstacle(atAnthropic);
    assert.ok((obstacle?.reason.length ?? 0) < 400, obstacle?.reason);
  });

  it('is parsed once, and not at all where its bytes are passed through', () => {
    let parsed = 0;
    const request = new AskedRequest(protocols.chat, { members: [], settings: {} }, () => {
      parsed += 1;
      return { model: 'lane', messages };
    });
    assert.equal(request.obstacle(endpoint('o', 'p', 'm')), null);
    assert.equal(parsed, 0);
    for (let index = 0; index < 3; index += 1) assert.equal(request.obstacle(atAnthropic), null);
    assert.equal(parsed, 1);
  });

  it('is not translated when it is too large', () => {
    const none = { textBytes: 0, scalars: 0, values: 1, nested: 0, media: null };
    const member = { name: 'messages', start: 0, end: 9 * 1024 * 1024, ...none };
    const large = new AskedRequest(protocols.chat, { members: [member], settings: {} }, () => ({}));
    const obstacle = large.obstacle(atAnthropic);
    assert.match(obstacle?.reason ?? '', /8 MiB/);
  });
});
