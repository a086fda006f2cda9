import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { selfSigned } from '@relay/testbed';
import type { EgressRequest } from '../kit/egress/index.ts';
import { Secret } from '../kit/secret.ts';
import { awsScopeOf } from './aws-keys.ts';
import {
  type AuthMode,
  authorizeRequest,
  authorizeWithToken,
  authStyles,
  fitsStyle,
} from './upstream-auth.ts';

const emptyRequest = (): EgressRequest => ({
  method: 'POST',
  path: '/v1/x',
  headers: ['accept', '*/*'],
  body: null,
});

function authorized(mode: AuthMode, headerName: string | null, secret: Secret | null) {
  const request = emptyRequest();
  return { ready: authorizeRequest(request, mode, headerName, secret), headers: request.headers.slice(2) };
}

describe('authentication of an upstream request', () => {
  const secret = new Secret('s3cret');

  it('sends the secret as each style says', () => {
    assert.deepEqual(authorized('none', null, secret), { ready: true, headers: [] });
    assert.deepEqual(authorized('bearer_static', null, secret).headers, ['authorization', 'Bearer s3cret']);
    assert.deepEqual(authorized('header_static', 'api-key', secret).headers, ['api-key', 's3cret']);
    assert.deepEqual(authorized('header_static', null, secret).headers, ['x-api-key', 's3cret']);
  });

  it('is refused without a secret by every style that needs one', () => {
    for (const [mode, style] of Object.entries(authStyles) as [AuthMode, (typeof authStyles)[AuthMode]][]) {
      assert.deepEqual(authorized(mode, null, null), { ready: !style.needsSecret, headers: [] }, mode);
    }
  });

  it('with a client certificate has it for the connection, and nothing of it in the request', () => {
    const { cert, key } = selfSigned();
    const request = emptyRequest();
    assert.ok(authorizeRequest(request, 'client_certificate', null, new Secret(`${key}${cert}`)));
    assert.equal(request.identity?.certificates, cert.trim());
    assert.equal(request.identity?.key.reveal(), key.trim());
    assert.ok(!JSON.stringify(request).includes('PRIVATE'));
    assert.ok(!authorizeRequest(request, 'client_certificate', null, secret));
  });

  it('knows what a provider may quote', () => {
    const keys = { access_key_id: 'AKID', secret_access_key: 'hidden', session_token: 'shown' };
    assert.equal(authStyles.aws_sigv4.sentPart(new Secret(JSON.stringify(keys))), 'shown');
    assert.equal(authStyles.bearer_static.sentPart(secret), 's3cret');
    const account = new Secret('{}');
    assert.equal(authStyles.google_service_account.sentPart(account), null);
    authorizeWithToken(emptyRequest(), account, new Secret('ya29.token'));
    assert.equal(authStyles.google_service_account.sentPart(account), 'ya29.token');
  });
});

describe('a secret', () => {
  const problem = (mode: AuthMode, secret: string) => authStyles[mode].problemOf(secret) !== null;

  it('for AWS is JSON with both parts of an access key', () => {
    assert.ok(!problem('aws_sigv4', '{"access_key_id":"A","secret_access_key":"b"}'));
    assert.ok(!problem('aws_sigv4', '{"access_key_id":"A","secret_access_key":"b","session_token":"c"}'));
    for (const bad of [
      'A:b',
      '{}',
      '{"access_key_id":"A"}',
      '{"access_key_id":"A","secret_access_key":"b\\n"}',
    ])
      assert.ok(problem('aws_sigv4', bad), bad);
  });

  it('that signs requests is not sent, however its provider authenticates now', () => {
    const keys = '{"access_key_id":"A","secret_access_key":"b"}';
    for (const mode of ['bearer_static', 'header_static'] as const) {
      assert.ok(problem(mode, keys));
      assert.equal(fitsStyle(mode, new Secret(keys)), false);
      assert.equal(fitsStyle(mode, new Secret('sk-1')), true);
    }
    assert.equal(fitsStyle('aws_sigv4', new Secret('sk-1')), false);
  });

  it('of a service account is the file that Google issues', () => {
    const account = {
      type: 'service_account',
      client_email: 'a@b',
      private_key: '-----BEGIN PRIVATE KEY-----\nMIIE\n-----END PRIVATE KEY-----\n',
      token_uri: 'https://oauth2.googleapis.com/token',
    };
    assert.ok(!problem('google_service_account', JSON.stringify(account, null, 2)));
    for (const over of [
      { type: 'authorized_user' },
      { private_key: 'x' },
      { token_uri: 'file:///x' },
      { client_email: 1 },
    ])
      assert.ok(
        problem('google_service_account', JSON.stringify({ ...account, ...over })),
        JSON.stringify(over),
      );
  });

  it('with a certificate has the key that belongs to it', () => {
    const [one, other] = [selfSigned(), selfSigned()];
    assert.ok(!problem('client_certificate', one.cert + one.key));
    for (const bad of [one.cert, one.key, one.cert + other.key, 'key'])
      assert.ok(problem('client_certificate', bad));
  });
});

describe('the scope of an AWS signature', () => {
  const none = { awsRegion: null, awsService: null };

  it('is in the names of AWS’s hosts', () => {
    const hosts = [
      ['bedrock-runtime.us-east-1.amazonaws.com', 'us-east-1/bedrock'],
      ['bedrock-runtime-fips.us-gov-west-1.amazonaws.com', 'us-gov-west-1/bedrock'],
      ['vpce-0123-abc.bedrock-runtime.eu-central-1.vpce.amazonaws.com', 'eu-central-1/bedrock'],
      ['bedrock-mantle.us-east-1.api.aws', 'us-east-1/bedrock-mantle'],
      ['runtime.sagemaker.ap-southeast-2.amazonaws.com', 'ap-southeast-2/sagemaker'],
    ] as const;
    for (const [host, expected] of hosts) {
      const scope = awsScopeOf(none, host);
      assert.equal(`${scope?.region}/${scope?.service}`, expected);
    }
  });

  it('is what the provider says, and never that of a host that only looks like one of AWS', () => {
    assert.deepEqual(awsScopeOf({ awsRegion: 'eu-west-1', awsService: null }, 'proxy.example.com'), {
      region: 'eu-west-1',
      service: 'bedrock',
    });
    assert.equal(awsScopeOf(none, 'bedrock-runtime.us-east-1.amazonaws.com.example.com'), null);
  });
});
