import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { responsesToChat } from './responses-to-chat/index.ts';
import { responsesToMessages } from './responses-to-messages/index.ts';

type Case = readonly [name: string, body: unknown, error: unknown];

const chatCases: readonly Case[] = [
  [
    'an error as OpenAI writes it stays as it is',
    { error: { message: 'No', type: 'invalid_request_error', param: 'x', code: 'bad_x' } },
    { message: 'No', type: 'invalid_request_error', param: 'x', code: 'bad_x' },
  ],
  [
    'a prompt that does not fit has the code that agents look for',
    {
      error: {
        message: "This model's maximum context length is 8 tokens.",
        type: 'BadRequestError',
        code: null,
      },
    },
    {
      message: "This model's maximum context length is 8 tokens.",
      type: 'BadRequestError',
      param: null,
      code: 'context_length_exceeded',
    },
  ],
  [
    'a text in place of the object',
    { error: 'Oh' },
    { message: 'Oh', type: 'server_error', param: null, code: 'server_error' },
  ],
];

const messagesCases: readonly Case[] = [
  [
    'an overloaded provider',
    { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' }, request_id: 'r' },
    { message: 'Overloaded', type: 'server_error', param: null, code: 'server_is_overloaded' },
  ],
  [
    'a rate limit',
    { type: 'error', error: { type: 'rate_limit_error', message: 'Slow down' } },
    { message: 'Slow down', type: 'rate_limit_error', param: null, code: 'rate_limit_exceeded' },
  ],
  [
    'a prompt that does not fit',
    {
      type: 'error',
      error: { type: 'invalid_request_error', message: 'prompt is too long: 9 tokens > 8 maximum' },
    },
    {
      message: 'prompt is too long: 9 tokens > 8 maximum',
      type: 'invalid_request_error',
      param: null,
      code: 'context_length_exceeded',
    },
  ],
];

describe('an error body for a Responses client', () => {
  for (const [name, body, error] of chatCases)
    it(`of chat completions: ${name}`, () => assert.deepEqual(responsesToChat.error(body, 400), { error }));
  for (const [name, body, error] of messagesCases)
    it(`of Messages: ${name}`, () => assert.deepEqual(responsesToMessages.error(body, 400), { error }));

  it('is none where the body has no such shape', () => {
    for (const body of [null, 'Oh', {}, { error: {} }, []]) {
      assert.equal(responsesToChat.error(body, 502), null);
      assert.equal(responsesToMessages.error(body, 502), null);
    }
  });
});
