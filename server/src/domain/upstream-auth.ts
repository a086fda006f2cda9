import type { Guardrail, Provider } from '@relay/contract';
import type { EgressRequest } from '../kit/egress/index.ts';
import type { Secret } from '../kit/secret.ts';

/** How Relay authenticates to a provider or a guardrail. */
export type AuthMode = Provider['auth_mode'] | Guardrail['auth_mode'];

interface AuthStyle {
  readonly needsSecret: boolean;
  /** The configuration has to name the header that carries the secret. */
  readonly needsHeaderName: boolean;
  /** How the secret is sent, in words for people. */
  readonly sentAs: (headerName: string | null) => string;
  /** Runs last, on the finished request, so that a style that signs can read its method, path, headers and body. */
  readonly apply: (request: EgressRequest, secret: string, headerName: string | null) => void;
}

const HEADER_NAME_DEFAULT = 'x-api-key';

/** Every auth style. Adding one means a row here, its value in the contract and a migration of the stored values. */
export const authStyles: Readonly<Record<AuthMode, AuthStyle>> = {
  none: {
    needsSecret: false,
    needsHeaderName: false,
    sentAs: () => 'nothing',
    apply: () => undefined,
  },
  bearer_static: {
    needsSecret: true,
    needsHeaderName: false,
    sentAs: () => '"Authorization: Bearer …"',
    apply: ({ headers }, secret) => void headers.push('authorization', `Bearer ${secret}`),
  },
  header_static: {
    needsSecret: true,
    needsHeaderName: true,
    sentAs: (headerName) => `the header "${headerName ?? HEADER_NAME_DEFAULT}"`,
    apply: ({ headers }, secret, headerName) => void headers.push(headerName ?? HEADER_NAME_DEFAULT, secret),
  },
};

/** Adds the authentication to the request. False when the style needs a secret and there is none. */
export function authorizeRequest(
  request: EgressRequest,
  mode: AuthMode,
  headerName: string | null,
  secret: Secret | null,
): boolean {
  const style = authStyles[mode];
  if (!style.needsSecret) return true;
  if (secret === null) return false;
  style.apply(request, secret.reveal(), headerName);
  return true;
}
