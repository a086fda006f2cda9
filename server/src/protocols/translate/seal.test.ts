import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { writeJson } from '../../kit/json-source.ts';
import { type JsonObject, listOf, objectOf } from '../../kit/json-value.ts';
import { AnswerTranslator } from './answer-translator.ts';
import { messagesToChat } from './messages-to-chat/index.ts';
import { responsesToChat } from './responses-to-chat/index.ts';
import { isRelays, makerOf, mayHoldSeals, sealed, UNSIGNED, unsealed } from './seal.ts';
import { writerOptions } from './stream-case.fixture.ts';
import type { RequestOptions } from './translation.ts';

const MAKER = { maker: writerOptions.maker };
const SIGNATURE = { google: { thought_signature: 'EhY+/=="\\ü' } };
const DETAILS = [
  { type: 'reasoning.text', text: 'Hm, so.', format: 'f', index: 0, signature: 's' },
  { type: 'reasoning.encrypted', data: 'ENC', format: 'f', id: 'b', index: 0 },
];

const call = (id: string, more: JsonObject = {}): JsonObject => ({
  id,
  type: 'function',
  function: { name: 'look', arguments: '{}' },
  ...more,
});
const chunk = (delta: JsonObject): string =>
  `data: ${JSON.stringify({ id: 'x', choices: [{ index: 0, delta, finish_reason: null }] })}\n\n`;

/** What a client of Messages or of Responses got from these chat messages, and returns with the results of its calls. */
function returned(translation: typeof messagesToChat, answer: unknown, options: RequestOptions): JsonObject {
  const translator = new AnswerTranslator(translation, writerOptions);
  const said = objectOf(translator.whole(answer));
  assert.equal(translator.failure, null);
  const ids = listOf(said['content'] ?? said['output']).flatMap((part) => {
    const { type, id, call_id: callId } = objectOf(part);
    return type === 'tool_use' || type === 'function_call' ? [String(callId ?? id)] : [];
  });
  const request =
    translation.client === 'messages'
      ? {
          max_tokens: 5,
          messages: [
            { role: 'user', content: 'Hi' },
            { role: 'assistant', content: said['content'] },
            {
              role: 'user',
              content: ids.map((id) => ({ type: 'tool_result', tool_use_id: id, content: 'ok' })),
            },
          ],
        }
      : {
          input: [
            { role: 'user', content: 'Hi' },
            ...listOf(said['output']),
            ...ids.map((id) => ({ type: 'function_call_output', call_id: id, output: 'ok' })),
          ],
        };
  const translated = translation.request(JSON.parse(writeJson(request)), 'm', options);
  assert.equal(translated.kind, 'translated', JSON.stringify(translated));
  const assistant = listOf(translated.body['messages']).find(
    (each) => objectOf(each)['role'] === 'assistant',
  );
  return { assistant, leftOut: translated.leftOut };
}

function whole(message: JsonObject): JsonObject {
  return {
    id: 'x',
    choices: [{ index: 0, message: { role: 'assistant', ...message }, finish_reason: 'stop' }],
  };
}

