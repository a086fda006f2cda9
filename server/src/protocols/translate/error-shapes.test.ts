import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { chatToMessages } from './chat-to-messages/index.ts';
import { chatError, messagesError } from './error-shapes.ts';
import { messagesToChat } from './messages-to-chat/index.ts';

const CHAT_ERROR = { error: { message: 'No.', type: 'whatever', param: null, code: 'some_code' } };

describe('a chat provider’s error for a client of Messages', () => {
  const types: readonly (readonly [status: number, type: string])[] = [
    [400, 'invalid_request_error'],
    [401, 'authentication_error'],
    [402, 'billing_error'],
    [403, 'permission_error'],
    [404, 'not_found_error'],
    [409, 'conflict_error'],
    [413, 'request_too_large'],
    [422, 'invalid_request_error'],
    [429, 'rate_limit_error'],
    [500, 'api_error'],
    [502, 'api_error'],
    [503, 'overloaded_error'],
    [504, 'timeout_error'],
    [529, 'overloaded_error'],
  ];
  for (const [status, type] of types)
    it(`${status} is ${type}`, () => {
      const wanted = { type: 'error', error: { type, message: 'No.' } };
      assert.deepEqual(messagesToChat.error(CHAT_ERROR, status), wanted);
    });

  it('an error that is a text keeps its text', () => {
    const wanted = { type: 'error', error: { type: 'not_found_error', message: 'model not found' } };
    assert.deepEqual(messagesToChat.error({ error: 'model not found' }, 404), wanted);
  });

  it('a body of another shape is passed on', () => {
    for (const body of [null, 'x', [], {}, { error: {} }, { detail: 'x' }])
      assert.equal(messagesToChat.error(body, 500), null);
  });
});

describe('a Messages provider’s error for a client of chat completions', () => {
  const types: readonly (readonly [given: string, wanted: string])[] = [
    ['invalid_request_error', 'invalid_request_error'],
    ['authentication_error', 'authentication_error'],
    ['rate_limit_error', 'rate_limit_error'],
    ['overloaded_error', 'overloaded_error'],
    ['timeout_error', 'timeout'],
    ['api_error', 'server_error'],
    ['billing_error', 'billing_error'],
  ];
  for (const [type, wanted] of types)
    it(`${type} is ${wanted}, and its code keeps the provider's word`, () => {
      const body = { type: 'error', error: { type, message: 'No.' }, request_id: 'req_011' };
      assert.deepEqual(chatToMessages.error(body, 400), {
        error: { message: 'No.', type: wanted, param: null, code: type },
      });
    });

  it('a body of another shape is passed on', () => {
    for (const body of [null, 'x', [], {}, { error: 'x' }, { type: 'error', error: {} }])
      assert.equal(chatToMessages.error(body, 500), null);
  });
});

describe('an error in a stream', () => {
  it('has a type that Messages have', () => {
    for (const [type, wanted] of [
      ['server_error', 'api_error'],
      ['rate_limit_exceeded', 'rate_limit_error'],
      ['insufficient_quota', 'rate_limit_error'],
      ['overloaded_error', 'overloaded_error'],
      ['billing_error', 'billing_error'],
      ['something_else', 'api_error'],
    ] as const)
      assert.deepEqual(messagesError({ type, message: 'm' }), {
        type: 'error',
        error: { type: wanted, message: 'm' },
      });
  });

  it('keeps its word for a chat', () => {
    const wanted = { error: { message: 'm', type: 'something_else', param: null, code: 'something_else' } };
    assert.deepEqual(chatError({ type: 'something_else', message: 'm' }), wanted);
  });
});
