import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isErrorCode } from '@relay/contract/errors';
import { text } from '../text/index.ts';
import { adviceOf, causeOf, providerAdvice } from './failure-words.ts';

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

test('advice at the console speaks of pages and fields, not of the API', () => {
  const logged = Object.keys(text.failures.causes).filter((code) => isErrorCode(code));
  assert.ok(logged.length > 25);
  for (const code of logged)
    assert.doesNotMatch(adviceOf(code)?.fix ?? '', /upstream_message|\/api\/|base_url|x-should-retry/, code);
  assert.match(adviceOf('upstream_credential_refused')?.fix ?? '', /on the request’s page/);
  assert.deepEqual(adviceOf('upstream_status_503'), text.failures.provider.failed);
  assert.equal(adviceOf('something_new'), null);
});
