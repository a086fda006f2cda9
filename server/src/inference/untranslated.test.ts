import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { buildOpenApi } from '@relay/contract';
import {
  COMPLETION,
  MESSAGE,
  startTranslatedSite,
  type TranslatedSite,
  whole,
} from './translated-site.fixture.ts';

describe('what a translation does not say in other words', () => {
  let site: TranslatedSite;

  beforeEach(async () => {
    site = await startTranslatedSite();
  });
  afterEach(() => site.close());

  it('is refused when no candidate can be told what it asks, and the reason names the field', async () => {
    const answer = await site.sendChat({ model: 'only-anthropic', logprobs: true });
    assert.equal(answer?.status, 400);
    assert.equal(
      JSON.parse(answer?.text ?? '').error.message,
      'No candidate for "only-anthropic" can serve this chat request: "anthropic": chat to messages: "logprobs" cannot be translated. The Messages API can’t express this field.',
    );
    assert.equal(site.upstream.heard.length, 0);
  });

  it('passes on what it does not read as it was written, in the request and in the answer', async () => {
    const input = '{"id": 1234567890123456789, "f":1.0,"e":1e400, "z":-0,"id":2, "s":"\\u0041"}';
    const content = `[{"type":"tool_use","id":"toolu_1","name":"f","input":${input}}]`;
    site.says = {
      anthropic: [
        (response) => {
          const rest = JSON.stringify({ ...MESSAGE, content: undefined, stop_reason: 'tool_use' }).slice(1);
          response.writeHead(200, { 'content-type': 'application/json' });
          response.end(`{"content":${content},${rest}`);
        },
      ],
    };
    const schema = '{"type":"object","maximum":9223372036854775807, "a": 1.0}';
    const tools = `[{"type":"function","function":{"name":"f","parameters":${schema}}}]`;
    const call = `{"id":"c","type":"function","function":{"name":"f","arguments":${JSON.stringify(input)}}}`;
    const history = `{"role":"user","content":"Hi"},{"role":"assistant","content":null,"tool_calls":[${call}]},{"role":"tool","tool_call_id":"c","content":"1"}`;
    const body = `{"model":"only-anthropic","messages":[${history}],"tools":${tools}}`;
    const answer = await site.gateway.send(body, '/v1/chat/completions').answered;
    const sent = site.upstream.heard[0]?.text ?? '';
    assert.ok(sent.includes(`"input":${input}`) && sent.includes(`"input_schema":${schema}`), sent);
    assert.ok(answer?.text.includes(`"arguments":${JSON.stringify(input)}`), answer?.text);
  });

  it('says that it keeps no items: in the first answer, and with the remedy where a client refers to one', async () => {
    site.says = { anthropic: [whole(200, MESSAGE)] };
    const respond = async (input: unknown) =>
      await site.gateway.send({ model: 'only-anthropic', input }, '/v1/responses').answered;
    const first = await respond('Hi');
    assert.equal(first?.headers['x-relay-left-out'], 'store');
    assert.equal(JSON.parse(first?.text ?? '').store, false);
    const second = await respond([{ type: 'item_reference', id: 'msg_1' }]);
    assert.equal(second?.status, 400);
    assert.match(
      JSON.parse(second?.text ?? '').error.message,
      /"input\[0\]\.type" cannot be translated\. It is an item_reference, and this endpoint keeps no items\. Send store: false/,
    );
  });

  it('sends no header of its own that the OpenAPI document does not name for the route', async () => {
    const { paths } = buildOpenApi() as {
      paths: Record<string, { post: { responses: Record<string, { headers: object }> } }>;
    };
    site.says = {
      openai: [whole(200, COMPLETION), whole(200, { error: { message: 'no' } })],
      anthropic: [whole(200, MESSAGE)],
    };
    const answers = [
      ['/messages', await site.sendMessages({ model: 'only-openai' })],
      ['/chat/completions', await site.sendChat({ model: 'only-anthropic', user: 'u' })],
      ['/chat/completions', await site.sendChat({ model: 'only-openai' })],
    ] as const;
    for (const [path, answer] of answers) {
      const named = Object.keys(paths[path]?.post.responses['200']?.headers ?? {}).map((name) =>
        name.toLowerCase(),
      );
      const sent = Object.keys(answer?.headers ?? {}).filter((name) =>
        /^x-relay-|^x-ratelimit-|request-id$/.test(name),
      );
      assert.ok(sent.length > 8, sent.join());
      assert.deepEqual(
        sent.filter((name) => !named.includes(name)),
        [],
      );
    }
  });

  it('goes to those that can be told, past those that cannot', async () => {
    site.says = { openai: [whole(200, COMPLETION)] };
    const answer = await site.sendChat({ model: 'anthropic-first', logprobs: true });
    assert.equal(answer?.status, 200);
    assert.equal(answer?.headers['x-relay-translated-to'], undefined);
    const { candidates = [] } = await site.gateway.nthRecord(1);
    assert.deepEqual(
      candidates.map(({ verdict }) => verdict),
      ['incompatible', 'selected'],
    );
  });
});
