import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { importSPKI, jwtVerify } from 'jose';
import { serviceAccountIn } from '../../domain/service-account.ts';
import { createEgress, type Egress } from '../../kit/egress/index.ts';
import { Secret } from '../../kit/secret.ts';
import { createGoogleTokens, type GoogleTokens, TokenError } from './google-tokens.ts';
import { startTokenEndpoint, type TokenEndpoint } from './token-endpoint.fixture.ts';

describe('tokens of service accounts', () => {
  let endpoint: TokenEndpoint;
  let egress: Egress;
  let tokens: GoogleTokens;
  let elapsedMs = 0;
  const clock = { nowMs: () => 1_700_000_000_000 + elapsedMs, monotonicMs: () => elapsedMs };

  beforeEach(async () => {
    elapsedMs = 0;
    endpoint = await startTokenEndpoint();
    egress = openEgress(['127.0.0.0/8']);
    tokens = createGoogleTokens({ egress, clock, random: () => 1 });
  });
  afterEach(async () => {
    endpoint.close();
    await egress.close();
  });

  function openEgress(allowedCidrs: string[]): Egress {
    return createEgress({
      allowedCidrs,
      connectTimeoutMs: 1_000,
      connectionsPerOriginMax: 10,
      originsMax: 10,
    });
  }

  /** Each call has its own object, as each snapshot has. */
  function ask(owner = 'org') {
    const secret = new Secret(endpoint.secret);
    const account = serviceAccountIn(endpoint.secret);
    assert.ok(account);
    return { secret, token: tokens.tokenOf(secret, account, owner) };
  }
  const known = () => {
    const { token } = ask();
    return token instanceof Secret ? token.reveal() : null;
  };
  const asked = async () => (await ask().token).reveal();

  it('are asked for with an assertion that the service account signed', async () => {
    await asked();
    const [assertion = ''] = endpoint.assertions;
    const { payload, protectedHeader } = await jwtVerify(
      assertion,
      await importSPKI(endpoint.publicKey, 'RS256'),
      {
        currentDate: new Date(clock.nowMs()),
        audience: serviceAccountIn(endpoint.secret)?.tokenUri ?? '',
        issuer: 'relay@project.iam.gserviceaccount.com',
      },
    );
    assert.equal(protectedHeader.kid, 'key-1');
    assert.equal(payload['scope'], 'https://www.googleapis.com/auth/cloud-platform');
    assert.equal((payload.exp ?? 0) - (payload.iat ?? 0), 3_600);
  });

  it('are asked for once by any number of requests, and known afterwards', async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, asked));
    assert.deepEqual(new Set(answers), new Set(['token-1']));
    assert.equal(known(), 'token-1');
    assert.equal(endpoint.assertions.length, 1);
  });

  it('belong to one organization', async () => {
    await asked();
    assert.equal((await ask('other').token).reveal(), 'token-2');
  });

  it('are replaced in the background before they end, one request at a time', async () => {
    await asked();
    elapsedMs = 71_000;
    endpoint.status = null;
    for (let request = 0; request < 10; request += 1) assert.equal(known(), 'token-1');
    endpoint.status = 200;
    while (known() !== 'token-2') await new Promise((resolve) => setImmediate(resolve));
    assert.equal(endpoint.assertions.length, 2);
  });

  it('stay in use while the endpoint fails, which is asked again after a while', async () => {
    await asked();
    elapsedMs = 71_000;
    endpoint.status = 500;
    assert.equal(known(), 'token-1');
    while (endpoint.assertions.length < 2) await new Promise((resolve) => setImmediate(resolve));
    // The endpoint has answered the first organization before it answers the others.
    for (const other of ['a', 'b', 'c']) {
      await assert.rejects(async () => await ask(other).token, TokenError);
      assert.equal(known(), 'token-1');
    }
    assert.equal(endpoint.assertions.length, 2 + 3);
    endpoint.status = 200;
    while (known() !== 'token-6') {
      elapsedMs += 10;
      assert.ok(elapsedMs < 95_000);
      await new Promise((resolve) => setImmediate(resolve));
    }
  });

  it('fail with what the endpoint answered once the last has ended, without asking for each request', async () => {
    await asked();
    elapsedMs = 96_000;
    endpoint.status = 400;
    const refused = (error: unknown) =>
      error instanceof TokenError && /127\.0\.0\.1 returned 400/.test(error.message);
    await assert.rejects(asked(), refused);
    await assert.rejects(asked(), refused);
    assert.equal(endpoint.assertions.length, 2);
    elapsedMs += 600;
    endpoint.status = 200;
    assert.equal(await asked(), 'token-3');
  });

  it('are not dropped for a late answer to a request with the one before', async () => {
    const { secret, token } = ask();
    const first = await token;
    elapsedMs = 71_000;
    while (known() !== 'token-2') await new Promise((resolve) => setImmediate(resolve));
    tokens.rejected(secret, 'org', first);
    assert.equal(known(), 'token-2');
  });

  it('are dropped once when the provider rejects them', async () => {
    const { secret, token } = ask();
    const first = await token;
    tokens.rejected(secret, 'org', first);
    assert.equal(known(), null);
    const second = new Secret(await asked());
    // Late answers to requests with the first token.
    tokens.rejected(secret, 'org', first);
    assert.equal(known(), second.reveal());
    // The replacement is rejected too, so the token is not the cause.
    tokens.rejected(secret, 'org', second);
    assert.equal(known(), second.reveal());
    // Much later it is: it was revoked as well.
    elapsedMs += 60_001;
    tokens.rejected(secret, 'org', second);
    assert.equal(await asked(), 'token-3');
  });

  it('live for a while if the endpoint does not say how long, and are not taken if they have ended', async () => {
    endpoint.lifeSeconds = undefined;
    await asked();
    elapsedMs = 200_000;
    assert.equal(known(), 'token-1');
    endpoint.lifeSeconds = 0;
    await assert.rejects(async () => await ask('other').token, TokenError);
  });

  it('are not asked for at an address that upstreams may not have', async () => {
    await egress.close();
    egress = openEgress([]);
    tokens = createGoogleTokens({ egress, clock, random: () => 1 });
    await assert.rejects(asked(), /did not respond \(address_refused\)/);
    assert.equal(endpoint.assertions.length, 0);
  });
});
