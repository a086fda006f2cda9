import type { Guardrail } from '../domain/guardrails/guardrail.ts';
import { judge, type ResponseRule, type RuleAction } from '../domain/guardrails/rules.ts';
import { fillTemplate, type TemplateValues } from '../domain/guardrails/template.ts';
import { parseGuardrailUrl } from '../domain/guardrails/url.ts';
import type { GuardrailCause, GuardrailStage, GuardrailVerdict } from '../domain/guardrails/verdict.ts';
import { authorizeRequest } from '../domain/upstream-auth.ts';
import type { Clock } from '../kit/clock.ts';
import type { Egress, EgressRequest } from '../kit/egress/index.ts';
import { receiveAnswer } from './receive-answer.ts';

export interface CallDeps {
  readonly egress: Pick<Egress, 'dispatch'>;
  readonly clock: Pick<Clock, 'monotonicMs'>;
}

/** All of a guardrail but its bindings, so that it can be tested before it is bound. */
export type CallableGuardrail = Omit<Guardrail, 'bindings' | 'priority' | 'preDispatch' | 'postResponse'>;

export interface GuardrailAnswer {
  readonly verdict: GuardrailVerdict;
  /** Set only with the verdict `unavailable`. */
  readonly cause: GuardrailCause | null;
  /** The rule that decided; null when none did. */
  readonly rule: ResponseRule | null;
  readonly latencyMs: number;
  /** The JSON that was sent, without the credential, which is in a header; null when nothing was sent. */
  readonly sent: unknown;
  /** As far as it was read; null when there was no answer. */
  readonly received: { readonly status: number; readonly body: Buffer } | null;
}

const VERDICTS: Readonly<Record<RuleAction, GuardrailVerdict>> = {
  allow: 'allowed',
  block: 'blocked',
  log: 'flagged',
  replace: 'replaced',
};

/** A call that is ready to be sent. */
export interface PreparedCall {
  readonly origin: string;
  readonly request: EgressRequest;
  readonly sent: unknown;
}

/**
 * Asks a guardrail once. Never throws: a guardrail that cannot be asked, does not answer in time or answers something that no rule
 * matches is `unavailable`. Its failure mode says what that means for the request.
 */
export async function callGuardrail(
  deps: CallDeps,
  organizationId: string,
  guardrail: CallableGuardrail,
  values: TemplateValues,
): Promise<GuardrailAnswer> {
  const call = prepareCall(guardrail, values);
  if (typeof call === 'string') return unasked(call, 0);
  return makeCall(deps, guardrail, call, organizationId, values.stage, guardrail.timeoutMs);
}

/** The call, or why it cannot be made: no usable credential or address, or a body larger than the guardrail accepts. */
export function prepareCall(
  guardrail: CallableGuardrail,
  values: TemplateValues,
): PreparedCall | GuardrailCause {
  const url = parseGuardrailUrl(guardrail.baseUrl);
  if (url === 'invalid') return 'unreachable';
  const sent = fillTemplate(guardrail.template, values);
  const request: EgressRequest = {
    method: guardrail.httpMethod,
    path: url.path,
    headers: ['content-type', 'application/json', 'accept', 'application/json'],
    body: Buffer.from(JSON.stringify(sent)),
  };
  const { authMode, secretHeaderName, secret } = guardrail;
  if (!authorizeRequest(request, authMode, secretHeaderName, secret)) return 'unreachable';
  if (request.body !== null && request.body.length > guardrail.maxRequestBytes) return 'too_large';
  return { origin: url.origin, request, sent };
}

/** `withinMs` bounds the call up to the last byte of the answer. */
export async function makeCall(
  deps: CallDeps,
  guardrail: CallableGuardrail,
  { origin, request, sent }: PreparedCall,
  organizationId: string,
  stage: GuardrailStage,
  withinMs: number,
): Promise<GuardrailAnswer> {
  const startMs = deps.clock.monotonicMs();
  const limits = { withinMs, bytesMax: guardrail.maxResponseBytes };
  const { cause, status, body } = await receiveAnswer(deps.egress, origin, request, organizationId, limits);
  const latencyMs = deps.clock.monotonicMs() - startMs;
  const received = status === 0 ? null : { status, body };
  const rule = cause ?? ruleFor(guardrail.rules, body);
  if (typeof rule === 'string')
    return { verdict: 'unavailable', cause: rule, rule: null, latencyMs, sent, received };
  return { verdict: verdictOf(rule, stage), cause: null, rule, latencyMs, sent, received };
}

export function unasked(cause: GuardrailCause, latencyMs: number): GuardrailAnswer {
  return { verdict: 'unavailable', cause, rule: null, latencyMs, sent: null, received: null };
}

function ruleFor(
  rules: readonly ResponseRule[],
  body: Buffer,
): ResponseRule | 'malformed' | 'no_rule_matched' {
  let answer: unknown;
  try {
    answer = JSON.parse(body.toString('utf8'));
  } catch {
    return 'malformed';
  }
  return judge(rules, answer) ?? 'no_rule_matched';
}

/** Before dispatch there is no answer to replace, so `replace` blocks. */
function verdictOf({ action }: ResponseRule, stage: GuardrailStage): GuardrailVerdict {
  return action === 'replace' && stage === 'pre_dispatch' ? 'blocked' : VERDICTS[action];
}
