import type { Answer } from './exchange.ts';

/** What was expected and what came instead. */
export class Deviation extends Error {
  readonly expected: string;
  readonly came: string;
  constructor(expected: string, came: string) {
    super(`expected ${expected}, came ${came}`);
    this.expected = expected;
    this.came = came;
  }
}

export function expect(holds: boolean, expected: string, came: unknown): asserts holds {
  if (!holds) throw new Deviation(expected, shown(came));
}

export function expectStatus(answer: Answer, ...statuses: readonly number[]): void {
  expect(statuses.includes(answer.status), `status ${statuses.join(' or ')}`, answer);
}

export function expectEqual(came: unknown, expected: unknown, what: string): void {
  expect(
    JSON.stringify(came) === JSON.stringify(expected),
    `${what} to be ${JSON.stringify(expected)}`,
    came,
  );
}

const SHOWN_CHARACTERS = 400;

function shown(came: unknown): string {
  if (isAnswer(came)) return `${came.line} → ${came.status} ${came.text.slice(0, SHOWN_CHARACTERS)}`;
  if (came === undefined) return 'nothing';
  return JSON.stringify(came).slice(0, SHOWN_CHARACTERS);
}

function isAnswer(value: unknown): value is Answer {
  return typeof value === 'object' && value !== null && 'line' in value && 'status' in value;
}
