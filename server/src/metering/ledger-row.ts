import type { Usage } from '../domain/money/usage.ts';
import {
  type AttemptUse,
  fallbacksOf,
  type RecordedAttempt,
  type RequestRecord,
  type Translated,
  type UsageDetails,
} from '../domain/request-record.ts';
import type { StoredUse } from '../store/ledger/ledger-json.ts';
import type { LedgerRow } from '../store/ledger/ledger-row.ts';

const CLIENT_TEXT_CHARACTERS_MAX = 200;

/** A terminal record as a row of the ledger. */
export function ledgerRow(record: RequestRecord, settledAtMs: number): LedgerRow {
  const metered = record.usageSource !== 'none';
  return {
    request_id: record.requestId,
    organization_id: record.organizationId,
    user_id: record.userId,
    key_id: record.keyId,
    team_id: record.teamId ?? null,
    parent_team_id: record.parentTeamId ?? null,
    labels: record.labels ?? null,
    lane_id: record.laneId,
    endpoint_id: record.endpointId,
    provider_id: record.providerId,
    credential_id: record.credentialId ?? null,
    model: clientText(record.model),
    upstream_model: record.upstreamModel,
    client_request_id: clientText(record.clientRequestId),
    operation: record.operation,
    streaming: record.streaming,
    state: record.state,
    status: record.status,
    error_code: record.cause,
    bound_policy: boundPolicyOf(record),
    attempts: attemptsOf(record),
    trace: traceOf(record),
    fallback_count: fallbacksOf(record.attempts),
    wait_ms: record.waitMs,
    wait_budget_ms: record.waitBudgetMs ?? null,
    ttft_ms: record.ttftMs,
    latency_ms: record.latencyMs,
    estimated_input_tokens: record.estimatedInputTokens,
    estimated_output_tokens: record.estimatedOutputTokens,
    estimated_cost_micros: record.estimatedCostMicros ?? 0,
    actual_input_tokens: metered ? record.actualInputTokens : null,
    actual_cached_input_tokens: metered ? record.actualCachedInputTokens : null,
    actual_cache_write_5m_tokens: record.actualCacheWrite5mTokens ?? 0,
    actual_cache_write_1h_tokens: record.actualCacheWrite1hTokens ?? 0,
    actual_output_tokens: metered ? record.actualOutputTokens : null,
    actual_cost_micros: record.actualCostMicros,
    actual_cost_rounding_picos: record.actualCostRoundingPicos ?? 0,
    usage_source: record.usageSource,
    settled_at: new Date(settledAtMs),
  };
}

function clientText(text: string | null | undefined): string | null {
  return text?.slice(0, CLIENT_TEXT_CHARACTERS_MAX) ?? null;
}

function boundPolicyOf({ boundPolicy }: RequestRecord): LedgerRow['bound_policy'] {
  if (boundPolicy === null || boundPolicy === undefined) return null;
  return {
    policy_id: boundPolicy.id,
    kind: boundPolicy.kind,
    scope_type: boundPolicy.scopeType,
    scope_id: boundPolicy.scopeId,
    metric: boundPolicy.metric,
    period: boundPolicy.period,
    resets_at: boundPolicy.resetsAtMs === null ? null : new Date(boundPolicy.resetsAtMs).toISOString(),
  };
}

function attemptsOf(record: RequestRecord): LedgerRow['attempts'] {
  const { attempts } = record;
  // If only the last attempt used something, the row's columns have its usage.
  const areTold = attempts.slice(0, -1).some(({ use }) => use !== undefined);
  return attempts.map((attempt) => ({
    endpoint_id: attempt.endpointId,
    provider_id: attempt.providerId,
    upstream_model: attempt.upstreamModel,
    status: attempt.status,
    outcome: attempt.outcome,
    cause: attempt.cause,
    started_ms: attempt.startedMs ?? null,
    wait_ms: attempt.waitMs ?? null,
    latency_ms: attempt.latencyMs,
    ...(attempt.sent === false && { sent: false }),
    ...(areTold && attempt.use !== undefined && { use: useOf(attempt.use) }),
    ...credentialOf(record, attempt),
    ...(attempt.upstreamRequestId === undefined ? {} : { upstream_request_id: attempt.upstreamRequestId }),
    ...(attempt.upstreamMessage === undefined ? {} : { upstream_message: attempt.upstreamMessage }),
    ...(attempt.translated === undefined ? {} : translationOf(attempt.translated)),
  }));
}

