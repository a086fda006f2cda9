import { inspect } from 'node:util';

/** The part of the runner's events that counting needs. */
export interface TestEvent {
  readonly type: string;
  readonly data: {
    readonly name?: string;
    readonly nesting?: number;
    readonly file?: string | undefined;
    readonly skip?: string | boolean | undefined;
    readonly todo?: string | boolean | undefined;
    readonly message?: string;
    /** Of a whole file, in its summary. */
    readonly duration_ms?: number;
    readonly details?: {
      readonly type?: string | undefined;
      readonly duration_ms?: number;
      readonly error?: unknown;
    };
  };
}

export interface Verdict {
  readonly outcome: 'passed' | 'failed' | 'ignored';
  readonly reason: string;
}

const IGNORED: Verdict = { outcome: 'ignored', reason: '' };
const PASSED: Verdict = { outcome: 'passed', reason: '' };

/**
 * Turns one event into at most one counted result. A suite counts only when it broke by itself, a skipped
 * test counts as a failure, and so does a file without a test: the runner would report both as passes.
 */
export function judge(event: TestEvent): Verdict {
  const { data } = event;
  const isSuite = data.details?.type === 'suite';
  if (event.type === 'test:pass') {
    if (isSuite) return IGNORED;
    if (data.skip !== undefined && data.skip !== false) return { outcome: 'failed', reason: 'skipped' };
    if (data.todo !== undefined && data.todo !== false)
      return { outcome: 'failed', reason: 'marked as to do' };
    if (data.nesting === 0 && data.name !== undefined && data.name === data.file) {
      return { outcome: 'failed', reason: 'the file holds no test' };
    }
    return PASSED;
  }
  if (event.type === 'test:fail') {
    if (failureType(data.details?.error) === 'subtestsFailed') return IGNORED;
    return { outcome: 'failed', reason: describeError(data.details?.error) };
  }
  return IGNORED;
}

function failureType(error: unknown): unknown {
  return typeof error === 'object' && error !== null && 'failureType' in error
    ? error.failureType
    : undefined;
}

function describeError(error: unknown): string {
  const cause = error instanceof Error && error.cause !== undefined ? error.cause : error;
  if (cause instanceof Error) return cause.stack ?? cause.message;
  return typeof cause === 'string' ? cause : inspect(cause);
}
