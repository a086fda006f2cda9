import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { storableJson, storableText } from './storable.ts';

describe('what PostgreSQL can store', () => {
  it('replaces NUL and halves of surrogate pairs in a text', () => {
    assert.equal(storableText('a\0b\ud800c\udc00'), 'a\u{FFFD}b\u{FFFD}c\u{FFFD}');
    assert.equal(storableText('🙂 é \n'), '🙂 é \n');
  });

  it('replaces them in names and values of JSON', () => {
    const json = storableJson({ 'a\0': ['\ud800', { b: '\udfff🙂' }] });
    assert.deepEqual(JSON.parse(json), { 'a\u{FFFD}': ['\u{FFFD}', { b: '\u{FFFD}🙂' }] });
  });

  it('keeps what only looks like their escapes', () => {
    const value = { said: 'write \\u0000 or \\ud800, and \\\\u0000\n' };
    assert.deepEqual(JSON.parse(storableJson(value)), value);
  });
});