function useOf({ source, usage, costMicros, costRoundingPicos = 0 }: AttemptUse): StoredUse {
  const { cachedInputTokens, cacheWrite5mTokens = 0, cacheWrite1hTokens = 0 } = usage;
  const details = Object.fromEntries(
    Object.entries(usageDetailsOf(usage)).filter(([, value]) => value !== 0 && value !== null),
  );
  return {
    source,
    input_tokens: usage.inputTokens,
    output_tokens: usage.outputTokens,
    ...(cachedInputTokens > 0 && { cached_input_tokens: cachedInputTokens }),
    ...(cacheWrite5mTokens > 0 && { cache_write_5m_tokens: cacheWrite5mTokens }),
    ...(cacheWrite1hTokens > 0 && { cache_write_1h_tokens: cacheWrite1hTokens }),
    cost_micros: costMicros,
    ...(costRoundingPicos > 0 && { cost_rounding_picos: costRoundingPicos }),
    ...(Object.keys(details).length > 0 && { details }),
  };
}

/** Leaves out a credential that `attempts-of-row.ts` derives: the row's, and null at another provider. */
function credentialOf(
  record: RequestRecord,
  { credentialId, providerId }: RecordedAttempt,
): { credential_id?: string | null } {
  const found = providerId === record.providerId ? (record.credentialId ?? null) : null;
  return credentialId === undefined || credentialId === found ? {} : { credential_id: credentialId };
}

function translationOf({ to, leftOut }: Translated) {
  return to === null ? { left_out: leftOut } : { translated_to: to, left_out: leftOut };
}

function reportedOf({ inputTokens, outputTokens, cachedInputTokens }: Usage) {
  return { input_tokens: inputTokens, output_tokens: outputTokens, cached_input_tokens: cachedInputTokens };
}

function usageDetailsOf(details: UsageDetails) {
  return {
    reasoning_tokens: details.reasoningTokens ?? 0,
    audio_input_tokens: details.audioInputTokens ?? 0,
    image_input_tokens: details.imageInputTokens ?? 0,
    audio_output_tokens: details.audioOutputTokens ?? 0,
    image_output_tokens: details.imageOutputTokens ?? 0,
    service_tier: details.serviceTier ?? null,
  };
}

/** Null when the record has no routing decision. */
function traceOf({
  timings,
  candidates = [],
  guardrails = [],
  reportedUsage,
  usageDetails,
  traceId,
}: RequestRecord): LedgerRow['trace'] {
  if (timings == null && candidates.length === 0 && guardrails.length === 0) return null;
  return {
    ...(reportedUsage !== undefined && { reported_usage: reportedOf(reportedUsage) }),
    ...(traceId !== undefined && { trace_id: traceId }),
    ...(usageDetails !== undefined && { usage_details: usageDetailsOf(usageDetails) }),
    timings:
      timings == null
        ? null
        : {
            receive_ms: timings.receiveMs,
            route_ms: timings.routeMs,
            guard_ms: timings.guardMs,
            admit_ms: timings.admitMs,
            wait_ms: timings.waitMs,
            upstream_first_byte_ms: timings.upstreamFirstByteMs,
            first_content_ms: timings.firstContentMs,
            total_ms: timings.totalMs,
          },
    candidates: candidates.map((candidate) => ({
      endpoint_id: candidate.endpointId,
      rank: candidate.rank,
      verdict: candidate.verdict,
      reason: candidate.reason,
      wait_ms: candidate.waitMs,
    })),
    guardrails: guardrails.map((guardrail) => ({
      guardrail_id: guardrail.guardrailId,
      stage: guardrail.stage,
      verdict: guardrail.verdict,
      latency_ms: guardrail.latencyMs,
      ...(guardrail.cause === undefined ? {} : { cause: guardrail.cause }),
      ...(guardrail.skippedParts === undefined ? {} : { skipped_parts: guardrail.skippedParts }),
    })),
  };
}
