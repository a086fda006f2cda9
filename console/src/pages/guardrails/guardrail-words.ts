import type { Guardrail, ResponseRule } from '@relay/contract';
import { text } from '../../text/index.ts';

const words = text.guardrails;

export function phaseOf(guardrail: Pick<Guardrail, 'pre_dispatch_enabled' | 'post_response_enabled'>) {
  const { pre_dispatch_enabled: before, post_response_enabled: after } = guardrail;
  if (before && after) return words.phases.both;
  if (before) return words.phases.before;
  return after ? words.phases.after : words.phases.never;
}

/** The name of the service: its host, or the full text of an invalid URL. */
export function hostOf(baseUrl: string): string {
  return URL.canParse(baseUrl) ? new URL(baseUrl).host : baseUrl;
}

/** `$.verdict is "block"` */
export function conditionOf({ path, operator, value }: ResponseRule): string {
  const found = value === undefined ? '' : ` ${JSON.stringify(value)}`;
  return `${path} ${words.operators[operator]}${found}`;
}
