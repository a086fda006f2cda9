import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, it } from 'node:test';
import { awsVectors, VECTOR_HOST, VECTOR_KEYS, VECTOR_MS, VECTOR_SCOPE } from '@relay/testbed';
import { signAws } from './sign-aws.ts';

const signing = {
  keys: { ...VECTOR_KEYS, sessionToken: null },
  scope: VECTOR_SCOPE,
  nowMs: VECTOR_MS,
  sendsHash: false,
};

describe('an AWS signature', () => {
  for (const { name, method, path, headers, body, sessionToken, signedHeaders, signature } of awsVectors) {
    it(`is that of AWS's test suite: ${name}`, async () => {
      const signed = await signAws(
        {
          method,
          path,
          headers: { host: VECTOR_HOST, ...headers },
          body: body === undefined ? null : Buffer.from(body),
        },
        { ...signing, keys: { ...VECTOR_KEYS, sessionToken: sessionToken ?? null } },
      );
      assert.deepEqual(signed, {
        authorization: `AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, SignedHeaders=${signedHeaders}, Signature=${signature}`,
        'x-amz-date': '20150830T123600Z',
        ...(sessionToken === undefined ? {} : { 'x-amz-security-token': sessionToken }),
      });
    });
  }

  it('covers all pieces of a large body', async () => {
    const pieces = [Buffer.alloc(3_000_000, 'a'), Buffer.from('b'), Buffer.alloc(2_500_000, 'c')];
    const request = { method: 'POST', path: '/', headers: { host: VECTOR_HOST } };
    const given = { ...signing, sendsHash: true };
    const signed = await signAws({ ...request, body: pieces }, given);
    assert.equal(
      signed['x-amz-content-sha256'],
      createHash('sha256').update(Buffer.concat(pieces)).digest('hex'),
    );
    assert.deepEqual(await signAws({ ...request, body: Buffer.concat(pieces) }, given), signed);
    const other = await signAws({ ...request, body: pieces.toReversed() }, given);
    assert.notEqual(other['authorization'], signed['authorization']);
  });
});
