import assert from 'node:assert/strict';
import type { IncomingMessage } from 'node:http';
import { describe, it } from 'node:test';
import type { Caller } from '../domain/caller.ts';
import { RelayError } from '../domain/relay-error.ts';
import { Secret } from '../kit/secret.ts';
import { type AuthenticatorsDeps, createAuthenticators } from './authenticators.ts';
import { createTokenAuthenticators } from './deployment-tokens.ts';

const token = (value: string) => ({ value: new Secret(value), earlier: [], onEarlier: () => undefined });
const tokens = createTokenAuthenticators({
  apiToken: token('api-token'),
  adminToken: token('admin-token'),
  organizationId: 'o',
  userId: 'u',
});

function caller(kind: Caller['kind']): Caller {
  const access = { granted: null, permissions: new Set<never>(), plan: 'team' } as const;
  const ids = { organizationId: 'o', userId: 'u', keyId: null, sessionId: null };
  return { ...ids, kind, scopes: new Set(), access, keyPolicies: [] };
}

const keysAndSessions = {
  userKey: async () => caller('user_key'),
  session: async () => caller('session'),
};
const modes: Record<string, AuthenticatorsDeps> = {
  'self-hosted': { tokens, ...keysAndSessions },
  hosted: { tokens: null, ...keysAndSessions },
};

const SESSION = 'theme=dark; relay_session=abc';

type Plane = 'inference' | 'management';
interface Case {
  readonly what: string;
  readonly authorization?: string;
  readonly cookie?: string;
  /** By mode: the kind of caller, or the error code; the same on both APIs unless both are named. */
  readonly answers: readonly [string | [string, string], string | [string, string]];
}

const cases: Case[] = [
  { what: 'nothing', answers: ['missing_api_key', 'missing_api_key'] },
  {
    what: 'an empty header',
    authorization: '',
    answers: ['missing_api_key', 'missing_api_key'],
  },
  {
    what: 'another scheme',
    authorization: 'Basic api-token',
    answers: ['missing_api_key', 'missing_api_key'],
  },
  {
    what: 'no value',
    authorization: 'Bearer ',
    answers: ['missing_api_key', 'missing_api_key'],
  },
  {
    what: 'two values',
    authorization: 'Bearer api-token x',
    answers: ['missing_api_key', 'missing_api_key'],
  },
  {
    what: 'the API token',
    authorization: 'Bearer api-token',
    answers: [['api_token', 'invalid_api_key'], 'invalid_api_key'],
  },
  {
    what: 'the admin token, in another spelling of the scheme',
    authorization: 'bearer admin-token',
    answers: [['invalid_api_key', 'admin_token'], 'invalid_api_key'],
  },
  {
    what: 'a prefix of the token',
    authorization: 'Bearer api-toke',
    answers: ['invalid_api_key', 'invalid_api_key'],
  },
  {
    what: 'something of the form of a key',
    authorization: 'Bearer rly_x',
    answers: ['user_key', 'user_key'],
  },
  { what: 'a session', cookie: SESSION, answers: ['session', 'session'] },
  {
    what: 'a cookie of another name',
    cookie: 'not_relay_session=abc; relay_sessions=x',
    answers: ['missing_api_key', 'missing_api_key'],
  },
  {
    what: 'a key beside a session: the key wins',
    authorization: 'Bearer rly_x',
    cookie: SESSION,
    answers: ['user_key', 'user_key'],
  },
  {
    what: 'a wrong key beside a session: the key wins all the same',
    authorization: 'Bearer wrong',
    cookie: SESSION,
    answers: ['invalid_api_key', 'invalid_api_key'],
  },
  {
    what: 'another scheme beside a session',
    authorization: 'Basic x',
    cookie: SESSION,
    answers: ['missing_api_key', 'missing_api_key'],
  },
];

async function answerOf(
  mode: AuthenticatorsDeps,
  plane: Plane,
  { authorization, cookie }: Case,
): Promise<string> {
  return codeOrKind(mode, plane, { headers: { authorization, cookie } } as IncomingMessage);
}

async function codeOrKind(mode: AuthenticatorsDeps, plane: Plane, request: IncomingMessage): Promise<string> {
  try {
    return (await createAuthenticators(mode)[plane](request)).kind;
  } catch (error) {
    assert.ok(error instanceof RelayError);
    return error.code;
  }
}

