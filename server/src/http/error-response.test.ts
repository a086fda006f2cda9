import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { errorCodes, errors, headers } from '@relay/contract';
import { RelayError } from '../domain/relay-error.ts';
import { errorResponse } from './error-response.ts';

const context = { requestId: 'r', publicUrl: 'https://relay.example.com' };

describe('the response to an error', () => {
  it('shows nothing of a defect', () => {
    const { status, body } = errorResponse(new Error('password=hunter2'), context);
    assert.equal(status, 500);
    assert.doesNotMatch(body, /hunter2/);
    assert.match(body, /"code":"internal_error"/);
  });

  it('says when to try again where the service is unavailable, and only there', () => {
    assert.equal(
      errorResponse(new RelayError('store_unavailable'), context).headers[headers.retryAfter],
      '1',
    );
    assert.equal(
      errorResponse(new RelayError('invalid_request'), context).headers[headers.retryAfter],
      undefined,
    );
    assert.equal(errorResponse(new Error('x'), context).headers[headers.retryAfter], undefined);
  });

  it('says for every code whether a retry helps, by the registry unless the error knows more', () => {
    const hint = (error: RelayError) => errorResponse(error, context).headers[headers.shouldRetry];
    for (const code of errorCodes) assert.equal(hint(new RelayError(code)), String(errors[code].retry), code);
    assert.equal(hint(new RelayError('upstream_invalid_response', { retry: true })), 'true');
    assert.equal(hint(new RelayError('rate_limit_wait_budget_exceeded', { retry: false })), 'false');
  });

  it('asks for a token where one is missing or wrong, and says which', () => {
    const challenge = (code: 'missing_api_key' | 'invalid_api_key' | 'permission_denied') =>
      errorResponse(new RelayError(code), context).headers[headers.wwwAuthenticate];
    assert.equal(challenge('missing_api_key'), 'Bearer realm="relay"');
    assert.equal(challenge('invalid_api_key'), 'Bearer realm="relay", error="invalid_token"');
    assert.equal(challenge('permission_denied'), undefined);
  });
});
