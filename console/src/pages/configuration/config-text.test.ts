import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readError } from '@relay/contract/client';
import { ApiError } from '../../errors/api-error.ts';
import { findingsOf, oversizeOf, readConfigText } from './config-text.ts';

const GOOD = `{
  "version": 1,
  "lanes": [
    { "slug": "fast", "name": "Fast", "default_max_wait_ms": 5000 }
  ],
  "credentials": [
    { "provider": "main", "name": "key", "secret_ref": "env:MAIN_KEY" }
  ]
}`;

test('a valid file has no findings', () => {
  const { config, findings } = readConfigText(GOOD);
  assert.deepEqual(findings, []);
  assert.equal(config?.lanes?.[0]?.default_max_wait_ms, 5_000);
});

test('every error is reported at its position', () => {
  const bad = GOOD.replace('5000', '"soon"').replace('"slug": "fast"', '"slug": "fast", "speed": 1');
  const found = readConfigText(bad).findings.map(
    ({ line, column, message }) => `${line}:${column} ${message}`,
  );
  assert.equal(found.length, 2);
  assert.match(found[0] ?? '', /^4:23 unknown field lanes\[0\]\.speed/);
  assert.match(found[1] ?? '', /^4:74 lanes\[0\]\.default_max_wait_ms must be an integer/);
});

test('a file can be YAML, and invalid YAML reports its position', () => {
  const { config, findings } = readConfigText('version: 1\nlanes:\n  - name: Fast\n');
  assert.deepEqual(findings, []);
  assert.equal(config?.lanes?.[0]?.name, 'Fast');
  const [fault] = readConfigText('version: 1\nlanes: [\n').findings;
  assert.match(fault?.message ?? '', /^is not valid YAML: .*\.$/);
  const [twice] = readConfigText('version: 1\nversion: 1\n').findings;
  assert.deepEqual([twice?.line, twice?.column, twice?.offset], [2, 1, 11]);
});

function refusal(error: Record<string, unknown>): ApiError {
  const body = JSON.stringify({ error: { message: 'No.', ...error } });
  const response = readError({ status: 400, headers: new Headers() }, body);
  assert.ok(response);
  return new ApiError(response);
}

test('a server error is reported at its position, and not at all if it is about no part of the file', () => {
  const placeOf = (error: Record<string, unknown>) =>
    findingsOf(refusal(error), GOOD).map(({ line, column }) => [line, column]);
  assert.deepEqual(placeOf({ param: 'lanes[0].default_max_wait_ms' }), [[4, 62]]);
  assert.deepEqual(placeOf({ issues: [{ path: 'config.lanes[0].name', message: 'x' }] }), [[4, 31]]);
  assert.deepEqual(placeOf({ param: 'secrets["env:MAIN_KEY"]' }), [[7, 56]]);
  assert.deepEqual(placeOf({ param: 'plan_hash' }), []);
  assert.deepEqual(placeOf({}), []);
});

test('a body that is too large is detected before sending', () => {
  assert.equal(oversizeOf({ name: 'small' }), null);
  assert.equal(oversizeOf({ name: 'é'.repeat(600_000) })?.bytesMax, 1_048_576);
});
