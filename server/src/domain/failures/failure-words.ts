import type { LimitMetric, LimitPeriod } from '@relay/contract';
import { capitalized, limitRuleWords } from '@relay/contract/words';

/** The limit that rejected requests, as far as it is known. */
export interface InvolvedLimit {
  readonly kind: 'resource' | 'user' | 'api_key' | 'team';
  readonly scopeType: string;
  /** Of what it limits; null if that was deleted, and for the whole organization. */
  readonly subjectName: string | null;
  readonly metric: LimitMetric;
  readonly period: LimitPeriod;
  /** Null if the limit was deleted. */
  readonly limitValue: number | null;
}

/** The names of what took part in a failure; null for what is unknown or was deleted. */
export interface Involved {
  readonly provider: string | null;
  readonly endpoint: string | null;
  readonly lane: string | null;
  readonly guardrail: string | null;
  readonly model: string | null;
  readonly limit: InvolvedLimit | null;
}

/** Lane "fast"; where the name is unknown, "a lane". A capital begins a sentence. */
export function named(kind: string, name: string | null): string {
  if (name !== null) return `${kind} "${name}"`;
  const isFirst = kind !== kind.toLowerCase();
  const article = /^[aeiou]/i.test(kind) ? 'an' : 'a';
  return `${isFirst ? capitalized(article) : article} ${kind.toLowerCase()}`;
}

/** Key "App" reached its limit of $15.00 per day */
export function reached(limit: InvolvedLimit): string {
  return `${capitalized(subjectOf(limit))} reached its limit ${ruleOf(limit)}`;
}

/** the limit of 100 tokens per minute for key "App" */
export function limitWords(limit: InvolvedLimit | null): string {
  return limit === null ? 'a limit' : `the limit ${ruleOf(limit)} for ${subjectOf(limit)}`;
}

const SUBJECTS = { user: 'member', api_key: 'key', team: 'team' } as const;

function subjectOf({ kind, scopeType, subjectName }: InvolvedLimit): string {
  if (kind !== 'resource') return named(SUBJECTS[kind], subjectName);
  return scopeType === 'global' ? 'the organization' : named(scopeType, subjectName);
}

function ruleOf({ metric, period, limitValue }: InvolvedLimit): string {
  if (limitValue !== null) return `of ${limitRuleWords({ metric, period, limit_value: limitValue })}`;
  return period === 'none' ? `on ${metric}` : `on ${metric} per ${period}`;
}
