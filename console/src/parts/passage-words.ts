import type { Operation } from '@relay/contract';
import { text } from '../text/index.ts';

const words = text.requests.passage;
const { operations } = text.requests;

interface Passage {
  readonly translated_to: Operation | null;
  readonly left_out: readonly string[];
}

/** How a request reaches a provider: passed through or translated, and without which fields. */
export function passageWords(asked: Operation, { translated_to: to, left_out: leftOut }: Passage): string {
  const way = to === null ? words.passedThrough : words.translated(operations[asked], operations[to]);
  return leftOut.length === 0 ? way : `${way}. ${words.leftOut(leftOut.join(', '))}`;
}

/** Whether the provider got the client's bytes with nothing changed but the model. */
export function isUnchanged({ translated_to: to, left_out: leftOut }: Passage): boolean {
  return to === null && leftOut.length === 0;
}
