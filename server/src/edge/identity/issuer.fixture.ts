import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair, type JWTPayload, SignJWT, UnsecuredJWT } from 'jose';

/** An OpenID Connect provider that can be made to lie. Otherwise it follows the specification. */
export interface Issuer {
  readonly url: string;
  /** Who is signing in, and how the provider reports it. */
  person: Person;
  /** The requests to the token endpoint so far. */
  readonly exchanges: { authorization: string | undefined; form: URLSearchParams }[];
  close(): Promise<void>;
}

export interface Person {
  readonly sub: string;
  readonly email?: string;
  readonly email_verified?: unknown;
  readonly name?: string;
  /** ID token claims that override the true ones. */
  readonly idToken?: JWTPayload;
  readonly signature?: 'none' | 'other key' | 'missing';
  /** Claims that only the userinfo endpoint returns. */
  readonly userInfo?: Record<string, unknown>;
}

export const CLIENT_ID = 'relay';
export const CLIENT_SECRET = 'a secret of the client';

export async function startIssuer(port = 0): Promise<Issuer> {
  const [ours, other] = await Promise.all([generateKeyPair('ES256'), generateKeyPair('ES256')]);
  const jwk = { ...(await exportJWK(ours.publicKey)), kid: 'key', alg: 'ES256', use: 'sig' };
  const server = createServer((request, response) => {
    void answer(request, response);
  });
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const journeys = new Map<string, { challenge: string; nonce: string }>();
  const issuer: Issuer = {
    url,
    person: { sub: 'nobody' },
    exchanges: [],
    async close() {
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };

  async function idTokenOf(nonce: string): Promise<string | undefined> {
    const { idToken, signature, userInfo, ...claims } = issuer.person;
    const told = userInfo === undefined ? claims : { sub: claims.sub };
    const nowS = Math.floor(Date.now() / 1_000);
    const payload = { iss: url, aud: CLIENT_ID, iat: nowS, exp: nowS + 60, nonce, ...told, ...idToken };
    if (signature === 'missing') return undefined;
    if (signature === 'none') return new UnsecuredJWT(payload).encode();
    const key = signature === 'other key' ? other.privateKey : ours.privateKey;
    return new SignJWT(payload).setProtectedHeader({ alg: 'ES256', kid: 'key' }).sign(key);
  }

  async function exchange(request: IncomingMessage): Promise<object | null> {
    const form = new URLSearchParams(await textOf(request));
    issuer.exchanges.push({ authorization: request.headers.authorization, form });
    const journey = journeys.get(form.get('code') ?? '');
    journeys.delete(form.get('code') ?? '');
    if (journey === undefined || (await challengeOf(form.get('code_verifier') ?? '')) !== journey.challenge)
      return null;
    return {
      access_token: 'access',
      token_type: 'Bearer',
      expires_in: 60,
      id_token: await idTokenOf(journey.nonce),
    };
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(request.url ?? '/', url);
    const json = (body: object | null) => {
      response.writeHead(body === null ? 400 : 200, { 'content-type': 'application/json' });
      response.end(JSON.stringify(body ?? { error: 'invalid_grant' }));
    };
    if (pathname === '/.well-known/openid-configuration') return json(configurationOf(url));
    if (pathname === '/jwks') return json({ keys: [jwk] });
    if (pathname === '/token') return json(await exchange(request));
    if (pathname === '/userinfo') return json({ sub: issuer.person.sub, ...issuer.person.userInfo });
    const code = crypto.randomUUID();
    journeys.set(code, {
      challenge: searchParams.get('code_challenge') ?? '',
      nonce: searchParams.get('nonce') ?? '',
    });
    const back = new URL(searchParams.get('redirect_uri') ?? '');
    back.searchParams.set('code', code);
    back.searchParams.set('state', searchParams.get('state') ?? '');
    response.writeHead(302, { location: back.toString() });
    response.end();
  }

  return issuer;
}

function configurationOf(url: string): object {
  return {
    issuer: url,
    authorization_endpoint: `${url}/authorize`,
    token_endpoint: `${url}/token`,
    userinfo_endpoint: `${url}/userinfo`,
    jwks_uri: `${url}/jwks`,
    id_token_signing_alg_values_supported: ['ES256', 'none'],
  };
}

async function challengeOf(verifier: string): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(verifier));
  return Buffer.from(digest).toString('base64url');
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}
