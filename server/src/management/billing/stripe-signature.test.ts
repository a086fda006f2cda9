import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { describe, it } from 'node:test';
import { isSignedByStripe } from './stripe-signature.ts';

// By hand, of `1700000000.{"id":"evt_1"}` with the key `whsec_test`:
// printf '1700000000.{"id":"evt_1"}' | openssl dgst -sha256 -hmac whsec_test
const TEXT = '{"id":"evt_1"}';
const SECRET = 'whsec_test';
const AT_SECONDS = 1_700_000_000;
const VECTOR = 'c89214b5b5da833daed6f0b8c5bb6bd58cea9022bd80ccc78230f3942d632925';

function check(signature: string, more: { text?: string; secret?: string; laterSeconds?: number } = {}) {
  const { text = TEXT, secret = SECRET, laterSeconds = 0 } = more;
  return isSignedByStripe({ text, signature, secret, nowMs: (AT_SECONDS + laterSeconds) * 1_000 });
}

describe('the signature of Stripe', () => {
  it('is the HMAC-SHA-256 of the time and the body', () => {
    assert.equal(check(`t=${AT_SECONDS},v1=${VECTOR}`), true);
    const made = createHmac('sha256', SECRET).update(`${AT_SECONDS}.${TEXT}`).digest('hex');
    assert.equal(made, VECTOR);
  });

  it('covers every character of the body, the time and the secret', () => {
    const header = `t=${AT_SECONDS},v1=${VECTOR}`;
    assert.equal(check(header, { text: `${TEXT} ` }), false);
    assert.equal(check(header, { secret: 'whsec_other' }), false);
    assert.equal(check(`t=${AT_SECONDS + 1},v1=${VECTOR}`), false);
  });

  it('may be one of several, beside schemes that are not known', () => {
    const zeros = '0'.repeat(64);
    assert.equal(check(`t=${AT_SECONDS},v1=${zeros},v1=${VECTOR},v0=${zeros}`), true);
    assert.equal(check(`t=${AT_SECONDS},v0=${VECTOR}`), false);
    assert.equal(check(`t=${AT_SECONDS},v1=${zeros}`), false);
  });

  it('ages after five minutes', () => {
    const header = `t=${AT_SECONDS},v1=${VECTOR}`;
    assert.equal(check(header, { laterSeconds: 300 }), true);
    assert.equal(check(header, { laterSeconds: 301 }), false);
  });

  it('is refused when the header has no time, no signature or nothing that can be read', () => {
    for (const header of [
      '',
      'v1=',
      `v1=${VECTOR}`,
      `t=,v1=${VECTOR}`,
      `t=x,v1=${VECTOR}`,
      `t=${AT_SECONDS}`,
    ]) {
      assert.equal(check(header), false, header);
    }
    assert.equal(check(`t=${AT_SECONDS},v1=${VECTOR.slice(2)}`), false);
    assert.equal(check(`t=${AT_SECONDS},v1=${VECTOR}00`), false);
  });
});
