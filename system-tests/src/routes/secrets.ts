import { randomBytes } from 'node:crypto';
import type { Answer } from './answer.ts';

/** What must not be seen again: looked for in every header and body of the whole walk. */
export interface Secrets {
  /** A value to plant somewhere, known from now on. */
  plant(label: string): string;
  /** A value that exists already. */
  know(label: string, value: string): void;
  /** A value that this answer shows for the first and only time. */
  shownBy(answer: Answer, label: string, value: string): void;
  /** Where one was seen that should not have been. */
  leaksIn(answers: readonly Answer[], logs: readonly unknown[]): string[];
}

export function createSecrets(): Secrets {
  const known = new Map<string, string>();
  const allowed = new Map<Answer, Set<string>>();
  const allow = (answer: Answer, value: string) => {
    const values = allowed.get(answer) ?? new Set();
    allowed.set(answer, values.add(value));
  };
  return {
    plant(label) {
      const value = `canary-${randomBytes(12).toString('hex')}`;
      known.set(value, label);
      return value;
    },
    know(label, value) {
      if (value !== '') known.set(value, label);
    },
    shownBy(answer, label, value) {
      if (value === '') return;
      known.set(value, label);
      allow(answer, value);
    },
    leaksIn(answers, logs) {
      const places = [
        ...answers.map((answer) => ({
          where: `the answer to ${answer.line}`,
          text: `${[...answer.headers].join('\n')}\n${answer.text}`,
          allowed: allowed.get(answer),
        })),
        { where: 'the log', text: JSON.stringify(logs), allowed: undefined },
      ];
      return places.flatMap(({ where, text, allowed: here }) =>
        [...known]
          .filter(([value]) => text.includes(value) && here?.has(value) !== true)
          .map(([, label]) => `${where} shows ${label}`),
      );
    },
  };
}
