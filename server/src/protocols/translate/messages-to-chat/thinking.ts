import { objectOf } from '../../../kit/json-value.ts';
import type { FieldSorter } from '../field-sorter.ts';
import { messagesToChatFields as fields } from './fields.ts';

const EFFORTS: readonly unknown[] = ['low', 'medium', 'high', 'xhigh', 'max'];

/** How much thinking a budget stands for: chat completions take no number of tokens. */
const BUDGETS: readonly (readonly [tokensMax: number, effort: string])[] = [
  [4_096, 'low'],
  [16_384, 'medium'],
  [Number.POSITIVE_INFINITY, 'high'],
];

/**
 * `reasoning_effort` of `thinking` and `output_config.effort`. No thinking is `none`, an effort keeps its name, and a budget becomes
 * an effort and is named as left out. Adaptive thinking is what a model does that is asked for nothing. `display` is for the writer.
 */
export function reasoningEffort(
  sorter: FieldSorter,
  thinking: unknown,
  effort: unknown,
  understood: boolean,
): string | undefined {
  const { type, budget_tokens: budget } = sorter.section(thinking, 'thinking', fields.thinking);
  const hasEffort = effort !== undefined && effort !== null;
  if (hasEffort && !EFFORTS.includes(effort)) sorter.cannotSay('output_config.effort');
  if (!understood) {
    if (type === 'disabled' || type === 'enabled') sorter.leaveOut('thinking');
    if (hasEffort) sorter.leaveOut('output_config.effort');
    return undefined;
  }
  if (type === 'disabled') {
    if (hasEffort) sorter.leaveOut('output_config.effort');
    return 'none';
  }
  if (type === 'enabled') sorter.leaveOut('thinking.budget_tokens');
  else if (type !== undefined && type !== 'adaptive') sorter.cannotSay('thinking.type');
  if (typeof effort === 'string') return effort;
  return typeof budget === 'number' ? effortOf(budget) : undefined;
}

function effortOf(budget: number): string | undefined {
  return BUDGETS.find(([tokensMax]) => budget <= tokensMax)?.[1];
}

/** Edits that take thinking out have nothing left to do: it is not sent. All others change what the model reads. */
export function sortContextManagement(sorter: FieldSorter, given: unknown): void {
  const { edits } = sorter.section(given, 'context_management', fields.contextManagement);
  for (const [index, edit] of sorter.list(edits, 'context_management.edits').entries()) {
    const field = `context_management.edits[${index}]`;
    const type = objectOf(edit)['type'];
    if (typeof type === 'string' && type.startsWith('clear_thinking_')) sorter.leaveOut(field);
    else sorter.cannotSay(field);
  }
}
