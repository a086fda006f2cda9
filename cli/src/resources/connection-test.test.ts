import assert from 'node:assert/strict';
import { it } from 'node:test';
import { answerWords, fixOf } from './connection-test.ts';

it('a failed test says which host answered what, in the provider’s own words', () => {
  const host = 'api.example.com';
  const said = { host, upstream_status: 401, upstream_message: 'Incorrect API\u001b[2J key' };
  assert.equal(answerWords(said), 'api.example.com answered 401: "Incorrect API [2J key"');
  const silent = { host, upstream_status: 503, upstream_message: null };
  assert.equal(answerWords(silent), 'api.example.com answered 503');
  assert.equal(answerWords({ ...silent, upstream_status: null }), undefined);
});

it('the fix of a failed test names what was tested', () => {
  assert.equal(
    fixOf('unauthorized', { provider: 'acme', endpoint: 'fast' }),
    'run `relay providers set-credential acme --secret-stdin`',
  );
  assert.equal(
    fixOf('rate_limited', { provider: 'acme', endpoint: 'fast' }),
    'run `relay endpoints test fast` again',
  );
  assert.equal(
    fixOf('connection_refused', { provider: 'acme', endpoint: null }),
    'run `relay providers update acme --base-url URL`',
  );
});
