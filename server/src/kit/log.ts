import pino from 'pino';
import { systemClock } from './clock.ts';
import { createRepeatedLines } from './repeated-lines.ts';

export type Log = pino.Logger;
export type LogLevel = 'debug' | 'info' | 'warn' | 'error' | 'silent';

// A second line of defense: no code should log these values, and if it does, they are removed.
const REDACTED_PATHS = [
  'authorization',
  'cookie',
  'headers.authorization',
  'headers.cookie',
  'headers["x-api-key"]',
  '*.headers.authorization',
  '*.headers.cookie',
  '*.headers["x-api-key"]',
  'secret',
  '*.secret',
  'password',
  '*.password',
  'api_key',
  '*.api_key',
  'token',
  '*.token',
];

export function createLog(level: LogLevel, destination?: pino.DestinationStream): Log {
  const options: pino.LoggerOptions = {
    level,
    base: null,
    redact: { paths: REDACTED_PATHS, censor: '[redacted]' },
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }) },
    serializers: { err: shownError },
    hooks: { logMethod: withoutRepetition() },
  };
  return destination === undefined ? pino(options) : pino(options, destination);
}

/** As pino numbers its levels. */
const WARN = 40;

type LogMethod = NonNullable<NonNullable<pino.LoggerOptions['hooks']>['logMethod']>;

/** Leaves out warnings and errors that repeat with every request. */
function withoutRepetition(): LogMethod {
  const repeatedBefore = createRepeatedLines(systemClock);
  return function write(args, method, level) {
    const [fields, message]: unknown[] = args;
    if (level < WARN || typeof fields !== 'object' || fields === null) return method.apply(this, args);
    const repeated = repeatedBefore(String(message), fields as Record<string, unknown>);
    if (repeated === null) return;
    method.apply(this, repeated === 0 ? args : [{ ...fields, repeated }, String(message)]);
  };
}

/** System errors, SQLSTATEs of a server that cannot answer now, and Relay's own codes: their place in the code says nothing. */
const EXPECTED = /^(?:E[A-Z_]+|(?:08|25|40|53|55|57)\w{3}|(?!internal_error$)[a-z]+_[a-z_]+)$/;

interface ShownError {
  readonly type: string;
  readonly message: string;
  readonly code?: string;
  readonly stack?: string;
}

/** With the messages of its causes, and a stack only where a fault of Relay may have caused it. */
function shownError(error: unknown): ShownError | unknown {
  if (!(error instanceof Error)) return error;
  const chain: Error[] = [];
  for (let each: unknown = error; each instanceof Error && !chain.includes(each); each = each.cause)
    chain.push(each);
  const codes = chain.flatMap((each) => ('code' in each && typeof each.code === 'string' ? [each.code] : []));
  const isExpected = codes[0] !== undefined && EXPECTED.test(codes[0]);
  const message = chain.map((each) => each.message + internalOf(each)).join(': ');
  const { name: type } = error.constructor;
  return {
    type,
    message,
    ...(codes[0] !== undefined && { code: codes[0] }),
    ...(!isExpected && { stack: chain.map((each) => each.stack).join('\ncaused by: ') }),
  };
}

/** What an error of Relay has for the log only. */
function internalOf(error: Error): string {
  const detail: unknown = 'detail' in error ? error.detail : null;
  if (typeof detail !== 'object' || detail === null || !('internal' in detail)) return '';
  return typeof detail.internal === 'string' ? ` (${detail.internal})` : '';
}
