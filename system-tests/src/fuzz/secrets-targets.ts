import { createHash, createPublicKey, randomUUIDv7, sign } from 'node:crypto';
import type { HostedDeployment } from '../harness/hosted-deployment.ts';
import { operationOf } from './document.ts';
import { judge, offContract } from './judge.ts';
import { mutatedToken } from './mutate.ts';
import { bearer, headerSafe } from './routes-target.ts';
import type { Target } from './target.ts';

const PATH = '/v1/models';

/** Keys, tokens and cookies that are nearly right. Only the right ones open anything. */
export const keysTarget: Target = {
  name: 'keys',
  weight: 6,
  async one({ random, site, ground }) {
    const operation = operationOf(random.pick(['listModels', 'getAccount', 'listProviders'] as const));
    const right = random.pick([
      ground.key,
      ground.narrowKey,
      site.selfHosted.adminToken,
      site.selfHosted.apiToken,
    ]);
    const wrong = headerSafe(mutatedToken(right, random));
    const headers = random.pick([
      bearer(wrong),
      { authorization: wrong },
      { authorization: `${random.pick(['bearer', 'Basic', 'Bearer  ', 'Bearer\t', ''])}${wrong}` },
      { 'x-api-key': wrong },
      { cookie: `relay_session=${wrong}` },
    ]) as Record<string, string>;
    const answer = await site.client.ask(site.selfHosted.url, {
      method: 'GET',
      path: operation.path,
      headers,
    });
    const opened = answer.status < 400 && !isSame(wrong, right);
    const verdict = opened ? offContract(`${answer.status} with a wrong key`) : judge(operation, answer);
    return {
      verdict,
      status: answer.status,
      shown: `${operation.path} ${Object.keys(headers).join()}: ${wrong}`,
    };
  },
};

/** HTTP takes spaces around a value away. */
function isSame(one: string, other: string): boolean {
  return one.trim() === other;
}

/** Contexts of the platform with a character or more changed, given to the inference service directly. */
export const contextsTarget: Target = {
  name: 'contexts',
  weight: 4,
  async one({ random, site }) {
    const good = contextFor(site.hosted);
    const isGood = random.chance(0.05);
    const token = isGood ? good : headerSafe(mutatedToken(good, random));
    const operation = operationOf('listModels');
    const headers = { 'x-relay-context': token };
    const answer = await site.client.ask(site.hosted.inference[0].url, {
      method: 'GET',
      path: PATH,
      headers,
    });
    const opened = answer.status < 400 && !isSameSignature(token, good);
    const refused = isGood && answer.status !== 200;
    const verdict = opened
      ? offContract('200 with a changed context')
      : refused
        ? offContract(`${answer.status} with a right context`)
        : judge(operation, answer);
    return { verdict, status: answer.status, shown: `${PATH} ${token}` };
  },
};

/** The last character of a signature has bits that decode to nothing. */
function isSameSignature(one: string, other: string): boolean {
  const decoded = (token: string) => {
    const [header, claims, signature = '', ...more] = token.trim().split('.');
    return [header, claims, Buffer.from(signature, 'base64url').toString('hex'), ...more].join('.');
  };
  return decoded(one) === decoded(other);
}

function contextFor({ platformKey, acme }: HostedDeployment): string {
  const publicKey = createPublicKey(platformKey).export({ format: 'der', type: 'spki' }).subarray(-32);
  const kid = createHash('sha256').update(publicKey).digest('base64url').slice(0, 16);
  const iat = Math.floor(Date.now() / 1_000);
  const claims = {
    ...{ iss: 'relay-platform', aud: 'relay-inference', iat, exp: iat + 30, jti: randomUUIDv7() },
    ...{ htm: 'GET', htu: PATH, bh: createHash('sha256').update('').digest('base64url') },
    ...{ org: acme.organizationId, usr: acme.userId, key: acme.keyId, ses: null, kind: 'user_key' },
    ...{ scopes: ['relay:request'], ver: 0 },
  };
  const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const input = `${encode({ alg: 'EdDSA', typ: 'relay-context+jwt', kid })}.${encode(claims)}`;
  return `${input}.${sign(null, Buffer.from(input), platformKey).toString('base64url')}`;
}
