import assert from 'node:assert/strict';
import { it } from 'node:test';
import { fixOf, responseWords } from './test-result.ts';

it('a failed test says which host returned what, in the provider’s own words', () => {
  const host = 'api.example.com';
  const said = { host, upstream_status: 401, upstream_message: 'Incorrect API\u001b[2J key' };
  assert.equal(responseWords(said), 'api.example.com returned 401: "Incorrect API [2J key"');
  const silent = { host, upstream_status: 503, upstream_message: null };
  assert.equal(responseWords(silent), 'api.example.com returned 503');
  assert.equal(responseWords({ ...silent, upstream_status: null }), undefined);
});

it('the fix of a failed test names what was tested', () => {
  assert.equal(
    fixOf('unauthorized', { provider: 'acme', endpoint: 'fast' }),
    'Replace the credential. Run: `relay providers set-credential acme`',
  );
  assert.equal(
    fixOf('rate_limited', { provider: 'acme', endpoint: 'fast' }),
    'Try again later. Run: `relay endpoints test fast`',
  );
  assert.equal(
    fixOf('connection_refused', { provider: 'acme', endpoint: null }),
    'Correct the address. Run: `relay providers update acme --base-url URL`',
  );
});
