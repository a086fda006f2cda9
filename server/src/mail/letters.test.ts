import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { invitationLetter, newSignInLetter } from './letters.ts';

const invite = (organization: string) =>
  invitationLetter({
    to: 'ada@example.com',
    organization,
    role: 'viewer',
    acceptUrl: 'https://relay.example.com/accept-invitation#token=abc',
    expiresAt: new Date('2026-11-22T14:03:00Z'),
  });

describe('letters', () => {
  it('say the same as text and as HTML, and link to the public URL only', () => {
    const { text, html, subject } = invite('Acme');
    assert.equal(subject, 'Invitation to Acme on Relay');
    assert.match(text, /You're invited to join Acme on Relay with the role viewer\./);
    assert.match(text, /expires on Nov 22, 2026, 14:03 UTC/);
    assert.match(text, /^https:\/\/relay\.example\.com\/accept-invitation#token=abc$/m);
    assert.deepEqual(html.match(/(?:href|src)="[^"]*"/g), [
      'href="https://relay.example.com/accept-invitation#token=abc"',
    ]);
    assert.ok(html.includes('You&#39;re invited to join Acme'));
  });

  it('do not let a name add a header, markup or a link', () => {
    const injected = invite('Acme\r\nBcc: victim@example.com\u2028x');
    assert.ok(!/[\r\n\u2028]/.test(injected.subject));
    const markup = invite('<img src=x>&"Acme"');
    assert.ok(
      markup.html.includes('&lt;img src=x&gt;&amp;&quot;Acme&quot;') && !markup.html.includes('<img'),
    );
    for (const name of [
      'https://evil',
      'Win at evil.example now',
      'www.x',
      'evil．example https://x',
      '\u0000',
    ])
      assert.ok(invite(name).text.includes('to join an organization on Relay'), name);
    assert.ok(invite('J. Smith & Co').text.includes('J. Smith & Co'));
    assert.ok(invite('x'.repeat(5_000)).subject.length < 120);
  });

  it('name the address of a sign-in on one line', () => {
    const { text } = newSignInLetter({
      to: 'ada@example.com',
      at: new Date('2026-11-15T14:03:00Z'),
      address: '203.0.113.7\r\nX: y',
      browser: 'Firefox on Linux',
      settingsUrl: 'https://relay.example.com/settings',
    });
    assert.match(
      text,
      /Time: Nov 15, 2026, 14:03 UTC\nIP address: 203\.0\.113\.7 X: y\nBrowser: Firefox on Linux\n/,
    );
  });
});
