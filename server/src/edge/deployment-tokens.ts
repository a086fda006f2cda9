import { hash, timingSafeEqual } from 'node:crypto';
import { allScopes, type Scope } from '@relay/contract';
import type { Caller } from '../domain/caller.ts';
import { RelayError } from '../domain/relay-error.ts';
import type { Authenticate } from '../http/authenticate.ts';
import type { Secret } from '../kit/secret.ts';

export interface DeploymentTokens {
  readonly apiToken: Secret;
  readonly adminToken: Secret;
  readonly organizationId: string;
  readonly userId: string;
}

/**
 * Self-hosted access: one token for inference, one for management, neither opening the other's door. A
 * wrong token and the other door's token get the same answer, so that nothing can be learned from it.
 */
export function createTokenDoors(tokens: DeploymentTokens): {
  inference: Authenticate;
  management: Authenticate;
} {
  const owner = { organizationId: tokens.organizationId, userId: tokens.userId, keyId: null };
  const administration = allScopes.filter((scope): scope is Scope => scope !== 'relay:request');
  return {
    inference: door(tokens.apiToken, 'RELAY_API_TOKEN', {
      ...owner,
      kind: 'api_token',
      scopes: new Set<Scope>(['relay:request']),
    }),
    management: door(tokens.adminToken, 'RELAY_ADMIN_TOKEN', {
      ...owner,
      kind: 'admin_token',
      scopes: new Set<Scope>(administration),
    }),
  };
}

function door(token: Secret, tokenName: string, caller: Caller): Authenticate {
  const expected = digest(token.reveal());
  return (authorization) => {
    const presented = bearer(authorization);
    if (presented === null) {
      throw new RelayError('missing_api_key', {
        message: `No key was sent. Send "Authorization: Bearer <key>" with the value of ${tokenName}.`,
      });
    }
    // Comparing digests makes the comparison independent of the length as well as of the contents.
    if (timingSafeEqual(digest(presented), expected)) return caller;
    throw new RelayError('invalid_api_key', {
      message: `The key is not valid here. This address takes the value of ${tokenName}.`,
    });
  };
}

function bearer(authorization: string | undefined): string | null {
  const [scheme = '', value = '', ...rest] = authorization?.split(' ') ?? [];
  return scheme.toLowerCase() === 'bearer' && value !== '' && rest.length === 0 ? value : null;
}

function digest(text: string): Buffer {
  return hash('sha256', text, 'buffer');
}
