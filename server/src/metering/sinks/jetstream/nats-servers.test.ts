import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseNatsUrl } from './nats-servers.ts';

describe('RELAY_NATS_URL', () => {
  it('has the usual port, a token, or a password with special characters', () => {
    assert.deepEqual(parseNatsUrl('nats://nats'), {
      addresses: ['nats:4222'],
      isTlsRequired: false,
      login: null,
    });
    const { addresses, isTlsRequired, login } = parseNatsUrl('tls://user%40x:p%2Fw%3A@nats.example.com:4333');
    assert.deepEqual([addresses, isTlsRequired], [['nats.example.com:4333'], true]);
    assert.deepEqual([login?.user.reveal(), login?.password?.reveal()], ['user@x', 'p/w:']);
    assert.equal(parseNatsUrl('nats://some-token@nats').login?.password, null);
  });

  it('names several servers, with one login and one scheme', () => {
    const { addresses, login } = parseNatsUrl('nats://u:p@one:1, nats://two,nats://[::1]:3');
    assert.deepEqual(addresses, ['one:1', 'two:4222', '[::1]:3']);
    assert.equal(login?.user.reveal(), 'u');
  });

  it('is refused with a message that does not repeat the password', () => {
    for (const bad of [
      'nats.example.com',
      'http://user:hunter2@nats.example.com',
      'nats://user:hunter2@',
      'nats://:hunter2@nats.example.com',
      'nats://user:hunter2%@nats.example.com',
      'nats://user:hunter2@nats.example.com/path',
      'nats://user:hunter2@nats.example.com?tls=1',
      'nats://user:hunter2@one,tls://user:hunter2@two',
      'nats://user:hunter2@one,nats://user:hunter3@two',
    ]) {
      assert.throws(
        () => parseNatsUrl(bad),
        (error: unknown) => error instanceof Error && !error.message.includes('hunter2'),
        bad,
      );
    }
  });
});
