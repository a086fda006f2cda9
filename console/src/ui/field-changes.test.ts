import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fieldChanges, isSecretField } from './field-changes.ts';

test('only different values are changes, also within objects', () => {
  const before = { name: 'Main', wait_ms: 5_000, tags: ['a'], inner: { on: true, kept: 1 } };
  const after = { name: 'Main', wait_ms: 7_500, tags: ['a', 'b'], inner: { on: false, kept: 1 } };
  assert.deepEqual(fieldChanges(before, after), [
    { field: 'wait_ms', before: 5_000, after: 7_500 },
    { field: 'tags', before: ['a'], after: ['a', 'b'] },
    { field: 'inner.on', before: true, after: false },
  ]);
});

test('a created or deleted object lists every field with a value', () => {
  assert.deepEqual(fieldChanges(null, { name: 'Main', note: null }), [
    { field: 'name', before: null, after: 'Main' },
  ]);
  assert.deepEqual(fieldChanges({ name: 'Main' }, null), [{ field: 'name', before: 'Main', after: null }]);
});

test('a secret is recognized by its name, and references to secrets are not secrets', () => {
  for (const field of ['secret', 'client_secret', 'auth.password', 'access_token', 'secret_hmac', 'api_key'])
    assert.ok(isSecretField(field), field);
  for (const field of ['secret_ref', 'secret_version', 'input_tokens', 'token_limit', 'api_key_id'])
    assert.ok(!isSecretField(field), field);
});
