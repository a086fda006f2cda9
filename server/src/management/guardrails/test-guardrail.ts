import type { GuardrailTest, GuardrailTestResult, ResponseRule } from '@relay/contract';
import type { GuardrailStage } from '../../domain/guardrails/verdict.ts';
import { withoutSecret } from '../../domain/upstream-text.ts';
import { callGuardrail, type GuardrailAnswer } from '../../guardrails/call-guardrail.ts';
import { type Sealer, UnsealError } from '../../kit/seal.ts';
import type { Secret } from '../../kit/secret.ts';
import { guardrailSample } from '../../protocols/index.ts';
import { guardrailSettings } from '../../store/configuration/guardrail-settings.ts';
import { secretBinding } from '../../store/configuration/secret-binding.ts';
import type { ManagementDeps } from '../resources/deps.ts';
import type { Row } from '../resources/rows.ts';
import { explanationOf } from './explanations.ts';
import { placeOf } from './secret-place.ts';

type TestDeps = Pick<ManagementDeps, 'sealer' | 'clock' | 'openEgress'>;

/** How much of a response is shown. */
const SHOWN_BYTES_MAX = 16 * 1024;
const SAMPLE_MODEL = 'test';

/**
 * Calls the guardrail as a request would, with the stored settings and a separate egress. Does not count toward
 * its concurrency or circuit breaker, and records nothing.
 */
export async function testGuardrail(
  deps: TestDeps,
  row: Row<'guardrails'>,
  sample: GuardrailTest,
  requestId: string,
): Promise<GuardrailTestResult> {
  const stage = sample.stage ?? usualStage(row);
  const secret = row.sealed_secret === null ? null : opened(deps.sealer, row, row.sealed_secret);
  const egress = deps.openEgress();
  try {
    const values = { ...guardrailSample(sample.text, stage, SAMPLE_MODEL), lane: '', requestId };
    const settings = guardrailSettings(row, secret);
    const answer = await callGuardrail({ egress, clock: deps.clock }, row.organization_id, settings, values);
    return toResult(row, stage, secret, answer);
  } finally {
    await egress.close();
  }
}

/** The stage that the guardrail runs in; `pre_dispatch` when it runs in both or neither. */
function usualStage({ pre_dispatch_enabled, post_response_enabled }: Row<'guardrails'>): GuardrailStage {
  return post_response_enabled && !pre_dispatch_enabled ? 'post_response' : 'pre_dispatch';
}

function toResult(
  row: Row<'guardrails'>,
  stage: GuardrailStage,
  secret: Secret | null,
  answer: GuardrailAnswer,
): GuardrailTestResult {
  const { verdict, cause, rule, latencyMs, sent, received } = answer;
  return {
    verdict,
    stage,
    sent,
    received: received && {
      status: received.status,
      body: withoutSecret(
        received.body.subarray(0, SHOWN_BYTES_MAX).toString('utf8'),
        secret?.reveal() ?? null,
      ),
      truncated: received.body.length > SHOWN_BYTES_MAX || cause === 'too_large',
    },
    cause,
    latency_ms: Math.round(latencyMs),
    matched_rule: rule as ResponseRule | null,
    message: explanationOf(row, secret !== null, answer),
  };
}

/** Null when none of the configured master keys can open it. */
function opened(sealer: Sealer, row: Row<'guardrails'>, sealed: Buffer): Secret | null {
  try {
    return sealer.open(sealed, secretBinding(placeOf(row)));
  } catch (error) {
    if (error instanceof UnsealError) return null;
    throw error;
  }
}
