import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { describe, it } from 'node:test';
import { EnvironmentError, readEnvironment } from './environment.ts';

const good = {
  DATABASE_URL: 'postgres://localhost/relay',
  REDIS_URL: 'redis://localhost:6379',
  RELAY_API_TOKEN: 'q8Zk3vTq0cPp1xYw7Jm2Rb5Ld9Ns4Gh6',
  RELAY_ADMIN_TOKEN: 'h2Vx9Kd4Bn7Mq1Zt6Wp3Rj8Lc5Fs0Yg2',
  RELAY_MASTER_KEY: randomBytes(32).toString('base64'),
};

function faultsOf(over: Record<string, string>): string {
  try {
    readEnvironment({ ...good, ...over });
  } catch (error) {
    assert.ok(error instanceof EnvironmentError);
    return error.message;
  }
  return '';
}

describe('environment', () => {
  it('fills in what has a default', () => {
    const environment = readEnvironment(good);
    assert.deepEqual(environment.RELAY_HTTP_ADDR, { host: '127.0.0.1', port: 8080 });
    assert.equal(environment.RELAY_MODE, 'self_hosted');
    assert.deepEqual(environment.RELAY_ALLOW_PRIVATE_NETWORKS, []);
  });

  it('names every fault in one message', () => {
    try {
      readEnvironment({ RELAY_MODE: 'both', RELAY_HTTP_ADDR: 'nowhere' });
      assert.fail('was accepted');
    } catch (error) {
      const names = (error as Error).message.match(/[A-Z]+_[A-Z_]+(?= is| must)/g);
      assert.deepEqual(names?.sort(), [
        'DATABASE_URL',
        'REDIS_URL',
        'RELAY_HTTP_ADDR',
        'RELAY_MASTER_KEY',
        'RELAY_MODE',
      ]);
    }
  });

  const refused: [string, Record<string, string>, RegExp][] = [
    ['a short token', { RELAY_API_TOKEN: 'short' }, /at least 32/],
    ['a placeholder token', { RELAY_API_TOKEN: 'changeme-changeme-changeme-changeme' }, /placeholder/],
    ['a token of one character', { RELAY_API_TOKEN: 'z'.repeat(40) }, /placeholder/],
    ['a token with a space', { RELAY_API_TOKEN: `${good.RELAY_API_TOKEN} x` }, /printable/],
    ['equal tokens', { RELAY_API_TOKEN: good.RELAY_ADMIN_TOKEN }, /must differ/],
    ['an empty token', { RELAY_API_TOKEN: '' }, /RELAY_API_TOKEN is missing/],
    ['an empty master key', { RELAY_MASTER_KEY: '' }, /RELAY_MASTER_KEY is missing/],
    ['a short master key', { RELAY_MASTER_KEY: 'c2hvcnQ=' }, /RELAY_MASTER_KEY/],
    ['a network that is none', { RELAY_ALLOW_PRIVATE_NETWORKS: '10.0.0.0/8, loopback' }, /"loopback"/],
    ['a number out of range', { RELAY_MAX_BODY_BYTES: '0' }, /whole number/],
    ['a port out of range', { RELAY_HTTP_ADDR: '127.0.0.1:70000' }, /host:port/],
  ];
  for (const [what, over, expected] of refused)
    it(`refuses ${what}`, () => assert.match(faultsOf(over), expected));

  it('never shows a secret in a message', () => {
    const key = randomBytes(20).toString('base64');
    assert.doesNotMatch(faultsOf({ RELAY_MASTER_KEY: key }), new RegExp(key.replaceAll(/[+/=]/g, '.')));
  });

  it('reads IPv6 and open listen addresses', () => {
    assert.deepEqual(readEnvironment({ ...good, RELAY_HTTP_ADDR: '[::1]:9000' }).RELAY_HTTP_ADDR, {
      host: '::1',
      port: 9000,
    });
    assert.equal(readEnvironment({ ...good, RELAY_HTTP_ADDR: ':9000' }).RELAY_HTTP_ADDR.host, '0.0.0.0');
  });
});
