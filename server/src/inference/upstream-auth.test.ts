import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { credential, endpoint, provider, snapshot } from '../domain/snapshot.fixture.ts';
import { Secret } from '../kit/secret.ts';
import { startTokenEndpoint, type TokenEndpoint } from '../protocols/upstream-auth/token-endpoint.fixture.ts';
import { type Gateway, type Listening, startGateway, startListening } from './gateway.fixture.ts';

describe('a request to a provider', () => {
  let upstream: Listening;
  let tokens: TokenEndpoint;
  let gateway: Gateway;

  before(async () => {
    upstream = await startListening();
    tokens = await startTokenEndpoint();
    const baseUrl = `${upstream.url}/v1`;
    const keys = { access_key_id: 'AKID', secret_access_key: 'secret' };
    gateway = await startGateway(
      snapshot({
        providers: [
          provider('aws', { baseUrl, authMode: 'aws_sigv4', awsRegion: 'eu-west-1' }),
          provider('google', { baseUrl, authMode: 'google_service_account' }),
          provider('unfit', { baseUrl, authMode: 'google_service_account' }),
        ],
        credentials: [
          credential('c1', 'aws', { secret: new Secret(JSON.stringify(keys)) }),
          credential('c2', 'google', { secret: new Secret(tokens.secret) }),
          credential('c3', 'unfit', { secret: new Secret('not JSON') }),
        ],
        endpoints: [
          endpoint('e1', 'aws', 'signed'),
          endpoint('e2', 'google', 'with-token'),
          endpoint('e3', 'unfit', 'unfit'),
        ],
      }),
    );
  });
  beforeEach(() => {
    tokens.status = 200;
    upstream.heard.length = 0;
    upstream.answer = (response) =>
      response.writeHead(200, { 'content-type': 'application/json' }).end('{"choices":[]}');
  });
  after(async () => {
    await gateway.close();
    await upstream.close();
    tokens.close();
  });

  const send = (model: string) =>
    gateway.send({ model, messages: [{ role: 'user', content: 'hi' }] }).answered;
  const authorization = () => upstream.heard.at(-1)?.headers.authorization;

  it('of AWS is signed for its region', async () => {
    assert.equal((await send('signed'))?.status, 200);
    assert.match(
      authorization() ?? '',
      /^AWS4-HMAC-SHA256 Credential=AKID\/\d{8}\/eu-west-1\/bedrock\/aws4_request, SignedHeaders=content-type;host;x-amz-content-sha256;x-amz-date, /,
    );
  });

  it('with a secret that does not fit is not sent', async () => {
    const answer = await send('unfit');
    assert.equal(answer?.status, 502);
    assert.equal(upstream.heard.length, 0);
  });

  it('has a token, which is replaced after a 401 and never shown to the client', async () => {
    assert.equal((await send('with-token'))?.status, 200);
    assert.equal(authorization(), 'Bearer token-1');
    upstream.answer = (response, { headers }) =>
      response
        .writeHead(400, { 'content-type': 'application/json' })
        .end(JSON.stringify({ error: { message: `unknown ${headers.authorization}` } }));
    const quoted = await send('with-token');
    assert.equal(quoted?.status, 400);
    assert.ok(!JSON.stringify(quoted).includes('token-1'));
    upstream.answer = (response) => response.writeHead(401).end();
    assert.equal((await send('with-token'))?.status, 502);
    const sentBefore = upstream.heard.length;
    tokens.status = 500;
    const failed = await send('with-token');
    assert.equal(failed?.status, 502);
    assert.equal(upstream.heard.length, sentBefore);
    assert.equal(tokens.assertions.length, 2);
  });
});
