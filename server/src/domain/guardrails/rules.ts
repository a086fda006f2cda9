import { isDeepStrictEqual } from 'node:util';
import { parseJsonPath, selectValues } from './path.ts';

export type RuleOperator =
  | 'equals'
  | 'not_equals'
  | 'exists'
  | 'missing'
  | 'contains'
  | 'greater_than'
  | 'at_least'
  | 'less_than'
  | 'at_most';

export type RuleAction = 'allow' | 'block' | 'log' | 'replace';

/** What a guardrail's answer means: the first rule that matches decides. */
export interface ResponseRule {
  readonly path: string;
  readonly operator: RuleOperator;
  /** Absent with `exists` and `missing`, required with every other operator. */
  readonly value?: unknown;
  readonly action: RuleAction;
  /** With `replace` only: the text that the client gets in place of the answer's text. */
  readonly replacement?: string;
}

/** `param` is the place inside the rules or the template, such as `[2].path`; `message` continues the sentence. */
export interface GuardrailProblem {
  readonly param: string;
  readonly message: string;
}

const WITHOUT_VALUE: ReadonlySet<RuleOperator> = new Set(['exists', 'missing']);
const OF_NUMBERS: ReadonlySet<RuleOperator> = new Set(['greater_than', 'at_least', 'less_than', 'at_most']);

/** The first error in rules whose shape the schema has already checked; null when there is none. */
export function checkRules(
  rules: readonly ResponseRule[],
  stages: { readonly preDispatch: boolean },
): GuardrailProblem | null {
  for (const [index, rule] of rules.entries()) {
    const problem = ruleProblem(rule, stages);
    if (problem !== null) return { param: `[${index}].${problem.param}`, message: problem.message };
  }
  return null;
}

/** The first rule that matches the answer; null when none does. */
export function judge(rules: readonly ResponseRule[], answer: unknown): ResponseRule | null {
  return rules.find((rule) => matches(rule, answer)) ?? null;
}

function ruleProblem(rule: ResponseRule, { preDispatch }: { preDispatch: boolean }): GuardrailProblem | null {
  const path = parseJsonPath(rule.path);
  if (typeof path === 'string') return { param: 'path', message: path };
  const hasValue = rule.value !== undefined;
  if (WITHOUT_VALUE.has(rule.operator)) {
    if (hasValue) return { param: 'value', message: `is not used with ${rule.operator}; omit it` };
  } else if (!hasValue) {
    return { param: 'value', message: `is required with ${rule.operator}` };
  }
  if (OF_NUMBERS.has(rule.operator) && typeof rule.value !== 'number')
    return { param: 'value', message: `must be a number with ${rule.operator}` };
  if (rule.action !== 'replace') {
    if (rule.replacement === undefined) return null;
    return { param: 'replacement', message: `is only used with the action replace; omit it` };
  }
  if (rule.replacement === undefined)
    return {
      param: 'replacement',
      message: 'is required with the action replace: the text that the client gets instead',
    };
  if (!preDispatch) return null;
  return {
    param: 'action',
    message: 'can’t be replace while pre_dispatch_enabled is true: there is no response to replace yet',
  };
}

function matches(rule: ResponseRule, answer: unknown): boolean {
  const path = parseJsonPath(rule.path);
  // The path was checked when it was saved; an unreadable path selects nothing, and does not count as `missing`.
  if (typeof path === 'string') return false;
  const values = selectValues(path, answer);
  if (rule.operator === 'missing') return values.length === 0;
  return values.some((value) => satisfies(rule, value));
}

function satisfies({ operator, value: wanted }: ResponseRule, value: unknown): boolean {
  switch (operator) {
    case 'equals':
      return isDeepStrictEqual(value, wanted);
    case 'not_equals':
      return !isDeepStrictEqual(value, wanted);
    case 'exists':
      return true;
    case 'missing':
      return false;
    case 'contains':
      return contains(value, wanted);
    case 'greater_than':
    case 'at_least':
    case 'less_than':
    case 'at_most':
      return typeof value === 'number' && typeof wanted === 'number' && compares(operator, value, wanted);
  }
}

function contains(value: unknown, wanted: unknown): boolean {
  if (Array.isArray(value)) return value.some((each) => isDeepStrictEqual(each, wanted));
  if (typeof value !== 'string' || typeof wanted !== 'string') return false;
  return value.toLowerCase().includes(wanted.toLowerCase());
}

function compares(
  operator: 'greater_than' | 'at_least' | 'less_than' | 'at_most',
  value: number,
  wanted: number,
): boolean {
  switch (operator) {
    case 'greater_than':
      return value > wanted;
    case 'at_least':
      return value >= wanted;
    case 'less_than':
      return value < wanted;
    case 'at_most':
      return value <= wanted;
  }
}
