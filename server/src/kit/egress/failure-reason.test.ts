import assert from 'node:assert/strict';
import { it } from 'node:test';
import { AddressRefusedError } from './egress.ts';
import { failureReasonOf } from './failure-reason.ts';

const coded = (code: string) => Object.assign(new Error(code), { code });

it('the reason follows from the code of the error and from whether the request was on its way', () => {
  const before = {
    ENOTFOUND: 'dns_failed',
    EAI_AGAIN: 'dns_failed',
    ECONNREFUSED: 'connection_refused',
    ECONNRESET: 'connection_failed',
    EHOSTUNREACH: 'connection_failed',
    UND_ERR_CONNECT_TIMEOUT: 'timed_out',
    CERT_HAS_EXPIRED: 'tls_failed',
    DEPTH_ZERO_SELF_SIGNED_CERT: 'tls_failed',
    UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'tls_failed',
    ERR_TLS_CERT_ALTNAME_INVALID: 'tls_failed',
    ERR_SSL_WRONG_VERSION_NUMBER: 'tls_failed',
  };
  for (const [code, reason] of Object.entries(before)) {
    assert.equal(failureReasonOf(coded(code), false), reason, code);
  }
  assert.equal(failureReasonOf(coded('ECONNRESET'), true), 'connection_failed');
  const unreadable = Object.assign(new Error('Expected HTTP/'), { name: 'HTTPParserError' });
  for (const connected of [true, false]) {
    assert.equal(failureReasonOf(unreadable, connected), 'invalid_response');
    assert.equal(failureReasonOf(new Error('bad upgrade'), connected), 'invalid_response');
  }
  const refused = new AddressRefusedError('private');
  assert.equal(failureReasonOf(refused, false), 'address_refused');
  assert.equal(failureReasonOf(new Error('connect', { cause: refused }), false), 'address_refused');
});
