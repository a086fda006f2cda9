import type { Operation } from '@relay/contract';
import type { GuardrailProblem } from './rules.ts';
import type { GuardrailStage } from './verdict.ts';

/** The JSON object that is sent to a guardrail; strings in it may hold `{{name}}`. */
export type Template = Readonly<Record<string, unknown>>;

/** One message of a conversation, as text only. */
export interface TextMessage {
  readonly role: string;
  readonly content: string;
}

export interface TemplateValues {
  readonly text: string;
  readonly stage: GuardrailStage;
  readonly operation: Operation;
  /** As the client sent it. */
  readonly model: string;
  /** The lane's slug; empty when the request named a model. */
  readonly lane: string;
  readonly requestId: string;
  readonly messages: readonly TextMessage[];
  /** The parsed request, or in `post_response` the parsed answer. */
  readonly body: unknown;
}

/** What a name among other text is replaced with. */
const TEXT_VALUES: ReadonlyMap<string, (values: TemplateValues) => string> = new Map([
  ['text', ({ text }) => text],
  ['stage', ({ stage }) => stage],
  ['operation', ({ operation }) => operation],
  ['model', ({ model }) => model],
  ['lane', ({ lane }) => lane],
  ['request_id', ({ requestId }) => requestId],
]);
/** These become JSON and not text, so they replace a complete string and never a part of one. */
const JSON_NAMES: ReadonlySet<string> = new Set(['messages', 'body']);
const templateNames = [...TEXT_VALUES.keys(), ...JSON_NAMES];

const NAMED = /\{\{\s*([^{}]*?)\s*\}\}/g;
const WHOLE = /^\{\{\s*(messages|body)\s*\}\}$/;
const DEPTH_MAX = 32;

/** The first error in the template; null when there is none. */
export function checkTemplate(template: Template): GuardrailProblem | null {
  return problemIn(template, '', 0);
}

/** Values are filled in after parsing, so they stay inside their strings and are not searched for names again. */
export function fillTemplate(template: Template, values: TemplateValues): unknown {
  return fill(template, values);
}

function problemIn(value: unknown, param: string, depth: number): GuardrailProblem | null {
  if (depth > DEPTH_MAX) return { param, message: `must not nest deeper than ${DEPTH_MAX} levels` };
  if (typeof value === 'string') return problemOfText(value, param);
  if (typeof value !== 'object' || value === null) return null;
  for (const [name, each] of Object.entries(value)) {
    const inner = Array.isArray(value) ? `${param}[${name}]` : `${param}.${name}`;
    if (!Array.isArray(value) && name.includes('{{'))
      return { param: inner, message: 'has {{ in a field name; only values can have placeholders' };
    const problem = problemIn(each, inner, depth + 1);
    if (problem !== null) return problem;
  }
  return null;
}

function problemOfText(text: string, param: string): GuardrailProblem | null {
  if (WHOLE.test(text)) return null;
  for (const [written, name = ''] of text.matchAll(NAMED)) {
    if (JSON_NAMES.has(name))
      return {
        param,
        message: `has ${written} among other text; it becomes JSON, so it must be the whole string`,
      };
    if (!TEXT_VALUES.has(name))
      return {
        param,
        message: `has the unknown placeholder ${written}; known names are ${templateNames.join(', ')}`,
      };
  }
  if (text.replace(NAMED, '').includes('{{'))
    return { param, message: 'has {{ that is not followed by a name and }}' };
  return null;
}

function fill(value: unknown, values: TemplateValues): unknown {
  if (typeof value === 'string') return fillText(value, values);
  if (Array.isArray(value)) return value.map((each) => fill(each, values));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, fill(each, values)]));
}

function fillText(text: string, values: TemplateValues): unknown {
  const whole = WHOLE.exec(text);
  if (whole !== null) return whole[1] === 'messages' ? values.messages : values.body;
  return text.replace(NAMED, (written, name: string) => TEXT_VALUES.get(name)?.(values) ?? written);
}
