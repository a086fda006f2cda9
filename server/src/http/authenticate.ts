import type { Caller } from '../domain/caller.ts';

/**
 * Who is calling, from the Authorization header. Throws the 401 of the case. Answers at once wherever the
 * decision needs no I/O, which on the hot path is the rule.
 */
export type Authenticate = (authorization: string | undefined) => Caller | Promise<Caller>;
