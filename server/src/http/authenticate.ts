import type { IncomingMessage } from 'node:http';
import type { Caller } from '../domain/caller.ts';

/**
 * Who is calling, from the head of the request. Throws the 401 of the case. Answers at once wherever the
 * decision needs no I/O, which with deployment tokens is always.
 */
export type Authenticate = (request: IncomingMessage) => Caller | Promise<Caller>;
