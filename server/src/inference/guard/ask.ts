import { headers } from '@relay/contract';
import type { Guardrail } from '../../domain/guardrails/guardrail.ts';
import type { GuardrailStage } from '../../domain/guardrails/verdict.ts';
import { RelayError } from '../../domain/relay-error.ts';
import type { AskGuardrail } from '../../guardrails/ask-guardrail.ts';
import type { GuardrailAnswer } from '../../guardrails/call-guardrail.ts';
import type { Clock } from '../../kit/clock.ts';
import type { Log } from '../../kit/log.ts';
import type { Exchange, Shown } from '../exchange.ts';
import type { NewestSnapshot } from './newest-snapshot.ts';

export interface GuardDeps {
  readonly askGuardrail: AskGuardrail;
  readonly newest: NewestSnapshot;
  readonly clock: Clock;
  readonly log: Log;
}

/** Asks one guardrail and writes down what it said, not what it was shown. Null: the client left before it spoke. */
export async function ask(
  deps: GuardDeps,
  exchange: Exchange,
  guardrail: Guardrail,
  { values, skippedParts }: Shown,
): Promise<GuardrailAnswer | null> {
  const { guard } = exchange;
  const startMs = deps.clock.monotonicMs();
  const answer = await unlessClientLeaves(exchange, () => deps.askGuardrail(guardrail, values));
  guard.tookMs = (guard.tookMs ?? 0) + deps.clock.monotonicMs() - startMs;
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
    deps.log.warn({ guardrail_id: guardrail.id, stage: values.stage, cause }, 'a guardrail is unavailable');
  return answer;
}

export function wasAsked({ guard }: Exchange, { id }: Guardrail, stage: GuardrailStage): boolean {
  return guard.verdicts.some((verdict) => verdict.guardrailId === id && verdict.stage === stage);
}

/** Why the request ends with this answer: 403, or 503 where the guardrail must be heard; null when it goes on. */
export function refusalOf(
  { id, failureMode }: Guardrail,
  stage: GuardrailStage,
  { verdict }: GuardrailAnswer,
): RelayError | null {
  const fields = { guardrail_id: id, stage };
  if (verdict === 'blocked')
    return new RelayError('content_policy_violation', {
      fields,
      headers: { [headers.shouldRetry]: 'false' },
    });
  if (verdict !== 'unavailable' || failureMode === 'fail_open') return null;
  return new RelayError('guardrail_unavailable', { fields });
}

/** The call itself goes on to its end: what it finds out about the guardrail is worth knowing for the others. */
async function unlessClientLeaves<T>(exchange: Exchange, start: () => Promise<T>): Promise<T | null> {
  if (exchange.clientGone) return null;
  try {
    return await new Promise<T | null>((resolve, reject) => {
      exchange.inCharge = { clientLeft: () => resolve(null) };
      start().then(resolve, reject);
    });
  } finally {
    exchange.inCharge = null;
  }
}
