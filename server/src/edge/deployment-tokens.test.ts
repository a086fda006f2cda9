import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Secret } from '../kit/secret.ts';
import { createTokenAuthenticators } from './deployment-tokens.ts';

let earlierUses = 0;
const token = (value: string, ...earlier: string[]) => ({
  value: new Secret(value),
  earlier: earlier.map((each) => new Secret(each)),
  onEarlier() {
    earlierUses += 1;
  },
});
const authenticators = createTokenAuthenticators({
  apiToken: token('api-token', 'earlier-api-token'),
  adminToken: token('admin-token', 'earlier-admin-token'),
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
  it('authenticate with an earlier value too, which is noted', () => {
    earlierUses = 0;
    assert.equal(authenticators.inference.open('api-token')?.kind, 'api_token');
    assert.equal(earlierUses, 0);
    assert.equal(authenticators.inference.open('earlier-api-token')?.kind, 'api_token');
    assert.equal(authenticators.inference.open('earlier-admin-token'), null);
    assert.equal(earlierUses, 1);
  });
  it('do not authenticate at the other API', () =>
    assert.equal(authenticators.management.open('api-token'), null));
});
