import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Caller } from '../domain/caller.ts';
import { RelayError } from '../domain/relay-error.ts';
import { Secret } from '../kit/secret.ts';
import { createTokenDoors } from './deployment-tokens.ts';

const doors = createTokenDoors({
  apiToken: new Secret('api-token'),
  adminToken: new Secret('admin-token'),
  organizationId: 'o',
  userId: 'u',
});

function codeOf(open: () => unknown): string {
  try {
    open();
  } catch (error) {
    assert.ok(error instanceof RelayError);
    return error.code;
  }
  return 'opened';
}

describe('deployment tokens', () => {
  it('open their own door, with its scopes and no others', () => {
    const api = doors.inference('Bearer api-token') as Caller;
    const admin = doors.management('bearer admin-token') as Caller;
    assert.deepEqual([...api.scopes], ['relay:request']);
    assert.equal(admin.scopes.has('relay:request'), false);
    assert.equal(admin.scopes.has('relay:providers:manage'), true);
  });
  const refused: [string, string | undefined, string][] = [
    ['nothing', undefined, 'missing_api_key'],
    ['an empty header', '', 'missing_api_key'],
    ['another scheme', 'Basic api-token', 'missing_api_key'],
    ['no value', 'Bearer ', 'missing_api_key'],
    ['two values', 'Bearer api-token x', 'missing_api_key'],
    ['the other token', 'Bearer admin-token', 'invalid_api_key'],
    ['a prefix of the token', 'Bearer api-toke', 'invalid_api_key'],
    ['the token and more', 'Bearer api-tokenx', 'invalid_api_key'],
  ];
  for (const [what, value, code] of refused) {
    it(`refuse ${what} with ${code}`, () =>
      assert.equal(
        codeOf(() => doors.inference(value)),
        code,
      ));
  }
});
