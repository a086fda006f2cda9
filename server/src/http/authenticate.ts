import type { IncomingMessage } from 'node:http';
import type { Caller } from '../domain/caller.ts';

/**
 * Identifies the caller from the head of the request, or throws 401. Returns synchronously when the decision needs no I/O, which
 * for deployment tokens is always the case.
 */
export type Authenticate = (request: IncomingMessage) => Caller | Promise<Caller>;
