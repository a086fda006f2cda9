/** Replies of Redis, and SQLSTATEs of PostgreSQL, that reject a write while reads may work. */
const REDIS_REPLIES = /^(?:OOM|READONLY|MISCONF|NOREPLICAS)\b/;
const SQL_STATES = new Set(['25006', '53100', '53200', '58030']);

/** Whether a store rejected a call because it accepts no writes now. */
export function isRejectedWrite(error: unknown): boolean {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if (REDIS_REPLIES.test(cause.message)) return true;
    if ('code' in cause && typeof cause.code === 'string' && SQL_STATES.has(cause.code)) return true;
  }
  return false;
}
