import type { Operation, RoutingExplanation } from '@relay/contract';
import type { Guardrail } from '../../domain/guardrails/guardrail.ts';
import type { TokenEstimate } from '../../domain/money/usage.ts';
import { isPrepared, type Route, type RouteMember } from '../../domain/routing/routing.ts';
import type { Pricing } from '../../domain/snapshot.ts';
import { protocols } from '../../protocols/index.ts';
import type { LimitState } from './limit-states.ts';

export interface ExplainInput {
  readonly operation: Operation;
  readonly model: string;
  readonly streaming: boolean;
  readonly estimate: TokenEstimate;
  /** Undefined when nothing has that name. */
  readonly route: Route | undefined;
  /** A lane has that name and is disabled. */
  readonly namesDisabledLane: boolean;
  /** Undefined when every limit of the endpoint has room for the request. */
  readonly limitOf: (endpointId: string) => LimitState | undefined;
  /** How long an endpoint is still to be left alone; 0 when it is free. */
  readonly waitMsOf: (endpointId: string) => number;
  readonly pricingOf: (endpointId: string) => Pricing | undefined;
  /** Those in force, in their order. */
  readonly guardrails: readonly Guardrail[];
}

const NO_CREDENTIAL_ANYWHERE =
  'No enabled credential can be opened, so the attempt would fail before anything is sent.';
const UNGUARDABLE_STREAM =
  'It would be refused with 400: a guardrail is effective for a candidate, and cannot inspect a stream.';
const UNGUARDABLE_EMBEDDINGS =
  'It would be refused with 400: a guardrail is effective for a candidate, and cannot inspect embeddings.';
/** As in a real refusal: past this a budget counts as spent. */
const RETRY_MS_MAX = 60_000;
/** Nobody knows when concurrency frees up. */
const RETRY_UNKNOWN_MS = 1_000;

/** A member that may take the request as far as configuration goes. */
export interface Contender {
  readonly member: RouteMember;
  /** Until its provider's cooldown is over and its limits have room. */
  readonly waitMs: number;
  /** What stands in the way for longest; undefined for nothing or a cooldown. */
  readonly limit: LimitState | undefined;
  readonly hasCredential: boolean;
}

export type Decision = Pick<
  RoutingExplanation,
  'outcome' | 'wait_ms' | 'retry_after_ms' | 'error_code' | 'reason' | 'limited_by'
> & { readonly chosen: Contender | null };

export function contenderOf(input: ExplainInput, member: RouteMember): Contender {
  const { id } = member.candidate.endpoint;
  const cooldownMs = Math.ceil(input.waitMsOf(id));
  const found = input.limitOf(id);
  // A line is only joined once the endpoint can be used at all, and what never fits is no matter of time.
  const binds = found !== undefined && (found.kind === 'exceeds' || found.waitMs >= cooldownMs);
  const limit = binds ? found : undefined;
  const waitMs = Math.max(cooldownMs, limit?.waitMs ?? 0);
  return { member, waitMs, limit, hasCredential: isPrepared(member.candidate) };
}

/** The choice admission makes, and what becomes of it when the chosen one cannot be prepared. */
export function decide(input: ExplainInput, contenders: readonly Contender[], isGuarded: boolean): Decision {
  const { route } = input;
  if (route === undefined) return refusal('model_not_found', unknownModel(input));
  if (contenders.length === 0) return refusal('no_route', 'No candidate can serve it; each says why.');
  if (isGuarded && protocols[input.operation].text === null)
    return refusal('guardrail_route_kind_unsupported', UNGUARDABLE_EMBEDDINGS);
  if (isGuarded && input.streaming) return refusal('guardrail_streaming_unsupported', UNGUARDABLE_STREAM);
  // An attempt without a credential fails at once and falls back; without fallback it is the end.
  const prepared = contenders.filter((contender) => contender.hasCredential);
  const choices = route.allowFallback ? prepared : contenders;
  if (choices.length === 0) return refusal('upstream_not_prepared', NO_CREDENTIAL_ANYWHERE);

  const chosen = choose(route, choices);
  if (chosen === null) return refuseForCapacity(route, choices);
  if (!chosen.hasCredential) return refusal('upstream_not_prepared', NO_CREDENTIAL_ANYWHERE);
  const now = chosen.waitMs === 0 && chosen.limit === undefined;
  return {
    chosen,
    outcome: now ? 'dispatch' : 'wait',
    wait_ms: knownWaitMs(chosen),
    retry_after_ms: null,
    error_code: null,
    reason: null,
    limited_by: chosen.limit?.limitedBy ?? null,
  };
}

/** A slot with a time beats a place in line, and a place in line beats a refusal. */
function choose(route: Route, choices: readonly Contender[]): Contender | null {
  const timed = choices.filter(isTimed);
  const fitting = timed.filter(({ waitMs }) => waitMs <= route.maxWaitMs);
  const chosen = route.selection === 'soonest' ? soonestOf(fitting) : fitting[0];
  const inLine = route.maxWaitMs > 0 ? choices.find(({ limit }) => limit?.kind === 'line') : undefined;
  return chosen ?? inLine ?? null;
}

function refuseForCapacity(route: Route, choices: readonly Contender[]): Decision {
  const blocked = choices.find(({ limit }) => limit?.kind === 'line');
  const best = blocked ?? soonestOf(choices.filter(isTimed));
  if (best === undefined) {
    const reason = 'This request alone is more than a limit of every candidate admits.';
    return refusal('request_exceeds_limit', reason, null, choices[0]?.limit);
  }
  const retryAfterMs = blocked === undefined ? best.waitMs : RETRY_UNKNOWN_MS;
  const isFar = retryAfterMs - route.maxWaitMs > RETRY_MS_MAX;
  const code = isFar ? 'budget_exhausted' : 'rate_limit_wait_budget_exceeded';
  const reason = `No candidate has room within the wait budget of ${route.maxWaitMs} ms.`;
  return refusal(code, reason, retryAfterMs, best.limit);
}

function isTimed({ limit }: Contender): boolean {
  return limit === undefined || limit.kind === 'wait';
}

function soonestOf(contenders: readonly Contender[]): Contender | undefined {
  let best: Contender | undefined;
  for (const next of contenders) if (best === undefined || next.waitMs < best.waitMs) best = next;
  return best;
}

/** Null where no time can be named: in line, and for what never fits. */
export function knownWaitMs(contender: Contender): number | null {
  return isTimed(contender) ? contender.waitMs : null;
}

function refusal(
  errorCode: string,
  reason: string,
  retryAfterMs: number | null = null,
  limit?: LimitState,
): Decision {
  return {
    chosen: null,
    outcome: 'refuse',
    wait_ms: null,
    retry_after_ms: retryAfterMs,
    error_code: errorCode,
    reason,
    limited_by: limit?.limitedBy ?? null,
  };
}

function unknownModel({ model, namesDisabledLane }: ExplainInput): string {
  const shown = model.length > 200 ? `${model.slice(0, 200)}…` : model;
  const hint = namesDisabledLane ? ' A lane has that name, but it is disabled.' : '';
  return `Nothing is called "${shown}". Tried, in this order: the slug of an enabled lane, the name of an enabled lane, provider/model, and the upstream model of an endpoint.${hint}`;
}
