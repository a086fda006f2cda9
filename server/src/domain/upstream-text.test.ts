import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { errorTextOf, passableText, shownText } from './upstream-text.ts';

const secret = 'hx7-Qm2PzL9vTrW4';

describe('what is shown of an upstream’s words', () => {
  it('has no six characters in a row of the secret, wherever and in whatever case they stand', () => {
    fc.assert(
      fc.property(
        fc.string(),
        fc.string(),
        fc.integer({ min: 0, max: 10 }),
        fc.integer({ min: 6, max: 16 }),
        fc.boolean(),
        (before, after, from, length, upper) => {
          const piece = secret.slice(from, from + length);
          const shown = shownText(
            before + (upper ? piece.toUpperCase() : piece) + after,
            secret,
          ).toLowerCase();
          for (let at = 0; at + 6 <= secret.length; at += 1) {
            assert.ok(!shown.includes(secret.slice(at, at + 6).toLowerCase()), shown);
          }
        },
      ),
    );
  });

  it('hides other things that look like keys, and keeps ordinary words', () => {
    const said = 'Incorrect API key provided: sk-proj-abcd1234, also Bearer abc.def and ****wxyz.';
    assert.equal(
      shownText(said, null),
      'Incorrect API key provided: [redacted], also [redacted] and [redacted].',
    );
    const plain = "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' with gpt-5-mini.";
    assert.equal(shownText(plain, secret), plain);
  });

  it('has no query of an address, which may carry a key', () => {
    assert.equal(
      shownText('See https://api.example.com/v1/keys?key=AIzaSyA1234#top for help.', null),
      'See https://api.example.com/v1/keys for help.',
    );
  });

  it('is one line of at most 300 characters', () => {
    const shown = shownText(`a\r\nb\u0000\u202e${'x'.repeat(100_000)}`, null);
    assert.equal(shown.length, 300);
    assert.match(shown, /^a b x+…$/);
  });

  it('is the message of a JSON error and nothing of any other body', () => {
    const text = (value: unknown) => errorTextOf(Buffer.from(JSON.stringify(value)), null);
    assert.equal(text({ error: { message: 'nested' } }), 'nested');
    assert.equal(text({ error: 'plain' }), 'plain');
    assert.equal(text({ detail: 'detail' }), 'detail');
    assert.equal(text([{ error: { code: 400, message: 'API key not valid' } }]), 'API key not valid');
    assert.equal(text({ detail: [{ loc: ['body'], msg: 'Field required' }] }), 'Field required');
    assert.equal(text({ success: false, errors: [{ code: 1, message: 'No route' }] }), 'No route');
    assert.equal(
      text({ type: 'error', error: { type: 'x', message: 'invalid x-api-key' } }),
      'invalid x-api-key',
    );
    assert.equal(text({ error: { error: { error: { message: 'deep' } } } }), null);
    assert.equal(text({ headers: { authorization: secret } }), null);
    assert.equal(errorTextOf(Buffer.from('<html>secret page</html>'), null), null);
    assert.equal(errorTextOf(Buffer.from('{"error":'.repeat(50_000)), null), null);
  });
});

describe('a provider’s text for a client', () => {
  it('is the same text when it says nothing of the secret', () => {
    const said = '{"error":{"message":"Too long... please wait *** and **bold** text.","code":"x"}}';
    assert.equal(passableText(said, secret), said);
    assert.equal(passableText(said, null), said);
    assert.equal(passableText('must not be empty', 'EMPTY'), 'must not be empty');
  });

  it('has neither the secret nor a masked form of it', () => {
    for (const form of [
      secret,
      secret.slice(0, 9),
      secret.slice(-8),
      'hx7...TrW4',
      'hx7-Qm2P********',
      '*****rW4',
      'hx7-…W4',
      'hx7••••••rW4',
      `${secret.slice(0, 4)}***${secret.slice(-4)}`,
    ]) {
      const shown = passableText(`{"error":{"message":"Bad key ${form}, sorry."}}`, secret);
      assert.equal(shown, '{"error":{"message":"Bad key [redacted], sorry."}}', form);
    }
  });

  it('takes time in proportion to its length', () => {
    const before = process.cpuUsage();
    for (const letter of ['a', '*', '.', 'hx7-', ' ...'])
      passableText(letter.repeat(1_000_000 / letter.length), secret);
    const { user } = process.cpuUsage(before);
    assert.ok(user < 5_000_000, `${user / 1_000} ms`);
  });
});
