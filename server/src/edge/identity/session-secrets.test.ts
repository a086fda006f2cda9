import assert from 'node:assert/strict';
import { createSecretKey, randomBytes } from 'node:crypto';
import { describe, it } from 'node:test';
import { csrfTokenOf, digestOfAdminToken, digestOfCookie, isSameText, nameOf } from './session-secrets.ts';

describe('secrets of sessions', () => {
  it('are compared to their last character', () => {
    const text = randomBytes(32).toString('base64url');
    assert.ok(isSameText(text, text));
    for (let index = 0; index < text.length; index += 1) {
      const other = text.slice(0, index) + (text[index] === 'A' ? 'B' : 'A') + text.slice(index + 1);
      assert.ok(!isSameText(text, other), `another character at ${index}`);
      assert.ok(!isSameText(text, text.slice(0, index)), `the first ${index} characters`);
    }
    assert.ok(!isSameText(text, `${text}A`));
    assert.ok(!isSameText('', text));
  });

  it('are of no use for another purpose or under another key', () => {
    const [one, other] = [randomBytes(32), randomBytes(32)].map((bytes) => createSecretKey(bytes));
    assert.ok(one !== undefined && other !== undefined);
    const cookie = randomBytes(32).toString('base64url');
    const digests = [
      digestOfCookie(one, cookie),
      digestOfCookie(other, cookie),
      csrfTokenOf(one, cookie),
      digestOfAdminToken(one, cookie),
      nameOf(one, cookie),
    ];
    assert.equal(new Set(digests).size, digests.length);
  });
});
