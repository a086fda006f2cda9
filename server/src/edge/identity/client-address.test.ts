import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { clientAddressOf, countedAddress } from './client-address.ts';

describe('the address of a client', () => {
  it('is the other end of the connection, whatever the client claims', () => {
    assert.equal(clientAddressOf('203.0.113.7', undefined), '203.0.113.7');
    assert.equal(clientAddressOf('203.0.113.7', '198.51.100.1'), '203.0.113.7');
    assert.equal(clientAddressOf('::ffff:203.0.113.7', '198.51.100.1'), '203.0.113.7');
    assert.equal(clientAddressOf('2001:db8::1', '198.51.100.1'), '2001:db8::1');
  });

  it('is what a proxy of the own network has added last', () => {
    for (const proxy of ['10.0.0.3', '::ffff:127.0.0.1', '::1', 'fd00::5', '192.168.1.1'])
      assert.equal(clientAddressOf(proxy, '1.2.3.4, 198.51.100.1'), '198.51.100.1', proxy);
  });

  it('is the proxy itself when what it added is no address', () => {
    for (const added of [undefined, '', 'unknown', '1.2.3.4, ', 'x'.repeat(5_000)])
      assert.equal(clientAddressOf('10.0.0.3', added), '10.0.0.3');
  });

  it('counts as its network where a client has a whole network to choose from', () => {
    assert.equal(countedAddress('203.0.113.7'), '203.0.113.7');
    assert.equal(countedAddress('2001:db8:1:2:3:4:5:6'), '2001:db8:1:2');
    assert.equal(countedAddress('2001:db8:1:2::6'), '2001:db8:1:2');
    assert.equal(countedAddress('2001:db8::6'), '2001:db8:0:0');
    assert.equal(countedAddress('::1'), '0:0:0:0');
  });
});
