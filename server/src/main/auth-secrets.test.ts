import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { describe, it } from 'node:test';
import { keyPeppersFrom } from './auth-secrets.ts';

const before = {
  RELAY_AUTH_SECRET: null,
  RELAY_MASTER_KEY: randomBytes(32),
  RELAY_MASTER_KEY_PREVIOUS: [],
};
const [ofBefore] = keyPeppersFrom(before);

describe('peppers of API keys', () => {
  it('accept the pepper of the time without a secret once there is one, which new keys then use', () => {
    const [first, ...others] = keyPeppersFrom({ ...before, RELAY_AUTH_SECRET: 'a secret' });
    assert.ok(!first.equals(ofBefore));
    assert.ok(others.some((pepper) => pepper.equals(ofBefore)));
  });

  it('accept the secret that a data directory keeps beside the one of the environment', () => {
    const [ofKept] = keyPeppersFrom({ ...before, RELAY_AUTH_SECRET: 'kept' });
    const [first, ...others] = keyPeppersFrom({ ...before, RELAY_AUTH_SECRET: 'given' }, 'kept');
    assert.ok(!first.equals(ofKept));
    assert.ok(others.some((pepper) => pepper.equals(ofKept)));
  });

  it('accept the pepper of the previous master key as long as it is listed', () => {
    const next = { ...before, RELAY_MASTER_KEY: randomBytes(32) };
    const [first, ...others] = keyPeppersFrom({
      ...next,
      RELAY_MASTER_KEY_PREVIOUS: [before.RELAY_MASTER_KEY],
    });
    assert.ok(!first.equals(ofBefore));
    assert.ok(others.some((pepper) => pepper.equals(ofBefore)));
    assert.ok(!keyPeppersFrom(next).some((pepper) => pepper.equals(ofBefore)));
  });

  it('are not the master key itself, and not the same for another one', () => {
    assert.ok(!ofBefore.export().equals(before.RELAY_MASTER_KEY));
    assert.ok(!keyPeppersFrom({ ...before, RELAY_MASTER_KEY: randomBytes(32) })[0].equals(ofBefore));
  });
});
