import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createAddressPolicy, InvalidCidrError, parseCidr } from './address.ts';

const CLOSED = [
  '0.0.0.0',
  '0.1.2.3',
  '10.0.0.1',
  '100.64.0.1',
  '100.127.255.255',
  '127.0.0.1',
  '127.255.255.254',
  '169.254.169.254',
  '172.16.0.1',
  '172.31.255.255',
  '192.0.0.8',
  '192.0.2.1',
  '192.88.99.1',
  '192.168.1.1',
  '198.18.0.1',
  '198.51.100.7',
  '203.0.113.9',
  '224.0.0.1',
  '240.0.0.1',
  '255.255.255.255',
  '::',
  '::1',
  '::127.0.0.1',
  '::ffff:127.0.0.1',
  '::ffff:7f00:1',
  '::ffff:a00:1',
  '64:ff9b::7f00:1',
  '64:ff9b::a9fe:a9fe',
  '64:ff9b:1::a00:1',
  '100::1',
  '2001::1',
  '2001:0:7f00:1::',
  '2001:20::1',
  '2001:db8::1',
  '2002:7f00:1::',
  '2002:a9fe:a9fe::1',
  '3fff::1',
  '5f00::1',
  'fc00::1',
  'fd12:3456::1',
  'fe80::1',
  'fec0::1',
  'ff02::1',
  'not an address',
  '',
];

describe('address policy', () => {
  const policy = createAddressPolicy([]);
  for (const address of CLOSED) {
    it(`keeps ${address || 'nothing'} closed`, () => assert.equal(policy.allows(address), false));
  }
  for (const address of [
    '1.1.1.1',
    '8.8.8.8',
    '172.32.0.1',
    '192.0.1.1',
    '::ffff:808:808',
    '2606:4700::1111',
    '2a00:1450::1',
  ]) {
    it(`lets ${address} through`, () => assert.equal(policy.allows(address), true));
  }

  it('opens exactly the networks the operator lists', () => {
    const opened = createAddressPolicy(['10.1.0.0/16', '127.0.0.1/32', 'fd00::/8']);
    assert.equal(opened.allows('10.1.2.3'), true);
    assert.equal(opened.allows('::ffff:10.1.2.3'), true);
    assert.equal(opened.allows('::ffff:a01:203'), true);
    assert.equal(opened.allows('::ffff:a02:1'), false);
    assert.equal(opened.allows('10.2.0.1'), false);
    assert.equal(opened.allows('127.0.0.1'), true);
    assert.equal(opened.allows('127.0.0.2'), false);
    assert.equal(opened.allows('fd00::1'), true);
    assert.equal(opened.allows('fc00::1'), false);
  });

  for (const text of [
    '10.0.0.0/33',
    'fd00::/129',
    '10.0.0/8',
    'example.com',
    '10.0.0.0/8/8',
    '',
    '10.0.0.0/x',
  ]) {
    it(`refuses the network "${text}"`, () => assert.throws(() => parseCidr(text), InvalidCidrError));
  }
});
