import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type ReceivedResponse, requireContract, responseFaults } from './response-faults.ts';

const ID = '0198c0de-0000-7000-8000-000000000001';
const team = {
  id: ID,
  name: 'A',
  slug: 'a',
  kind: 'team',
  parent_id: null,
  created_at: '2026-01-01T00:00:00.000Z',
};

const key = {
  ...{
    id: ID,
    user_uuid: ID,
    name: 'A',
    key_prefix: 'rly',
    product_key: 'model_relay',
    scopes: [],
    labels: {},
  },
  ...{ status: 'active', created_at: '2026-01-01T00:00:00.000Z', first_used_at: null, last_used_at: null },
  ...{ expires_at: null, revoked_at: null, team_id: null, etag: '"1"' },
};

function received(body: unknown, more: Partial<ReceivedResponse> = {}): ReceivedResponse {
  return {
    method: 'GET',
    path: `/api/relay/teams/${ID}?x=1`,
    status: 200,
    headers: new Headers({ 'content-type': 'application/json; charset=utf-8', 'x-request-id': ID }),
    text: typeof body === 'string' ? body : JSON.stringify(body),
    ...more,
  };
}

const error = {
  type: 'invalid_request_error',
  code: 'not_found',
  message: 'There is no such team.',
  param: null,
  request_id: ID,
  doc_url: 'http://localhost/docs/errors/not_found',
};

function refusal(change: object, status = 404, headers: Record<string, string> = {}): ReceivedResponse {
  const all = {
    'content-type': 'application/json',
    'x-request-id': ID,
    'x-relay-error-source': 'relay',
    'cache-control': 'no-store',
    ...headers,
  };
  return received({ error: { ...error, ...change } }, { status, headers: new Headers(all) });
}

describe('the judge of every response', () => {
  it('finds nothing in responses of the contract', () => {
    assert.deepEqual(responseFaults(received(team)), []);
    assert.deepEqual(responseFaults(refusal({})), []);
    const empty = { method: 'DELETE', status: 204, headers: new Headers({ 'x-request-id': ID }) };
    assert.deepEqual(responseFaults(received('', empty)), []);
    const readiness = { path: '/console/', status: 200, headers: new Headers() };
    assert.deepEqual(responseFaults(received('<html>', readiness)), []);
  });

  const deviations: readonly (readonly [what: string, response: ReceivedResponse, says: RegExp])[] = [
    ['another status of success', received(team, { status: 201 }), /the contract has no 201/],
    ['a field that is missing', received({ ...team, slug: undefined }), /body\.slug: slug is required/],
    ['a field that is not documented', received({ ...team, secret: 'x' }), /body\.secret: unknown field/],
    ['an integer in place of a text', received({ ...team, name: 7 }), /body\.name/],
    ['a word that is not in the list', received({ ...team, kind: 'clan' }), /body\.kind/],
    ['an ID of another kind', received({ ...team, id: '7' }), /body\.id is 7/],
    ['an ID of another version', received({ ...team, parent_id: ID.replace('-7', '-4') }), /parent_id/],
    ['a time without milliseconds', received({ ...team, created_at: '2026-01-01T00:00:00Z' }), /created_at/],
    ['text that is no JSON', received('{'), /not JSON/],
    ['a missing body', received('', { status: 204 }), /without a body is application\/json/],
    [
      'another content type',
      received(team, { headers: new Headers({ 'x-request-id': ID }) }),
      /content type/,
    ],
    ['a missing request ID', received(team, { headers: new Headers() }), /x-request-id/],
    ['an unknown error', refusal({ code: 'surprise' }), /body\.error\.code/],
    ['an error of other routes', refusal({ code: 'body_too_large' }, 413), /not an error of getTeam/],
    ['a status that the code does not have', refusal({}, 400), /not_found has the status 404/],
    ['an internal error', refusal({ code: 'internal_error' }, 500), /the service has failed/],
    ['an error about another request', refusal({ request_id: 'x' }), /names another request/],
    ['an error with another page', refusal({ doc_url: 'http://localhost/docs' }), /doc_url/],
    ['an error that may be stored', refusal({}, 404, { 'cache-control': 'private' }), /store the error/],
    [
      'a secret that may be stored',
      received({ api_key: 'rly_x', key }, { method: 'POST', path: '/api/account/api-keys', status: 201 }),
      /store the secret/,
    ],
    ['a 401 without a challenge', refusal({ code: 'invalid_api_key' }, 401), /how to authenticate/],
    ['an error without a source', refusal({}, 404, { 'x-relay-error-source': '' }), /no source/],
    [
      'the words of a provider on a route of Relay’s own',
      refusal({}, 404, { 'x-relay-error-source': 'upstream' }),
      /a provider’s response/,
    ],
  ];
  for (const [what, response, says] of deviations)
    it(`finds ${what}`, () => assert.match(responseFaults(response).join('\n'), says));

  it('names route, status and place in the failure of the test', () => {
    assert.throws(
      () => requireContract(received({ ...team, name: 7 })),
      /^Error: GET \/api\/relay\/teams\/.+ answered 200 off the contract:\n {2}body\.name: name must be a string/,
    );
  });
});