describe('what a chat provider wants back', () => {
  const messages: readonly (readonly [name: string, message: JsonObject])[] = [
    [
      'a signature of the first of two calls',
      { tool_calls: [call('a', { extra_content: SIGNATURE }), call('b')] },
    ],
    [
      'signatures of both',
      { tool_calls: [call('a', { extra_content: SIGNATURE }), call('b', { extra_content: {} })] },
    ],
    ['a signature of the message, with calls', { tool_calls: [call('a')], extra_content: SIGNATURE }],
    [
      'an id that Messages do not have',
      { tool_calls: [call('functions.look:0', { extra_content: SIGNATURE })] },
    ],
    [
      'LiteLLM’s members of a call',
      { tool_calls: [call('a', { provider_specific_fields: { thought_signature: 'x' } })] },
    ],
    ['details of reasoning', { tool_calls: [call('b')], reasoning: 'Hm, so.', reasoning_details: DETAILS }],
    [
      'details beside text and calls',
      { content: 'Ok.', tool_calls: [call('b')], reasoning: 'Hm.', reasoning_details: DETAILS },
    ],
    ['thinking', { tool_calls: [call('a')], reasoning_content: 'Hm.\n' }],
    ['thinking and text', { content: 'Ok.', tool_calls: [call('a')], reasoning_content: 'Hm.' }],
  ];
  for (const translation of [messagesToChat, responsesToChat])
    for (const [name, message] of messages)
      it(`returns to it through ${translation.client}: ${name}`, () => {
        const { assistant, leftOut } = returned(translation, whole(message), MAKER);
        // What was only shown stands in the details too.
        const { reasoning, ...wanted } = message;
        assert.deepEqual(inWords(assistant), inWords({ role: 'assistant', content: null, ...wanted }));
        const others = listOf(leftOut).filter((path) => path !== 'store' && !String(path).endsWith('.id'));
        assert.equal(others.length, reasoning === undefined ? 0 : 1, others.join());
      });

  it('is left out for another provider, and named', () => {
    for (const [, message] of messages)
      for (const options of [{ maker: 'other' }, {}]) {
        const { assistant, leftOut } = returned(messagesToChat, whole(message), options);
        assert.doesNotMatch(JSON.stringify(assistant), /relay-|extra_content|reasoning|provider_specific/);
        assert.notDeepEqual(leftOut, []);
      }
  });

  it('is named where nothing can return it: a client reads the last part of a response as its text', () => {
    const translator = new AnswerTranslator(messagesToChat, writerOptions);
    const said = objectOf(translator.whole(whole({ content: 'Hi', extra_content: SIGNATURE })));
    assert.deepEqual(said['content'], [{ type: 'text', text: 'Hi', citations: null }]);
    assert.deepEqual(translator.leftOut, ['response.message.extra_content']);
  });

  it('is put together from the pieces of a stream', () => {
    const translator = new AnswerTranslator(messagesToChat, writerOptions);
    const detail = (text: string, more: JsonObject = {}) =>
      chunk({ reasoning: text, reasoning_details: [{ type: 'reasoning.text', text, index: 0, ...more }] });
    const frames = [
      detail('Hm, '),
      detail('so', { format: 'f' }),
      detail('.', { signature: 's', id: null }),
      chunk({ tool_calls: [{ index: 0, ...call('b') }], reasoning_details: DETAILS.slice(1) }),
      'data: [DONE]\n\n',
    ];
    const text = frames.map((frame) => translator.push(Buffer.from(frame)).toString()).join('');
    const seal = /"data":"(relay-seal[^"]*)"/.exec(text)?.[1];
    assert.ok(text.indexOf('redacted_thinking') < text.indexOf('"tool_use"'), text);
    const { members } = objectOf(unsealed(writerOptions.maker, seal));
    assert.deepEqual(objectOf(members)['message'], { reasoning_details: DETAILS });
  });
});

describe('a seal', () => {
  it('holds any text, for its maker alone, and shows that it is Relay’s', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'binary', maxLength: 30 }),
        fc.stringMatching(/^[0-9a-f]{8}$/),
        (text, maker) => {
          const contents = [
            { kind: 'thinking', signature: text },
            { kind: 'redacted_thinking', data: text },
            { kind: 'members', members: { message: { text }, calls: { [`id${text}`]: { text } } } },
          ] as const;
          for (const content of contents) {
            const seal = sealed(maker, content);
            assert.deepEqual(unsealed(maker, seal), JSON.parse(JSON.stringify(content)));
            assert.equal(unsealed(`${maker}0`, seal), null);
            assert.equal(unsealed(undefined, seal), null);
            assert.ok(isRelays(seal) && mayHoldSeals(Buffer.from(JSON.stringify({ seal }))));
          }
        },
      ),
    );
  });

  it('is not opened where it was changed', () => {
    for (const seal of [
      'relay-seal-2:a:',
      'relay-seal-2:a:members:%%',
      'relay-seal-2:a:what:x',
      UNSIGNED,
      'EqQB',
      5,
    ])
      assert.equal(unsealed('a', seal), null);
  });
});

describe('who made it', () => {
  it('is the host, and the vendor where it has models of several', () => {
    assert.equal(makerOf('h', 'google/gemini-3-pro'), makerOf('h', 'google/gemini-3-flash'));
    assert.notEqual(makerOf('h', 'google/gemini-3-pro'), makerOf('h', 'openai/gpt-6'));
    assert.notEqual(makerOf('h', 'gemini-3-pro'), makerOf('i', 'gemini-3-pro'));
  });

  it('is Claude wherever Claude is offered', () => {
    assert.equal(makerOf('a', 'claude-opus-5'), makerOf('b', 'us.anthropic.claude-opus-5-v1:0'));
    assert.notEqual(makerOf('a', 'claude-opus-5'), makerOf('a', 'other'));
  });
});

/** Ids are the client's by then. */
function inWords(message: unknown): unknown {
  const calls = listOf(objectOf(message)['tool_calls']).map((each) => ({ ...objectOf(each), id: '' }));
  return { ...objectOf(message), tool_calls: calls };
}
