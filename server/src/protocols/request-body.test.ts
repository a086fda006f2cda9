import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Operation } from '@relay/contract';
import { RelayError } from '../domain/relay-error.ts';
import { finish } from '../kit/slices.ts';
import { protocols } from './index.ts';
import { includeUsage } from './openai/request.ts';
import { spliceBody } from './splice-body.ts';

const parse = (bytes: Buffer, operation: Operation) => finish(protocols[operation].request.parse(bytes));

const chat = '"messages":[{"role":"user","content":"hi"}]';
const large = `"messages":[{"role":"user","content":"${'x'.repeat(100_000)}"}]`;

function refusal(text: string | Buffer, operation: Operation = 'chat'): RelayError {
  try {
    parse(Buffer.from(text), operation);
  } catch (error) {
    assert.ok(error instanceof RelayError);
    return error;
  }
  throw new Error('was accepted');
}

describe('receiving a body', () => {
  const invalid: [string, string | Buffer, string, string | null | undefined][] = [
    ['nothing', '', 'invalid_json', undefined],
    ['an array', '[]', 'invalid_json', undefined],
    ['broken JSON', '{"model":', 'invalid_json', undefined],
    ['JSON that only looks whole', `{"model":"m",${chat},"x":[1 2]}`, 'invalid_json', undefined],
    ['bytes that are not UTF-8', Buffer.from([0x7b, 0xff, 0x7d]), 'invalid_json', undefined],
    [
      'deep nesting',
      `{"model":"m",${chat},"x":${'['.repeat(300)}${']'.repeat(300)}}`,
      'invalid_json',
      undefined,
    ],
    ['endless fields', `{${'"model":"m",'.repeat(2_000)}${chat}}`, 'invalid_request', null],
    [
      'broken stream options in a large body',
      `{"model":"m","stream":true,"stream_options":{"a":"${'\\x'.repeat(3_000)}"},${large}}`,
      'invalid_json',
      undefined,
    ],
    ['no model', `{${chat}}`, 'invalid_request', 'model'],
    ['an empty model', `{"model":"",${chat}}`, 'invalid_request', 'model'],
    ['a number for a model', `{"model":1,${chat}}`, 'invalid_request', 'model'],
    ['no messages', '{"model":"m"}', 'invalid_request', 'messages'],
    ['empty messages', '{"model":"m","messages":[]}', 'invalid_request', 'messages'],
    [
      'a message without role',
      '{"model":"m","messages":[{"content":"x"}]}',
      'invalid_request',
      'messages[0].role',
    ],
  ];
  for (const [what, text, code, param] of invalid) {
    it(`refuses ${what} with ${code}`, () => {
      const error = refusal(text);
      assert.equal(error.code, code);
      assert.equal(error.detail.param, param);
    });
  }

  it('wants input of responses and embeddings to be text or a list', () => {
    assert.equal(refusal('{"model":"m"}', 'responses').detail.param, 'input');
    assert.equal(refusal('{"model":"m","input":7}', 'embeddings').detail.param, 'input');
    assert.equal(parse(Buffer.from('{"model":"m","input":["a"]}'), 'embeddings').model, 'm');
  });
});

describe('a field that stands twice', () => {
  for (const [size, rest] of [
    ['small', chat],
    ['large', large],
  ]) {
    it(`counts as its last one in a ${size} body`, () => {
      const read = (stream: string) =>
        parse(Buffer.from(`{"model":"m",${stream},${rest}}`), 'chat').streaming;
      assert.equal(read('"stream":false,"stream":true'), true);
      assert.equal(parse(Buffer.from(`{"model":"a",${rest},"model":"b"}`), 'chat').model, 'b');
      assert.equal(read('"stream":true,"stream":false'), false);
      assert.equal(read(`"stream":true,"stream":"${'x'.repeat(5_000)}"`), false);
    });
  }
});

