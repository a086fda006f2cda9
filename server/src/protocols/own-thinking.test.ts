import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { finish } from '../kit/slices.ts';
import { AskedRequest } from './asked-request.ts';
import { protocols } from './index.ts';
import { NO_QUIRKS } from './provider-presets.ts';

function sent(operation: 'messages' | 'responses', text: string): string {
  const { request } = protocols[operation];
  const body = finish(request.parse(Buffer.from(text)));
  const removal = new AskedRequest(protocols[operation], body, () => assert.fail('parsed')).thinkingRemoval;
  return Buffer.concat(request.forUpstream(body, 'up', { removal })).toString();
}

const signed = { type: 'thinking', thinking: 'a', signature: 'c2lnbmVk' };
const unsigned = { type: 'thinking', thinking: 'b', signature: 'relay-unsigned' };
const call = { type: 'tool_use', id: 'toolu_1', name: 'x', input: {} };

describe('thinking that Relay wrote', () => {
  it('does not reach a provider of Messages, which would reject it', () => {
    const messages = [
      { role: 'user', content: 'Hello' },
      { role: 'assistant', content: [signed, unsigned, call] },
      { role: 'assistant', content: [unsigned] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: '1' }] },
    ];
    const text = `{ "model":"lane", "messages": ${JSON.stringify(messages)},  "max_tokens": 5}`;
    const rest = [messages[0], { role: 'assistant', content: [signed, call] }, messages[3]];
    assert.equal(
      sent('messages', text),
      `{ "model":"up", "messages": ${JSON.stringify(rest)},  "max_tokens": 5}`,
    );
  });

  it('is removed without a change of what stays', () => {
    const input = '{"id": 1234567890123456789, "f":1.0,"e":1e400, "s":"\\u0041"}';
    const kept = `{"type":"tool_use","id":"t","name":"x","input":${input}}`;
    const before = `{"role":"user","content": "\\u0041"}`;
    const text = (blocks: string) =>
      `{"model":"M","max_tokens":5,"messages":[${before},{"role":"assistant","content":[${blocks}]}]}`;
    const given = text(`${JSON.stringify(unsigned)},${kept}`).replace('"M"', '"lane"');
    assert.equal(sent('messages', given), text(kept).replace('"M"', '"up"'));
  });

  it('does not reach a provider of responses, which cannot decrypt it', () => {
    const reasoning = (content: string) => ({ type: 'reasoning', summary: [], encrypted_content: content });
    const input = [
      { role: 'user', content: 'Hello' },
      reasoning('gAAAAtheirs'),
      reasoning('relay-thinking-1:c2ln'),
      reasoning('relay-redacted-1:c2ln'),
    ];
    const text = `{"model":"lane", "input" : ${JSON.stringify(input)} }`;
    assert.equal(sent('responses', text), `{"model":"up", "input" : ${JSON.stringify(input.slice(0, 2))} }`);
  });

  it('is looked for once, whatever the number of attempts', (test) => {
    const { request } = protocols.messages;
    const text = `{"model":"lane","max_tokens":5,"messages":[{"role":"assistant","content":[${JSON.stringify(unsigned)}]}]}`;
    const body = finish(request.parse(Buffer.from(text)));
    const searched = test.mock.method(body.bytes, 'includes');
    const asked = new AskedRequest(protocols.messages, body, () => assert.fail('parsed'));
    for (const _attempt of [1, 2]) {
      assert.notEqual(asked.thinkingRemoval, null);
      assert.deepEqual(asked.leftOut(null, NO_QUIRKS), ['messages.content']);
    }
    assert.equal(searched.mock.callCount(), 1);
  });

  it('is told from the same words of a user, whose bytes stay', () => {
    const said = 'What does relay-unsigned mean, and relay-thinking-1:x?';
    const messages = `[ {"role" : "user", "content" : [ {"type":"text", "text":"${said}"} ] } ]`;
    assert.equal(
      sent('messages', `{"model":"lane","max_tokens":5,"messages":${messages}}`),
      `{"model":"up","max_tokens":5,"messages":${messages}}`,
    );
    for (const input of [`[ {"role":"user","content":"${said}"} ]`, `"${said}"`])
      assert.equal(
        sent('responses', `{"model":"lane","input": ${input}}`),
        `{"model":"up","input": ${input}}`,
      );
  });
});
