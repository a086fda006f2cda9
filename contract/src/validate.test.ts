import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { TSchema } from 'typebox';
import { Check } from 'typebox/value';
import { coerceQuery, queryIssues } from './query.ts';
import {
  ApiKeyCreate,
  ChatCompletionRequest,
  EmbeddingsRequest,
  GuardrailBindingsUpdate,
  LimitPolicyCreate,
  MembershipCreate,
  ProviderCreate,
  RequestLogQuery,
  SsoCallbackQuery,
} from './resources/index.ts';
import { allRoutes } from './routes.ts';
import { PageQuery } from './schema.ts';
import { compileValidator } from './validate.ts';

function issuesOf(schema: Parameters<typeof compileValidator>[0], value: unknown): string[] {
  const result = compileValidator(schema)(value);
  return result.ok ? [] : result.issues.map((issue) => issue.message);
}

const membership = { lane_id: 'l', endpoint_id: 'e', manual_rank: 1, enabled: true };

describe('validation messages name the field and the fix', () => {
  it('a valid body has no issues', () => {
    assert.deepEqual(issuesOf(MembershipCreate, membership), []);
  });

  it('a missing field is required', () => {
    assert.deepEqual(issuesOf(ProviderCreate, { base_url: 'https://api.example/v1' }), ['name is required']);
  });

  it('a wrong type says the right one', () => {
    const [message] = issuesOf(MembershipCreate, { ...membership, manual_rank: '1' });
    assert.match(message ?? '', /^manual_rank must be an integer/);
    assert.deepEqual(issuesOf(MembershipCreate, { ...membership, enabled: 'yes' }), [
      'enabled must be true or false',
    ]);
  });

  it('an unknown field is named beside the known ones', () => {
    assert.deepEqual(issuesOf(MembershipCreate, { ...membership, rank: 1 }), [
      'unknown field rank; known fields are lane_id, endpoint_id, manual_rank, enabled',
    ]);
  });

  it('a value outside a set lists the set', () => {
    const policy = { scope_type: 'global', metric: 'request', period: 'minute', limit_value: 5 };
    assert.deepEqual(issuesOf(LimitPolicyCreate, policy), [
      'metric must be one of requests, tokens, spend, concurrency',
    ]);
  });

  it('a number above its maximum names the maximum, also the largest that JSON holds exactly', () => {
    const limit = { scope_type: 'global', metric: 'tokens', period: 'day', limit_value: 2 ** 53 };
    assert.deepEqual(issuesOf(LimitPolicyCreate, limit), [
      'limit_value must be an integer from 0 to 9,007,199,254,740,991',
    ]);
    assert.deepEqual(issuesOf(LimitPolicyCreate, { ...limit, limit_value: -1 }), [
      'limit_value must be an integer of 0 or more',
    ]);
  });

  it('a name has a visible character and no white space at its ends', () => {
    const named = (name: string) =>
      issuesOf(ProviderCreate, { name, base_url: 'https://api.example.com/v1', auth_mode: 'none' });
    for (const name of ['a', 'a b', 'Team ❤️', '東京', 'a\u200b', 'x\ty'])
      assert.deepEqual(named(name), [], name);
    for (const name of [' a', 'a ', '\ta', 'a\n', 'a\u00a0', ' ', '', '\u200b', '\u200ba', '\u3000a'])
      assert.deepEqual(
        named(name),
        [
          'name must be a string of 1 to 200 characters that begins with a visible one and has no white space at its end',
        ],
        JSON.stringify(name),
      );
    // A pattern that takes quadratic time would need half a minute.
    assert.equal(named(`${'a'.repeat(100_000)} `).length, 1);
  });

  it('a nullable field says so', () => {
    const body = { name: 'k', scopes: ['relay:request'], expires_at: 'tomorrow' };
    assert.deepEqual(issuesOf(ApiKeyCreate, body), [
      'expires_at must be a timestamp such as 2026-01-31T12:00:00.000Z or null',
    ]);
  });

  it('a fault deep inside has its whole path', () => {
    const value = { bindings: [{ target_type: 'global' }, { target_type: 'planet' }] };
    const result = compileValidator(GuardrailBindingsUpdate)(value);
    assert.deepEqual(result, {
      ok: false,
      issues: [
        {
          path: 'bindings[1].target_type',
          message: 'bindings[1].target_type must be one of global, lane, provider, endpoint',
        },
      ],
    });
  });

  it('an unknown field deep inside has its whole path', () => {
    const value = { bindings: [{ target_type: 'global', colour: 'red' }] };
    const result = compileValidator(GuardrailBindingsUpdate)(value);
    assert.deepEqual(result.ok ? [] : result.issues.map(({ path }) => path), ['bindings[0].colour']);
  });

  it('reports a body that is not an object', () => {
    for (const value of [null, [], 'x', 1]) {
      assert.deepEqual(issuesOf(MembershipCreate, value), ['the body must be an object']);
    }
  });

  it('a URL must be http or https', () => {
    for (const base_url of ['ftp://x', 'x', 'javascript:alert(1)']) {
      assert.deepEqual(issuesOf(ProviderCreate, { name: 'n', base_url }), [
        'base_url must be an http or https URL',
      ]);
    }
  });

  it('a flood of faults is cut to a readable list', () => {
    const flood = Object.fromEntries(Array.from({ length: 1000 }, (_, index) => [`f${index}`, 1]));
    assert.equal(issuesOf(MembershipCreate, flood).length, 20);
  });
});

