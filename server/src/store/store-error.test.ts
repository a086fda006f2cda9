import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { RelayError } from '../domain/relay-error.ts';
import { asStoreError, isConnectionLost } from './store-error.ts';

function coded(code: string, message = 'failed'): Error {
  return Object.assign(new Error(message), { code });
}

describe('asStoreError', () => {
  it('an outage in any of its forms is store_unavailable', () => {
    const outages = [
      coded('ECONNREFUSED'),
      coded('ECONNRESET'),
      coded('EAI_AGAIN'),
      coded('53300'),
      coded('57P01'),
      coded('57P03'),
      coded('57014'),
      coded('08006'),
      coded('25006'),
      new Error('Connection terminated unexpectedly'),
      new Error('Connection terminated due to connection timeout'),
      new Error('timeout exceeded when trying to connect'),
      new Error('Query read timeout'),
    ];
    for (const outage of outages) {
      const error = asStoreError(outage);
      assert.ok(error instanceof RelayError, String(outage));
      assert.equal(error.code, 'store_unavailable');
      assert.equal(error.status, 503);
      assert.equal(error.cause, outage);
    }
  });

  it('what the caller did stays what it is', () => {
    for (const error of [
      coded('23505'),
      coded('23503'),
      coded('22P02'),
      new RangeError('x'),
      'text',
      undefined,
    ]) {
      assert.equal(asStoreError(error), error);
    }
    const own = new RelayError('not_found');
    assert.equal(asStoreError(own), own);
  });

  it('a cancelled statement leaves its connection usable, a lost connection does not', () => {
    assert.equal(isConnectionLost(coded('57014')), false);
    assert.equal(isConnectionLost(coded('23505')), false);
    assert.equal(isConnectionLost(coded('57P01')), true);
    assert.equal(isConnectionLost(new Error('Query read timeout')), true);
  });
});
