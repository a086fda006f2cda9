import type { Guardrail } from '../../domain/guardrails/guardrail.ts';
import type { GuardrailStage } from '../../domain/guardrails/verdict.ts';
import { RelayError } from '../../domain/relay-error.ts';
import type { AskGuardrail } from '../../guardrails/ask-guardrail.ts';
import type { GuardrailAnswer } from '../../guardrails/call-guardrail.ts';
import type { Clock } from '../../kit/clock.ts';
import type { Log } from '../../kit/log.ts';
import { type Exchange, logged, type Shown } from '../exchange.ts';
import type { NewestSnapshot } from './newest-snapshot.ts';

export interface GuardDeps {
  readonly askGuardrail: AskGuardrail;
  readonly newest: NewestSnapshot;
  readonly clock: Clock;
  readonly log: Log;
}

/** Asks one guardrail and records its verdict, but not what it saw. Null when the exchange was stopped first. */
export async function ask(
  deps: GuardDeps,
  exchange: Exchange,
  guardrail: Guardrail,
  { values, skippedParts }: Shown,
): Promise<GuardrailAnswer | null> {
  const { guard, caller } = exchange;
  const startMs = deps.clock.monotonicMs();
  const answer = await unlessStopped(exchange, () =>
    deps.askGuardrail(caller.organizationId, guardrail, values),
  );
  const endMs = deps.clock.monotonicMs();
  guard.tookMs = (guard.tookMs ?? 0) + endMs - startMs;
  exchange.trace?.step({
    name: 'guardrail',
    startMs,
    endMs,
    attributes: {
      'relay.guardrail.id': guardrail.id,
      'relay.guardrail.stage': values.stage,
      'relay.guardrail.verdict': answer?.verdict ?? null,
    },
    failed: answer?.verdict === 'unavailable',
  });
  if (answer === null) return null;
  const { verdict, cause } = answer;
  guard.verdicts.push({
    guardrailId: guardrail.id,
    stage: values.stage,
    verdict,
    latencyMs: Math.round(answer.latencyMs),
    ...(cause === null ? {} : { cause }),
    ...(skippedParts === 0 ? {} : { skippedParts }),
  });
  if (cause !== null)
    deps.log.warn(
      { ...logged(exchange), guardrail_id: guardrail.id, stage: values.stage, cause },
      'a guardrail is unavailable',
    );
  return answer;
}

export function wasAsked({ guard }: Exchange, { id }: Guardrail, stage: GuardrailStage): boolean {
  return guard.verdicts.some((verdict) => verdict.guardrailId === id && verdict.stage === stage);
}

/** The error that ends the request: 403, or 503 when the guardrail is required and unavailable; null when the request continues. */
export function refusalOf(
  { id, failureMode }: Guardrail,
  stage: GuardrailStage,
  { verdict }: GuardrailAnswer,
): RelayError | null {
  const fields = { guardrail_id: id, stage };
  if (verdict === 'blocked') return new RelayError('content_policy_violation', { fields });
  if (verdict !== 'unavailable' || failureMode === 'fail_open') return null;
  return new RelayError('guardrail_unavailable', { fields });
}

/** The call itself runs to its end, because its outcome updates the guardrail's circuit breaker. */
async function unlessStopped<T>(exchange: Exchange, start: () => Promise<T>): Promise<T | null> {
  if (exchange.stopped !== null) return null;
  try {
    return await new Promise<T | null>((resolve, reject) => {
      exchange.inCharge = { stop: () => resolve(null) };
      start().then(resolve, reject);
    });
  } finally {
    exchange.inCharge = null;
  }
}
