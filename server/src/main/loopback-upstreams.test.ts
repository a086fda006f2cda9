import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createAddressPolicy } from '../kit/egress/address.ts';
import { withLoopbackUpstreams } from './loopback-upstreams.ts';

type Settings = Parameters<typeof withLoopbackUpstreams>[0];

const settings: Settings = {
  RELAY_MODE: 'self_hosted',
  RELAY_HTTP_ADDR: { host: '127.0.0.1', port: 8080 },
  RELAY_PUBLIC_URL: null,
  RELAY_ALLOW_PRIVATE_NETWORKS: ['10.0.0.0/8'],
};

function allowedFor(over: Partial<Settings>): readonly boolean[] {
  const { RELAY_ALLOW_PRIVATE_NETWORKS: networks } = withLoopbackUpstreams({ ...settings, ...over });
  const policy = createAddressPolicy(networks);
  return ['127.0.0.1', '127.8.8.8', '::1', '10.0.0.1', '192.168.0.1', '169.254.169.254', '0.0.0.0'].map(
    (address) => policy.allows(address),
  );
}

const WITH_LOOPBACK = [true, true, true, true, false, false, false];
const AS_CONFIGURED = [false, false, false, true, false, false, false];

describe('the upstreams of relay start', () => {
  for (const host of ['127.0.0.1', '127.0.0.2', '::1', 'localhost']) {
    it(`include loopback, and no other network, when it listens on ${host}`, () => {
      assert.deepEqual(allowedFor({ RELAY_HTTP_ADDR: { host, port: 1 } }), WITH_LOOPBACK);
    });
  }

  for (const host of [
    '0.0.0.0',
    '::',
    '192.168.0.1',
    '10.0.0.1',
    'relay.internal',
    'localhost.example.com',
  ]) {
    it(`are as configured when it listens on ${host}`, () => {
      assert.deepEqual(allowedFor({ RELAY_HTTP_ADDR: { host, port: 1 } }), AS_CONFIGURED);
    });
  }

  it('are as configured when others call it through a proxy, or it is hosted', () => {
    assert.deepEqual(allowedFor({ RELAY_PUBLIC_URL: 'https://relay.example.com' }), AS_CONFIGURED);
    assert.deepEqual(allowedFor({ RELAY_MODE: 'hosted' }), AS_CONFIGURED);
    assert.deepEqual(allowedFor({ RELAY_PUBLIC_URL: 'http://[::1]:8080' }), WITH_LOOPBACK);
  });
});
