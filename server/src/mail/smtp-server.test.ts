import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseMailFrom, parseSmtpUrl } from './smtp-server.ts';

describe('RELAY_SMTP_URL', () => {
  it('has the usual ports, and a password with special characters', () => {
    const server = parseSmtpUrl('smtps://user%40x:p%2Fw%3A@mail.example.com');
    assert.deepEqual([server.host, server.port, server.tls], ['mail.example.com', 465, 'implicit']);
    assert.deepEqual([server.login?.user, server.login?.password.reveal()], ['user@x', 'p/w:']);
    assert.deepEqual(parseSmtpUrl('smtp://mail.example.com').port, 587);
    assert.equal(parseSmtpUrl('smtp://[::1]:2525').host, '::1');
  });

  it('needs STARTTLS, except on this machine without a password, or when told so', () => {
    assert.equal(parseSmtpUrl('smtp://mail.example.com:25').tls, 'required');
    assert.equal(parseSmtpUrl('smtp://10.0.0.5:25').tls, 'required');
    assert.equal(parseSmtpUrl('smtp://user:password@127.0.0.1:25').tls, 'required');
    for (const host of ['localhost', '127.0.0.1', '[::1]'])
      assert.equal(parseSmtpUrl(`smtp://${host}:25`).tls, 'optional', host);
    assert.equal(parseSmtpUrl('smtp://mailpit:1025?tls=none').tls, 'none');
  });

  it('is refused with a message that does not repeat the password', () => {
    for (const bad of [
      'mail.example.com',
      'http://user:hunter2@mail.example.com',
      'smtp://user:hunter2@',
      'smtps://user:hunter2/x@mail.example.com:465',
      'smtp://user@mail.example.com',
      'smtp://user:hunter2@mail.example.com?tls=none',
      'smtp://user:hunter2@mail.example.com?tls=maybe',
      'smtps://user:hunter2@mail.example.com?tls=none',
      'smtps://user:hunter2%@mail.example.com',
      'smtps://user:hunter2@mail.example.com/inbox',
    ]) {
      assert.throws(
        () => parseSmtpUrl(bad),
        (error: unknown) => error instanceof Error && !error.message.includes('hunter2'),
        bad,
      );
    }
  });

  it('does not show the password when it is written out', () => {
    assert.ok(!JSON.stringify(parseSmtpUrl('smtps://user:hunter2@mail.example.com')).includes('hunter2'));
  });
});

describe('RELAY_MAIL_FROM', () => {
  it('is an address, with or without a name', () => {
    assert.deepEqual(parseMailFrom('relay@example.com'), { name: '', address: 'relay@example.com' });
    assert.deepEqual(parseMailFrom('"Relay, Inc" <relay@example.com>'), {
      name: 'Relay, Inc',
      address: 'relay@example.com',
    });
  });

  it('is one line and one address', () => {
    for (const bad of [
      'relay',
      'a@b@c',
      'a@x.com, b@x.com',
      'Relay\r\nBcc: x@y.z <a@x.com>',
      'Relay <a@x.com> b',
    ])
      assert.throws(() => parseMailFrom(bad), /must be an email address/, bad);
  });
});
