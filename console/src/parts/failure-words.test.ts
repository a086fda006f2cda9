import assert from 'node:assert/strict';
import { test } from 'node:test';
import { text } from '../text/index.ts';
import { causeOf, providerAdvice } from './failure-words.ts';

test('a failure has a cause in words, and a code that nobody knows is shown as it is', () => {
  assert.equal(causeOf('upstream_timeout'), 'Provider timed out');
  assert.equal(causeOf('upstream_status_400'), 'Provider returned 400');
  assert.equal(causeOf('something_new'), 'something_new');
});

test('what to do about a provider’s status depends on whose fault it is', () => {
  assert.equal(providerAdvice('upstream_timeout'), null);
  assert.equal(providerAdvice('upstream_status_422'), text.failures.provider.invalid);
  assert.equal(providerAdvice('upstream_status_404'), text.failures.provider.missing);
  assert.equal(providerAdvice('upstream_status_429'), text.failures.provider.limited);
  assert.equal(providerAdvice('upstream_status_503'), text.failures.provider.failed);
});