describe('inference bodies', () => {
  it('pass unknown fields and every form of content', () => {
    const messages = [
      { role: 'user', content: 'hi', name: 'x' },
      { role: 'user', content: [{ type: 'text', text: 'hi' }] },
      { role: 'assistant', content: null, tool_calls: [] },
      { role: 'assistant', tool_calls: [] },
    ];
    assert.deepEqual(issuesOf(ChatCompletionRequest, { model: 'm', messages, vendor: { a: 1 } }), []);
  });

  it('need a model and at least one message with a role', () => {
    assert.deepEqual(issuesOf(ChatCompletionRequest, { messages: [] }), [
      'model is required',
      'messages must have at least 1 item',
    ]);
    assert.deepEqual(issuesOf(ChatCompletionRequest, { model: 'm', messages: [{ content: 'hi' }] }), [
      'messages[0].role is required',
    ]);
  });

  it('take input as text or as an array', () => {
    assert.deepEqual(issuesOf(EmbeddingsRequest, { model: 'm', input: 'a' }), []);
    assert.deepEqual(issuesOf(EmbeddingsRequest, { model: 'm', input: [1, 2] }), []);
    assert.deepEqual(issuesOf(EmbeddingsRequest, { model: 'm', input: 5 }), [
      'input must be a string or an array',
    ]);
  });
});

describe('the words agree with the check', () => {
  it('any JSON value gets issues exactly when the schema refuses it, for every body', () => {
    const bodies = allRoutes.flatMap((route) => (route.body === undefined ? [] : [route.body]));
    const validators = bodies.map((body) => ({ body, validate: compileValidator(body) }));
    fc.assert(
      fc.property(fc.constantFrom(...validators), fc.jsonValue(), ({ body, validate }, value) => {
        const result = validate(value);
        assert.equal(result.ok, Check(body, value));
        if (!result.ok) assert.ok(result.issues.every((issue) => issue.message.length > 0));
      }),
    );
  });

  it('one wrong field in an else valid body is the one field named', () => {
    const wrong = fc.jsonValue().filter((value) => !Number.isInteger(value));
    fc.assert(
      fc.property(wrong, (manual_rank) => {
        const result = compileValidator(MembershipCreate)({ ...membership, manual_rank });
        assert.deepEqual(result.ok ? [] : result.issues.map((issue) => issue.path), ['manual_rank']);
      }),
    );
  });
});

describe('coerceQuery', () => {
  it('turns integers and keeps text', () => {
    const search = new URLSearchParams('limit=20&state=failed&model=42');
    assert.deepEqual(coerceQuery(RequestLogQuery, search), { limit: 20, state: 'failed', model: '42' });
    assert.deepEqual(queryIssues(RequestLogQuery, search), []);
  });

  it('reports what is unknown and what is repeated, unless another system adds to the query', () => {
    const search = new URLSearchParams('limit=10&limit=20&zzz=1&__proto__=1');
    const paths = (schema?: TSchema) => queryIssues(schema, search).map(({ path }) => path);
    assert.deepEqual(paths(RequestLogQuery), ['limit', 'zzz', '__proto__']);
    assert.deepEqual(paths(undefined), ['limit', 'zzz', '__proto__']);
    assert.deepEqual(paths(SsoCallbackQuery), []);
    const many = new URLSearchParams(Array.from({ length: 100 }, (_, index) => `p${index}=1`).join('&'));
    assert.equal(queryIssues(PageQuery, many).length, 20);
    assert.match(
      queryIssues(PageQuery, many)[0]?.message ?? '',
      /^Unknown query parameter p0; .* limit, cursor$/,
    );
  });

  it('leaves an invalid integer for the validator to report', () => {
    for (const limit of ['ten', '10abc', '1e2', '10.5', '0x10', ' 10']) {
      const query = coerceQuery(RequestLogQuery, new URLSearchParams({ limit }));
      assert.deepEqual(issuesOf(RequestLogQuery, query), ['limit must be an integer from 1 to 1,000'], limit);
    }
  });
});
