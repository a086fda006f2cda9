import { createPublicKey, randomBytes, verify } from 'node:crypto';
import type { Access } from './access.ts';

interface ServiceAccountAccess {
  /** Public keys as PEM, by the id of the key. May change while the simulator runs. */
  keys: ReadonlyMap<string, { email: string; publicKey: string }>;
  /** How long a token is valid. */
  lifeMs: number;
}

export interface ServiceAccounts {
  access: Access;
  /** Answers a request to the token endpoint: status and body. */
  issue(form: URLSearchParams, tokenUri: string): [number, object];
  issued(): number;
  /** From now on the token endpoint answers with this status; null: as it should. */
  failWith(status: number | null): void;
}

const GRANT = 'urn:ietf:params:oauth:grant-type:jwt-bearer';
const ASSERTION_SECONDS_MAX = 3_600;
const SKEW_SECONDS = 300;

/** The token endpoint of Google, and the check of the tokens that it issued. */
export function serviceAccounts({ keys, lifeMs }: ServiceAccountAccess): ServiceAccounts {
  const tokens = new Map<string, number>();
  let count = 0;
  let failing: number | null = null;
  return {
    access({ rawHeaders }) {
      const at = rawHeaders.findIndex(
        (each, index) => index % 2 === 0 && each.toLowerCase() === 'authorization',
      );
      const token = /^Bearer (.+)$/.exec(at === -1 ? '' : (rawHeaders[at + 1] ?? ''))?.[1] ?? '';
      const untilMs = tokens.get(token);
      if (untilMs === undefined) return 'Request had invalid authentication credentials.';
      return performance.now() > untilMs ? 'The access token expired.' : null;
    },
    issue(form, tokenUri) {
      if (failing !== null) return [failing, { error: 'internal_failure' }];
      const fault =
        form.get('grant_type') === GRANT ? faultOf(form.get('assertion') ?? '', tokenUri) : 'grant_type';
      if (fault !== null) return [400, { error: 'invalid_grant', error_description: fault }];
      count += 1;
      const token = `ya29.${randomBytes(24).toString('base64url')}`;
      tokens.set(token, performance.now() + lifeMs);
      return [200, { access_token: token, expires_in: lifeMs / 1000, token_type: 'Bearer' }];
    },
    issued: () => count,
    failWith(status) {
      failing = status;
    },
  };

  function faultOf(assertion: string, tokenUri: string): string | null {
    const [head = '', claims = '', signature = ''] = assertion.split('.');
    const { alg, kid } = decoded(head);
    const { iss, aud, scope, iat, exp } = decoded(claims);
    const key = typeof kid === 'string' ? keys.get(kid) : undefined;
    if (alg !== 'RS256' || key === undefined || iss !== key.email)
      return 'Invalid JWT: unknown key or issuer.';
    const signed = Buffer.from(`${head}.${claims}`);
    if (!verify('sha256', signed, createPublicKey(key.publicKey), Buffer.from(signature, 'base64url')))
      return 'Invalid JWT Signature.';
    if (aud !== tokenUri) return 'Invalid JWT: aud.';
    if (typeof scope !== 'string' || scope === '') return 'Invalid JWT: scope.';
    const nowSeconds = Date.now() / 1000;
    if (typeof iat !== 'number' || typeof exp !== 'number' || exp - iat > ASSERTION_SECONDS_MAX)
      return 'Invalid JWT: lifetime.';
    return iat > nowSeconds + SKEW_SECONDS || exp < nowSeconds ? 'Invalid JWT: not valid now.' : null;
  }
}

function decoded(part: string): Record<string, unknown> {
  try {
    return JSON.parse(Buffer.from(part, 'base64url').toString()) as Record<string, unknown>;
  } catch {
    return {};
  }
}
