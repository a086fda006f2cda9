import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Secret } from '../kit/secret.ts';
import { createTokenAuthenticators } from './deployment-tokens.ts';

const authenticators = createTokenAuthenticators({
  apiToken: new Secret('api-token'),
  adminToken: new Secret('admin-token'),
  organizationId: 'o',
  userId: 'u',
});

describe('deployment tokens', () => {
  it('authenticate at their own API, with its scopes only', () => {
    const api = authenticators.inference.open('api-token');
    const admin = authenticators.management.open('admin-token');
    assert.deepEqual([...(api?.scopes ?? [])], ['relay:request']);
    assert.equal(admin?.scopes.has('relay:request'), false);
    assert.equal(admin?.scopes.has('relay:providers:manage'), true);
    assert.deepEqual([api?.kind, admin?.kind], ['api_token', 'admin_token']);
  });
  const refused = ['', 'admin-token', 'api-toke', 'api-tokenx', 'API-TOKEN', 'rly_api-token'];
  for (const value of refused) {
    it(`are not opened by ${value === '' ? 'nothing' : value}`, () =>
      assert.equal(authenticators.inference.open(value), null));
  }
  it('do not authenticate at the other API', () =>
    assert.equal(authenticators.management.open('api-token'), null));
});