describe('authenticators', () => {
  for (const [index, [name, mode]] of Object.entries(modes).entries()) {
    for (const each of cases) {
      it(`${name}: ${each.what}`, async () => {
        const expected = each.answers[index] ?? '';
        const found = [await answerOf(mode, 'inference', each), await answerOf(mode, 'management', each)];
        assert.deepEqual(found, typeof expected === 'string' ? [expected, expected] : expected);
      });
    }
  }

  it('answer a token synchronously, because it needs no lookup', () => {
    const request = { headers: { authorization: 'Bearer api-token' } } as IncomingMessage;
    assert.equal(
      (createAuthenticators(modes['self-hosted'] as AuthenticatorsDeps).inference(request) as Caller).kind,
      'api_token',
    );
  });

  const messageOf = (mode: string, authorization?: string) => {
    try {
      void createAuthenticators(modes[mode] as AuthenticatorsDeps).inference({
        headers: { authorization },
      } as IncomingMessage);
    } catch (error) {
      return (error as Error).message;
    }
    return '';
  };
  for (const sent of [undefined, 'Bearer wrong']) {
    it(`name what is wanted when ${sent ?? 'nothing'} was sent`, () => {
      assert.match(
        messageOf('self-hosted', sent),
        /API key, which begins with rly_, or the value of RELAY_API_TOKEN/,
      );
      assert.match(messageOf('hosted', sent), /API key, which begins with rly_/);
      assert.doesNotMatch(messageOf('hosted', sent), /TOKEN/);
    });
  }

  describe('a key in x-api-key', () => {
    const accounts = modes['self-hosted'] as AuthenticatorsDeps;
    const opens = (url: string, headers: Record<string, string>, plane: Plane = 'inference') =>
      codeOrKind(accounts, plane, { url, headers } as unknown as IncomingMessage);

    it('opens Messages, whose clients send it there', async () => {
      assert.equal(await opens('/v1/messages', { 'x-api-key': 'rly_x' }), 'user_key');
      assert.equal(await opens('/v1/messages?beta=true', { 'x-api-key': 'api-token' }), 'api_token');
      assert.equal(await opens('/v1/messages', { 'x-api-key': 'wrong' }), 'invalid_api_key');
      assert.equal(await opens('/v1/messages', { 'x-api-key': '' }), 'missing_api_key');
    });

    it('opens what is below Messages, and the models for clients that name a version', async () => {
      const key = { 'x-api-key': 'rly_x' };
      assert.equal(await opens('/v1/messages/count_tokens', key), 'user_key');
      for (const url of ['/v1/models', '/v1/models/a%2Fb?x=y'])
        assert.equal(await opens(url, { ...key, 'anthropic-version': '2023-06-01' }), 'user_key', url);
      const management = await opens(
        '/v1/models',
        { ...key, 'anthropic-version': '2023-06-01' },
        'management',
      );
      assert.equal(management, 'missing_api_key');
    });

    it('opens nothing else', async () => {
      for (const url of ['/v1/chat/completions', '/v1/models', '/v1/messages/other', '/v1'])
        assert.equal(await opens(url, { 'x-api-key': 'rly_x' }), 'missing_api_key', url);
      assert.equal(
        await opens('/v1/messages', { 'x-api-key': 'admin-token' }, 'management'),
        'missing_api_key',
      );
    });

    it('is not looked at beside Authorization, valid or not', async () => {
      const both = (authorization: string, key: string) =>
        opens('/v1/messages', { authorization, 'x-api-key': key });
      assert.equal(await both('Bearer api-token', 'rly_x'), 'api_token');
      assert.equal(await both('Bearer api-token', 'wrong'), 'api_token');
      assert.equal(await both('Bearer wrong', 'api-token'), 'invalid_api_key');
      assert.equal(await both('Basic x', 'api-token'), 'missing_api_key');
    });

    it('wins over a session', async () => {
      const cookie = SESSION;
      assert.equal(await opens('/v1/messages', { cookie, 'x-api-key': 'api-token' }), 'api_token');
      assert.equal(await opens('/v1/messages', { cookie, 'x-api-key': 'wrong' }), 'invalid_api_key');
      assert.equal(await opens('/v1/messages', { cookie }), 'session');
    });
  });
});
