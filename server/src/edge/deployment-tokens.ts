import { hash, timingSafeEqual } from 'node:crypto';
import { allScopes, type Scope } from '@relay/contract';
import type { Caller } from '../domain/caller.ts';
import type { Secret } from '../kit/secret.ts';

/** A token as the operator configured it. */
export interface DeploymentToken {
  readonly value: Secret;
  /** Earlier values, which are accepted until the operator removes them. */
  readonly earlier: readonly Secret[];
  /** Called when a client still sends an earlier value. */
  readonly onEarlier: () => void;
}

export interface DeploymentTokens {
  readonly apiToken: DeploymentToken;
  readonly adminToken: DeploymentToken;
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

function authenticatorOf(token: DeploymentToken, tokenName: string, caller: Caller): TokenAuthenticator {
  const expected = digest(token.value.reveal());
  const earlier = token.earlier.map((value) => digest(value.reveal()));
  return {
    tokenName,
    open(presented) {
      // Comparing digests makes the time independent of length and contents.
      const sent = digest(presented);
      if (timingSafeEqual(sent, expected)) return caller;
      if (!earlier.some((value) => timingSafeEqual(sent, value))) return null;
      token.onEarlier();
      return caller;
    },
  };
}

function digest(text: string): Buffer {
  return hash('sha256', text, 'buffer');
}