describe('a large body', () => {
  /** Text of which the given bytes lie around a border between two steps of the check. */
  const around = (middle: Buffer, before: number) =>
    Buffer.concat([
      Buffer.from(`{"model":"m",${chat},"x":"`),
      Buffer.alloc(before, 'a'),
      middle,
      Buffer.alloc(1024 * 1024, 'a'),
      Buffer.from('"}'),
    ]);
  const start = `{"model":"m",${chat},"x":"`.length;

  it('is accepted wherever its characters lie, and refused where one is broken', () => {
    for (const character of ['é', '€', '😀'])
      for (let shift = 1; shift <= 5; shift += 1) {
        const before = 1024 * 1024 - start - shift;
        const whole = Buffer.from(character);
        assert.equal(parse(around(whole, before), 'chat').model, 'm');
        assert.equal(refusal(around(whole.subarray(1), before)).code, 'invalid_json');
        assert.equal(refusal(around(whole.subarray(0, -1), before)).code, 'invalid_json');
      }
  });
});

describe('the body for the upstream', () => {
  const sent = (text: string, askForUsage = false) =>
    Buffer.concat(
      spliceBody(parse(Buffer.from(text), 'chat'), 'up"stream', [askForUsage ? includeUsage : null]),
    ).toString();

  it('replaces the model and nothing else', () => {
    const rest = `, ${chat} ,"big":12345678901234567890,"e":"\\u00e9\\/", "dup":1,"dup":2 }`;
    assert.equal(sent(`{ "model" :\t"lane"${rest}`), `{ "model" :\t"up\\"stream"${rest}`);
  });
  it('copies nothing of a large body', () => {
    const bytes = Buffer.from(`{"model":"a",${large}}`);
    const parts = spliceBody(parse(bytes, 'chat'), 'm', []);
    const copied = parts.filter(({ buffer }) => buffer !== bytes.buffer);
    assert.ok(copied.every(({ length }) => length < 100));
  });
  it('replaces every duplicate, escaped names included', () => {
    assert.equal(
      sent(`{"model":"a",${chat},"mod\\u0065l":"b"}`),
      `{"model":"up\\"stream",${chat},"mod\\u0065l":"up\\"stream"}`,
    );
  });
  it('leaves a model inside another value alone', () => {
    assert.equal(
      sent(`{"model":"a",${chat},"x":{"model":"a"}}`),
      `{"model":"up\\"stream",${chat},"x":{"model":"a"}}`,
    );
  });
  it('asks for usage where a client streams and did not ask itself', () => {
    const { request } = protocols.chat;
    const bodyFor = (settings: string) =>
      Buffer.concat(
        request.forUpstream(finish(request.parse(Buffer.from(`{"model":"a",${chat}${settings}}`))), 'm'),
      ).toString();
    const asked = ',"stream_options":{"include_usage":true}';
    assert.equal(bodyFor(''), `{"model":"m",${chat}}`);
    assert.equal(bodyFor(',"stream":true'), `{"model":"m",${chat},"stream":true${asked}}`);
    assert.equal(bodyFor(`,"stream":true${asked}`), `{"model":"m",${chat},"stream":true${asked}}`);
  });
  it('asks for usage at the end of the object when there is no stream_options', () => {
    assert.equal(
      sent(`{"model":"a",${chat},"stream":true} `, true),
      `{"model":"up\\"stream",${chat},"stream":true,"stream_options":{"include_usage":true}} `,
    );
  });
  it('keeps the other stream options when it asks for usage', () => {
    assert.equal(
      sent(`{"model":"a",${chat},"stream_options":{"x":1,"include_usage":false}}`, true),
      `{"model":"up\\"stream",${chat},"stream_options":{"x":1,"include_usage":true}}`,
    );
    assert.equal(
      sent(`{"model":"a",${chat},"stream_options":null}`, true),
      `{"model":"up\\"stream",${chat},"stream_options":{"include_usage":true}}`,
    );
  });
});
