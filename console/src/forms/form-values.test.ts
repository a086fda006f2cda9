import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bodyOf, formErrorOf, sentenceOf, shownError } from './form-values.ts';

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

test('a missing value is reported once the form was submitted, and a wrong one before', () => {
  const body = bodyOf({ name: ' ', base_url: 'example', lane_id: null, alert_at: [0] });
  const shown = (path: string, isSubmitted: boolean) =>
    shownError(formErrorOf({ path, message: `${path} is wrong` }, body), isSubmitted);
  for (const path of ['name', 'lane_id', 'absent'])
    assert.deepEqual([shown(path, false), shown(path, true)], [undefined, 'Is wrong.']);
  for (const path of ['base_url', 'alert_at', 'alert_at[0]'])
    assert.deepEqual([shown(path, false), shown(path, true)], ['Is wrong.', 'Is wrong.']);
});

test("the server's error is reported as soon as it is there", () => {
  assert.equal(shownError({ type: 'server', message: 'Is taken.' }, false), 'Is taken.');
  assert.equal(shownError(undefined, true), undefined);
});
