import { RelayError } from '../domain/relay-error.ts';

/** SQLSTATEs that mean "not now" for any query. */
const UNAVAILABLE_STATES = new Set([
  '25006', // read only: connected to a standby, usually in the middle of a failover
  '25P03', // idle in transaction for too long
  '40P01', // a deadlock, which PostgreSQL ends by rolling one transaction back
  '40001', // a replica cancelled the query, to replay what changed its rows
  '53000',
  '53100', // disk full
  '53200', // out of memory
  '53300', // too many connections
  '55P03', // lock not available in time
  '57014', // cancelled by statement_timeout
  '57P01', // the server is shutting down
  '57P02',
  '57P03', // the server is starting up
  '57P05',
]);

const SOCKET_CODES = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ECONNABORTED',
  'EPIPE',
  'ETIMEDOUT',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOENT', // the directory of a unix socket is gone
]);

/** Errors that the driver gives no code. */
const DRIVER_MESSAGES =
  /^(Connection terminated|timeout exceeded when trying to connect|timeout expired|Query read timeout|Client has encountered a connection error|Client was closed|Cannot use a pool after calling end|The server does not support SSL)/;

/** Whether the connection that raised the error must not be used again. */
export function isConnectionLost(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = codeOf(error);
  if (code !== undefined) return SOCKET_CODES.has(code) || code.startsWith('08') || code.startsWith('57P');
  return DRIVER_MESSAGES.test(error.message);
}

/**
 * Turns "PostgreSQL cannot answer now" into `store_unavailable` and leaves every other error unchanged: a constraint
 * violation is for the caller, and an outage must never look like a missing row or a wrong key.
 */
export function asStoreError(error: unknown): unknown {
  if (error instanceof RelayError || !(error instanceof Error)) return error;
  const code = codeOf(error);
  const unavailable = isConnectionLost(error) || (code !== undefined && UNAVAILABLE_STATES.has(code));
  return unavailable ? storeUnavailable('postgresql', error) : error;
}

/** The message of `store_unavailable` is about PostgreSQL, which has the configuration. */
const REDIS_AWAY = { message: 'Redis is unavailable. Retry shortly.' };

export function storeUnavailable(store: 'postgresql' | 'redis', cause: unknown): RelayError {
  const reason = cause instanceof Error ? cause.message || (codeOf(cause) ?? cause.name) : String(cause);
  const about = store === 'redis' ? REDIS_AWAY : {};
  return new RelayError('store_unavailable', { ...about, internal: `${store}: ${reason}`, cause });
}

/** The store that was unavailable, by what `storeUnavailable` wrote. */
export function unavailableStore({ detail }: RelayError): 'postgresql' | 'redis' {
  return String(detail.internal).startsWith('redis:') ? 'redis' : 'postgresql';
}

/** The database works, but all its connections are taken. */
export function storeBusy(reason: string): RelayError {
  return new RelayError('store_unavailable', {
    message:
      'The database is busy with other requests. Retry shortly. Inference continues with the last known configuration.',
    internal: `postgresql: ${reason}`,
  });
}

const UNIQUE_VIOLATION = '23505';

/** Whether a write failed because another row has the same value. */
export function isUniqueViolation(error: unknown): boolean {
  return codeOf(error) === UNIQUE_VIOLATION;
}

/** The SQLSTATE of a database error, or the code of a system error. */
export function codeOf(error: unknown): string | undefined {
  const code: unknown = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'string' ? code : undefined;
}

const CERTIFICATE_CODES =
  /^(?:ERR_TLS_CERT_ALTNAME_INVALID|CERT_.*|SELF_SIGNED_CERT_IN_CHAIN|DEPTH_ZERO_SELF_SIGNED_CERT|UNABLE_TO_(?:GET_ISSUER_CERT|VERIFY)\w*)$/;

/** Why TLS rejects the certificate of a store; null for every other failure. Waiting does not mend it. */
export function certificateFault(error: unknown): string | null {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    const code = codeOf(cause);
    if (code !== undefined && CERTIFICATE_CODES.test(code)) return `${cause.message} (${code})`;
  }
  return null;
}
