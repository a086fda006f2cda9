import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bodyOf, sentenceOf } from './form-values.ts';

test('an empty field is not sent, and null is', () => {
  const values = { name: ' Main ', base_url: '', auth_header_name: null, max: Number.NaN, enabled: false };
  assert.deepEqual(bodyOf(values), { name: 'Main', auth_header_name: null, enabled: false });
});

test("the message at a field does not repeat the field's name", () => {
  assert.equal(
    sentenceOf('base_url', 'base_url must be an http or https URL'),
    'Must be an http or https URL.',
  );
  assert.equal(sentenceOf('name', 'name is required'), 'Is required.');
  assert.equal(sentenceOf('name', 'Another provider has this name.'), 'Another provider has this name.');
});
