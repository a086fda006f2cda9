import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { AddressRefusedError } from '../../kit/egress/index.ts';
import { failureCodeOf } from './failure-code.ts';

function named(name: string, message = 'no', code?: string): Error {
  return Object.assign(new Error(message), { name, code });
}

describe('the code of a failed attempt', () => {
  const reset = named('Error', 'read ECONNRESET', 'ECONNRESET');
  const cases: [string, Error, boolean, string][] = [
    ['a connection that is lost before the head', reset, false, 'upstream_unreachable'],
    ['a connection that is lost after the head', reset, true, 'upstream_invalid_response'],
    [
      'a connect that takes too long',
      named('ConnectTimeoutError', 'too late', 'UND_ERR_CONNECT_TIMEOUT'),
      false,
      'upstream_timeout',
    ],
    ['bytes that are not HTTP', named('HTTPParserError'), false, 'upstream_invalid_response'],
    ['a head without end', named('HeadersOverflowError'), false, 'upstream_invalid_response'],
    ['an unrequested upgrade', named('SocketError', 'bad upgrade'), false, 'upstream_invalid_response'],
    ['an address that is not allowed', new AddressRefusedError('no'), false, 'upstream_not_prepared'],
    [
      'a name that leads to such an address',
      new Error('connect failed', { cause: new AddressRefusedError('no') }),
      false,
      'upstream_not_prepared',
    ],
  ];
  for (const [what, error, answering, code] of cases) {
    it(`is ${code} for ${what}`, () => assert.equal(failureCodeOf(error, answering), code));
  }
});
