import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { finish } from '../kit/slices.ts';
import { openaiChat } from './openai-chat/index.ts';
import { NO_QUIRKS } from './provider-presets.ts';
import { withQuirks } from './splice-body.ts';

const quirks = {
  ...NO_QUIRKS,
  dropped_parameters: ['stream_options', 'user'],
  renamed_parameters: { max_completion_tokens: 'max_tokens' },
};
const chat = '"messages":[{"role":"user","content":"hi"}]';

function sent(text: string): string {
  const { request } = openaiChat;
  const body = finish(request.parse(Buffer.from(text)));
  return Buffer.concat(request.forUpstream(body, 'up', { quirks })).toString();
}

describe('a request with parameters that the provider does not take', () => {
  const cases: [string, string, string][] = [
    ['first', `{ "user" : 1 ,"model":"m",${chat}}`, `{ "model":"up",${chat}}`],
    ['first and second', `{"user":1,\n"user":2,"model":"m",${chat}}`, `{"model":"up",${chat}}`],
    ['in the middle', `{"model":"m", "user":{"a":[1]} , ${chat}}`, `{"model":"up" , ${chat}}`],
    ['last', `{"model":"m",${chat},"stream_options":{"include_usage":true} }`, `{"model":"up",${chat} }`],
    ['by an escaped name', `{"model":"m",${chat},"us\\u0065r":1}`, `{"model":"up",${chat}}`],
    ['twice in a row', `{"model":"m","user":1,"user":2,${chat}}`, `{"model":"up",${chat}}`],
  ];
  for (const [where, given, wanted] of cases) {
    it(`goes without them: ${where}`, () => assert.equal(sent(given), wanted));
  }
  it('does not ask for usage in a parameter that the provider rejects', () => {
    const body = finish(openaiChat.request.parse(Buffer.from(`{"model":"m",${chat},"stream":true}`)));
    assert.equal(openaiChat.request.asksForUsage(body, quirks), false);
    assert.equal(openaiChat.request.asksForUsage(body), true);
    assert.equal(sent(`{"model":"m",${chat},"stream":true}`), `{"model":"up",${chat},"stream":true}`);
  });
});

describe('a parameter that the provider knows by another name', () => {
  it('is sent by that name, its value untouched', () => {
    assert.equal(
      sent(`{"model":"m","max_completion_tokens" : 16,${chat}}`),
      `{"model":"up","max_tokens":16,${chat}}`,
    );
  });
  it('replaces one that the client sent by that name, because limits count the newer one', () => {
    assert.equal(
      sent(`{"max_tokens":9,"model":"m",${chat},"max_completion_tokens":5}`),
      `{"model":"up",${chat},"max_tokens":5}`,
    );
  });
  it('is left out when it is null', () => {
    assert.equal(
      sent(`{"model":"m",${chat},"max_completion_tokens":null,"max_tokens":9}`),
      `{"model":"up",${chat},"max_tokens":9}`,
    );
  });
  it('is the same for a request that Relay translated', () => {
    assert.deepEqual(
      withQuirks({ user: 'u', max_completion_tokens: 5, max_tokens: 9, stream_options: {}, n: 1 }, quirks),
      { max_tokens: 5, n: 1 },
    );
    assert.deepEqual(withQuirks({ max_completion_tokens: null, max_tokens: 9 }, quirks), { max_tokens: 9 });
  });
});
