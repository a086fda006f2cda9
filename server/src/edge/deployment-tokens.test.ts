import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Secret } from '../kit/secret.ts';
import { createTokenAuthenticators } from './deployment-tokens.ts';

const doors = createTokenAuthenticators({
  apiToken: new Secret('api-token'),
  adminToken: new Secret('admin-token'),
  organizationId: 'o',
  userId: 'u',
});

describe('deployment tokens', () => {
  it('open their own door, with its scopes and no others', () => {
    const api = doors.inference.open('api-token');
    const admin = doors.management.open('admin-token');
    assert.deepEqual([...(api?.scopes ?? [])], ['relay:request']);
    assert.equal(admin?.scopes.has('relay:request'), false);
    assert.equal(admin?.scopes.has('relay:providers:manage'), true);
    assert.deepEqual([api?.kind, admin?.kind], ['api_token', 'admin_token']);
  });
  const refused = ['', 'admin-token', 'api-toke', 'api-tokenx', 'API-TOKEN', 'rly_api-token'];
  for (const value of refused) {
    it(`are not opened by ${value === '' ? 'nothing' : value}`, () =>
      assert.equal(doors.inference.open(value), null));
  }
  it('do not open the door of the other', () => assert.equal(doors.management.open('api-token'), null));
});
