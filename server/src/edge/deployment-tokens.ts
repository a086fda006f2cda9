import { hash, timingSafeEqual } from 'node:crypto';
import { allScopes, type Scope } from '@relay/contract';
import type { Caller } from '../domain/caller.ts';
import type { Secret } from '../kit/secret.ts';

export interface DeploymentTokens {
  readonly apiToken: Secret;
  readonly adminToken: Secret;
  readonly organizationId: string;
  readonly userId: string;
}

/** One of the two tokens: its environment variable, and its caller. */
export interface TokenAuthenticator {
  readonly tokenName: string;
  /** Null when the presented value is not the token. */
  open(presented: string): Caller | null;
}

/**
 * Self-hosted access: one token for inference, one for management. A wrong token and the other API's token get the same
 * response, so that nothing can be learned from it.
 */
export function createTokenAuthenticators(tokens: DeploymentTokens): {
  inference: TokenAuthenticator;
  management: TokenAuthenticator;
} {
  const owner = {
    organizationId: tokens.organizationId,
    userId: tokens.userId,
    keyId: null,
    sessionId: null,
    keyPolicies: [],
  };
  const administration = allScopes.filter((scope): scope is Scope => scope !== 'relay:request');
  return {
    inference: authenticatorOf(tokens.apiToken, 'RELAY_API_TOKEN', {
      ...owner,
      kind: 'api_token',
      ...whole(['relay:request']),
    }),
    management: authenticatorOf(tokens.adminToken, 'RELAY_ADMIN_TOKEN', {
      ...owner,
      kind: 'admin_token',
      ...whole(administration),
    }),
  };
}

/** A token acts as the owner: its scopes are not reduced. */
function whole(list: readonly Scope[]): Pick<Caller, 'scopes' | 'access'> {
  const scopes = new Set(list);
  return { scopes, access: { granted: null, permissions: scopes, plan: 'self_hosted' } };
}

function authenticatorOf(token: Secret, tokenName: string, caller: Caller): TokenAuthenticator {
  const expected = digest(token.reveal());
  return {
    tokenName,
    // Comparing digests makes the time independent of length and contents.
    open: (presented) => (timingSafeEqual(digest(presented), expected) ? caller : null),
  };
}

function digest(text: string): Buffer {
  return hash('sha256', text, 'buffer');
}
