import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fieldChanges, isSecretField } from './field-changes.ts';

test('only what differs is a change, also within objects', () => {
  const before = { name: 'Main', wait_ms: 5_000, tags: ['a'], inner: { on: true, kept: 1 } };
  const after = { name: 'Main', wait_ms: 7_500, tags: ['a', 'b'], inner: { on: false, kept: 1 } };
  assert.deepEqual(fieldChanges(before, after), [
    { field: 'wait_ms', before: 5_000, after: 7_500 },
    { field: 'tags', before: ['a'], after: ['a', 'b'] },
    { field: 'inner.on', before: true, after: false },
  ]);
});

test('of what is new or gone every field is told that says something', () => {
  assert.deepEqual(fieldChanges(null, { name: 'Main', note: null }), [
    { field: 'name', before: null, after: 'Main' },
  ]);
  assert.deepEqual(fieldChanges({ name: 'Main' }, null), [{ field: 'name', before: 'Main', after: null }]);
});

test('a secret is known by its name, and what only speaks of one is not taken for it', () => {
  for (const field of ['secret', 'client_secret', 'auth.password', 'access_token', 'secret_hmac', 'api_key'])
    assert.ok(isSecretField(field), field);
  for (const field of ['secret_ref', 'secret_version', 'input_tokens', 'token_limit', 'api_key_id'])
    assert.ok(!isSecretField(field), field);
});
