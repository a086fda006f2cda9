import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { AddressRefusedError } from '../../kit/egress/index.ts';
import { failureOf } from './failure-code.ts';

function named(name: string): Error {
  return Object.assign(new Error('sk-secret'), { name });
}

function coded(code: string, message = 'sk-secret at 10.0.0.1'): Error {
  return Object.assign(new Error(message), { code });
}

describe('the code of a failed attempt, and why in words', () => {
  const reset = coded('ECONNRESET', 'read ECONNRESET');
  const refused = new AddressRefusedError('no');
  const cases: [string, Error, boolean, string, RegExp][] = [
    ['a lost connection before the head', reset, false, 'upstream_unreachable', /closed before a response/],
    ['a lost connection after the head', reset, true, 'upstream_invalid_response', /cut off/],
    ['a refused connection', coded('ECONNREFUSED'), false, 'upstream_unreachable', /^connection refused$/],
    [
      'no free file descriptor of its own',
      coded('EMFILE'),
      false,
      'internal_error',
      /Relay process has no free/,
    ],
    ['an unknown name', coded('ENOTFOUND'), false, 'upstream_unreachable', /does not resolve/],
    [
      'an expired certificate',
      coded('CERT_HAS_EXPIRED'),
      false,
      'upstream_unreachable',
      /certificate has expired$/,
    ],
    [
      'an unknown authority',
      coded('SELF_SIGNED_CERT_IN_CHAIN'),
      false,
      'upstream_unreachable',
      /not trusted/,
    ],
    ['a slow connect', coded('UND_ERR_CONNECT_TIMEOUT'), false, 'upstream_timeout', /timed out/],
    ['bytes that are not HTTP', named('HTTPParserError'), false, 'upstream_invalid_response', /not HTTP/],
    ['an endless head', named('HeadersOverflowError'), false, 'upstream_invalid_response', /headers/],
    ['an unrequested upgrade', new Error('bad upgrade'), false, 'upstream_invalid_response', /not HTTP/],
    ['a private address', refused, false, 'upstream_not_prepared', /private/],
    ['a name of one', new Error('no', { cause: refused }), false, 'upstream_not_prepared', /private/],
  ];
  for (const [what, error, answering, code, why] of cases) {
    it(`is ${code} for ${what}`, () => {
      const fault = failureOf(error, answering);
      assert.equal(fault.code, code);
      assert.match(fault.why, why);
      assert.ok(!fault.why.includes('sk-secret'));
    });
  }
});
