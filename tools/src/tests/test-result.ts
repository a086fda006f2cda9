import { basename } from 'node:path';
import { inspect } from 'node:util';

export interface PassedTest {
  readonly outcome: 'passed';
  readonly file: string;
  readonly name: string;
  readonly ms: number;
}

export interface FailedTest {
  readonly outcome: 'failed';
  readonly file: string;
  readonly name: string;
  readonly ms: number;
  readonly reason: string;
  /** False: the test exceeded a bound on time that it declares, and its processes waited for a core. See `within` in testbed. */
  readonly isJudged: boolean;
}

export type TestResult = PassedTest | FailedTest;

/** The part of the events of Node's test runner that results need. */
export interface TestEvent {
  readonly type: string;
  readonly data: {
    readonly name?: string;
    readonly nesting?: number;
    readonly file?: string | undefined;
    readonly skip?: string | boolean | undefined;
    readonly todo?: string | boolean | undefined;
    readonly details?: {
      readonly type?: string | undefined;
      readonly duration_ms?: number;
      readonly error?: unknown;
    };
  };
}

/** The line after the last result. */
export const ALL_ENDED = 'all tests ended';

const TIME_BOUND = 'RELAY_TIME_BOUND';

/**
 * Returns the result that an event reports, or null. A suite counts only when it broke by itself. A skipped test and a file
 * without a test are failures: the runner would report both as passes.
 */
export function resultOf({ type, data }: TestEvent): TestResult | null {
  if (type !== 'test:pass' && type !== 'test:fail') return null;
  const { name = '', file = '', details } = data;
  const common = { file, name, ms: Math.round(details?.duration_ms ?? 0) };
  const failed = (reason: string, isJudged = true): FailedTest => ({
    ...common,
    outcome: 'failed',
    reason,
    isJudged,
  });
  if (type === 'test:fail') {
    const error = details?.error;
    if (fieldOf(error, 'failureType') === 'subtestsFailed') return null;
    const cause = fieldOf(error, 'cause') ?? error;
    const isJudged = fieldOf(cause, 'code') !== TIME_BOUND || fieldOf(cause, 'judged') !== false;
    return failed(describe(cause), isJudged);
  }
  if (details?.type === 'suite') return null;
  if (data.skip !== undefined && data.skip !== false) return failed('skipped');
  if (data.todo !== undefined && data.todo !== false) return failed('marked as to do');
  if (
    data.nesting === 0 &&
    file !== '' &&
    (name === file || name === basename(file) || file.endsWith(`/${name}`))
  )
    return failed('the file holds no test');
  return { ...common, outcome: 'passed' };
}

function fieldOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined;
}

function describe(cause: unknown): string {
  if (cause instanceof Error) return cause.stack ?? cause.message;
  return typeof cause === 'string' ? cause : inspect(cause);
}
