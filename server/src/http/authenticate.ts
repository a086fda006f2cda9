import type { IncomingMessage } from 'node:http';
import type { Caller } from '../domain/caller.ts';
import { keyHeadersOf } from './inference-route.ts';

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

/**
 * The token that an inference request presents: as `bearerOf`, or without `Authorization` in a header of the protocol. Two of them are
 * never compared or tried in turn, so `Authorization` decides who calls even where the other is valid.
 */
export function inferenceKeyOf(request: IncomingMessage): string | null {
  if (request.headers.authorization !== undefined) return bearerOf(request);
  for (const name of keyHeadersOf(request)) {
    const value = request.headers[name];
    if (typeof value === 'string' && value !== '') return value;
  }
  return null;
}

/** The presented token, or null when the header is absent or not of the Bearer scheme, whose case does not matter. */
export function bearerOf({ headers }: IncomingMessage): string | null {
  return BEARER.exec(headers.authorization ?? '')?.[1] ?? null;
}
