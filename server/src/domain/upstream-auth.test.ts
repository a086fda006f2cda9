import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { EgressRequest } from '../kit/egress/index.ts';
import { Secret } from '../kit/secret.ts';
import { type AuthMode, authorizeRequest, authStyles } from './upstream-auth.ts';

function authorized(mode: AuthMode, headerName: string | null, secret: Secret | null) {
  const request: EgressRequest = { method: 'POST', path: '/v1/x', headers: ['accept', '*/*'], body: null };
  return { ready: authorizeRequest(request, mode, headerName, secret), headers: request.headers.slice(2) };
}

describe('authentication of an upstream request', () => {
  const secret = new Secret('s3cret');

  it('sends the secret as each style says', () => {
    assert.deepEqual(authorized('none', null, secret), { ready: true, headers: [] });
    assert.deepEqual(authorized('bearer_static', null, secret).headers, ['authorization', 'Bearer s3cret']);
    assert.deepEqual(authorized('header_static', 'api-key', secret).headers, ['api-key', 's3cret']);
    assert.deepEqual(authorized('header_static', null, secret).headers, ['x-api-key', 's3cret']);
  });

  it('is refused without a secret by every style that needs one', () => {
    for (const [mode, style] of Object.entries(authStyles) as [AuthMode, (typeof authStyles)[AuthMode]][]) {
      assert.deepEqual(authorized(mode, null, null), { ready: !style.needsSecret, headers: [] }, mode);
    }
  });
});
