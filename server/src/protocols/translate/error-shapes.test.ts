import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Operation } from '@relay/contract';
import { chatError, errorBody, messagesError } from './error-shapes.ts';
import { failureOfBody } from './provider-failure.ts';

const CLIENTS = ['chat', 'responses', 'messages'] as const;
const IN_STREAM = { status: null, requestId: 'r' };

function said(client: Operation, body: unknown, status = 400): unknown {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return errorBody(client, failureOfBody(text, status), { status, requestId: 'req_1' });
}

describe('an error for a client of Messages', () => {
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
      const given = { error: { message: 'No.', type: 'whatever', param: null, code: 'some_code' } };
      const wanted = { type: 'error', error: { type, message: 'No.' }, request_id: 'req_1' };
      assert.deepEqual(said('messages', given, status), wanted);
    });
});

describe('an error for a client of chat completions', () => {
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
    it(`${type} is ${wanted}, and its code keeps the provider’s word`, () => {
      const body = { type: 'error', error: { type, message: 'No.' }, request_id: 'req_011' };
      assert.deepEqual(said('chat', body), {
        error: { message: 'No.', type: wanted, param: null, code: type },
      });
    });
});

describe('an error for a client of Responses', () => {
  it('stays as it is where OpenAI wrote it', () => {
    const error = { message: 'No', type: 'invalid_request_error', param: 'x', code: 'bad_x' };
    assert.deepEqual(said('responses', { error }), { error });
  });

  for (const [type, wanted, code] of [
    ['overloaded_error', 'server_error', 'server_is_overloaded'],
    ['rate_limit_error', 'rate_limit_error', 'rate_limit_exceeded'],
    ['api_error', 'server_error', 'server_error'],
  ] as const)
    it(`has for ${type} the code that agents look for`, () => {
      const body = { type: 'error', error: { type, message: 'Oh' }, request_id: 'r' };
      assert.deepEqual(said('responses', body, 503), {
        error: { message: 'Oh', type: wanted, param: null, code },
      });
    });
});

describe('an error in a shape of its own', () => {
  const page =
    '<html><head><title>502</title><style>p{}</style></head><body><h1>Bad Gateway</h1></body></html>';
  const bodies: readonly (readonly [name: string, body: unknown, message: string | RegExp])[] = [
    ['Gemini’s list', [{ error: { code: 400, message: 'No.', status: 'INVALID_ARGUMENT' } }], 'No.'],
    ['vLLM’s object', { object: 'error', message: 'No.', type: 'BadRequestError', code: 400 }, 'No.'],
    ['FastAPI’s text', { detail: 'Not Found' }, 'Not Found'],
    [
      'FastAPI’s list',
      { detail: [{ loc: ['body', 'n'], msg: 'required', type: 'missing' }] },
      'body.n: required',
    ],
    ['TGI’s text', { error: 'Input validation error', error_type: 'validation' }, 'Input validation error'],
    [
      'a router’s cause',
      { error: { message: 'Provider returned error', code: 400, metadata: { raw: 'Too hot' } } },
      'Provider returned error: Too hot',
    ],
    ['a cloud’s message', { statusCode: 400, message: 'No.' }, 'No.'],
    ['an unknown object', { oh: 'no' }, '{"oh":"no"}'],
    ['a page', page, '502 Bad Gateway'],
    ['a frame of a stream', 'data: {"error":{"message":"No."}}\n\n', 'No.'],
    ['a text', 'upstream connect error', 'upstream connect error'],
    ['nothing', '', 'The provider responded with status 400 and no message.'],
    ['an error of null', { error: null }, '{"error":null}'],
    ['a very long text', 'x'.repeat(100_000), /^x{999}…$/],
  ];
  for (const [name, body, message] of bodies)
    it(`of ${name} has its message in the client’s shape, and a type that follows the status`, () => {
      for (const client of CLIENTS) {
        const { error } = said(client, body) as { error: { message: string; type: string } };
        if (typeof message === 'string') assert.equal(error.message, message);
        else assert.match(error.message, message);
        if (!/vLLM/.test(name)) assert.equal(error.type, 'invalid_request_error');
      }
    });
});

describe('a prompt that does not fit', () => {
  const words = [
    'prompt is too long: 9 tokens > 8 maximum',
    "This model's maximum context length is 8 tokens. However, you requested 9 tokens.",
    'input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000',
    'The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).',
    'Prompt contains 40000 tokens, too large for model with 32768 maximum context length',
    'Please reduce the length of the messages or completion.',
    'Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. Given: 5000',
    'the request exceeds the available context size, try increasing it',
    "This model's maximum prompt length is 131072 but the request contains 200000 tokens.",
    'Input is too long for requested model.',
    'Invalid request: Your request exceeded model token limit: 131072',
    'The prompt (total length 5000) is longer than the maximum model length of 4096',
  ];
  for (const message of words)
    it(`is recognised by agents: ${message}`, () => {
      const given = { error: { message, type: 'BadRequestError', code: null } };
      for (const client of ['chat', 'responses'] as const)
        assert.equal(
          (said(client, given) as { error: { code: string } }).error.code,
          'context_length_exceeded',
        );
      const { error } = said('messages', given, 422) as { error: { type: string; message: string } };
      assert.equal(error.type, 'invalid_request_error');
      assert.match(error.message, /prompt is too long/);
    });

  it('is told from a rate limit on tokens', () => {
    const message =
      'Request too large for gpt-6 on tokens per min (TPM). Please reduce the length of the messages.';
    const given = { error: { message, type: 'tokens', code: 'rate_limit_exceeded' } };
    assert.equal((said('chat', given, 429) as { error: { code: string } }).error.code, 'rate_limit_exceeded');
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
      assert.deepEqual(messagesError({ type, message: 'm' }, IN_STREAM), {
        type: 'error',
        error: { type: wanted, message: 'm' },
        request_id: 'r',
      });
  });

  it('keeps its word for a chat', () => {
    const wanted = { error: { message: 'm', type: 'something_else', param: null, code: 'something_else' } };
    assert.deepEqual(chatError({ type: 'something_else', message: 'm' }, null), wanted);
  });
});
