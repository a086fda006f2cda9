import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { awsAccess } from './aws-signature.ts';

// `post-x-www-form-urlencoded` and `post-sts-header-after` of AWS's published test suite.
const keys = new Map([['AKIDEXAMPLE', { secretAccessKey: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY' }]]);
const nowMs = () => Date.UTC(2015, 7, 30, 12, 37, 0);
const access = awsAccess({ keys, region: 'us-east-1', service: 'service', nowMs });
const SIGNATURE = 'ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a';

function request(
  over: Partial<{ body: string; url: string; signature: string; type: string; more: string[] }> = {},
) {
  const signature = over.signature ?? SIGNATURE;
  return {
    method: 'POST',
    url: over.url ?? '/',
    rawHeaders: [
      ...['Content-Type', over.type ?? 'application/x-www-form-urlencoded'],
      ...['Host', 'example.amazonaws.com'],
      ...['X-Amz-Date', '20150830T123600Z'],
      'Authorization',
      `AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, SignedHeaders=content-type;host;x-amz-date, Signature=${signature}`,
      ...(over.more ?? []),
    ],
    body: Buffer.from(over.body ?? 'Param1=value1'),
  };
}

describe('the check of AWS signatures', () => {
  it('lets in a request of AWS’s test suite', () => {
    assert.equal(access(request()), null);
  });

  it('refuses every change to what was signed', () => {
    const changed = [
      request({ body: 'Param1=value2' }),
      request({ url: '/other' }),
      request({ url: '/?a=b' }),
      request({ type: 'application/json' }),
      request({ signature: SIGNATURE.replace('f', 'e') }),
      request({ more: ['x-amz-extra', 'unsigned'] }),
      request({ more: ['x-amz-security-token', 'unasked'] }),
      { ...request(), method: 'PUT' },
    ];
    for (const each of changed) assert.notEqual(access(each), null);
  });

  it('refuses old signatures, unknown keys and other scopes', () => {
    const given = { keys, region: 'us-east-1', service: 'service', nowMs };
    const late = () => nowMs() + 10 * 60_000;
    assert.match(awsAccess({ ...given, nowMs: late })(request()) ?? '', /expired/);
    assert.match(awsAccess({ ...given, keys: new Map() })(request()) ?? '', /invalid/);
    assert.match(awsAccess({ ...given, region: 'eu-west-1' })(request()) ?? '', /scoped/);
  });
});
