import type { IncomingMessage } from 'node:http';
import type { Caller } from '../domain/caller.ts';

export interface AuthenticateOptions {
  /** The session of a suspended member is accepted, and gives no permissions. */
  readonly suspendedToo?: boolean;
}

/**
 * Identifies the caller from the head of the request, or throws 401. Returns synchronously when the decision needs no I/O, which
 * for deployment tokens is always the case.
 */
export type Authenticate = (
  request: IncomingMessage,
  options?: AuthenticateOptions,
) => Caller | Promise<Caller>;

const BEARER = /^bearer +(\S+)$/i;

/** The presented token, or null when the header is absent or not of the Bearer scheme, whose case does not matter. */
export function bearerOf({ headers }: IncomingMessage): string | null {
  return BEARER.exec(headers.authorization ?? '')?.[1] ?? null;
}
