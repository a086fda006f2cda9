import { modelOf, type SampleRequest, SIZES, upstreamModelOf } from './population.ts';

/** The columns of `copyLine`. */
export const COPIED_COLUMNS = [
  'request_id',
  'organization_id',
  'user_id',
  'key_id',
  'lane_id',
  'endpoint_id',
  'provider_id',
  'credential_id',
  'model',
  'upstream_model',
  'operation',
  'streaming',
  'state',
  'status',
  'error_code',
  'attempts',
  'trace',
  'fallback_count',
  'wait_ms',
  'ttft_ms',
  'latency_ms',
  'estimated_input_tokens',
  'estimated_output_tokens',
  'estimated_cost_micros',
  'actual_input_tokens',
  'actual_cached_input_tokens',
  'actual_output_tokens',
  'actual_cost_micros',
  'usage_source',
  'settled_at',
] as const;

const VERDICT = { verdict: 'selected', reason: 'it is free now, and comes first by rank' } as const;

function timingsOf(request: SampleRequest) {
  const { waitMs, ttftMs, latencyMs } = request;
  return {
    receive: 1,
    route: 0,
    guard: null,
    admit: 1,
    wait: waitMs,
    firstByte: ttftMs - 2,
    ttftMs,
    latencyMs,
  };
}

function idsOf({ organization, key, lane, endpoint }: SampleRequest) {
  const provider = endpoint % SIZES.providers;
  return {
    userId: organization.users[Math.floor((key * SIZES.users) / organization.keys.length)] ?? '',
    keyId: organization.keys[key] ?? '',
    laneId: organization.lanes[lane] ?? '',
    endpointId: organization.endpoints[endpoint] ?? '',
    providerId: organization.providers[provider] ?? '',
    credentialId: organization.credentials[provider] ?? '',
  };
}

function statusOf({ state }: SampleRequest): number {
  return state === 'failed' ? 502 : 200;
}

/** As a line of COPY's text format: what the worker would write of it. */
export function copyLine(request: SampleRequest): string {
  const ids = idsOf(request);
  const timings = timingsOf(request);
  const upstreamModel = upstreamModelOf(request.endpoint);
  const attempts = `[{"cause": ${JSON.stringify(request.cause)}, "status": ${statusOf(request)}, "outcome": "${request.state}", "wait_ms": ${request.waitMs}, "latency_ms": ${request.latencyMs}, "started_ms": ${request.waitMs + 2}, "endpoint_id": "${ids.endpointId}", "provider_id": "${ids.providerId}", "upstream_model": "${upstreamModel}"}]`;
  const trace = `{"timings": {"wait_ms": ${timings.wait}, "admit_ms": ${timings.admit}, "guard_ms": null, "route_ms": ${timings.route}, "total_ms": ${timings.latencyMs}, "receive_ms": ${timings.receive}, "first_content_ms": ${timings.ttftMs}, "upstream_first_byte_ms": ${timings.firstByte}}, "candidates": [{"rank": 1, "reason": "${VERDICT.reason}", "verdict": "${VERDICT.verdict}", "wait_ms": ${request.waitMs}, "endpoint_id": "${ids.endpointId}"}], "guardrails": []}`;
  const { inputTokens, outputTokens, costMicros } = request;
  return [
    `${request.requestId}\t${request.organization.id}\t${ids.userId}\t${ids.keyId}\t${ids.laneId}\t${ids.endpointId}`,
    `${ids.providerId}\t${ids.credentialId}\t${modelOf(request.lane)}\t${upstreamModel}\tchat\tf\t${request.state}`,
    `${statusOf(request)}\t${request.cause ?? '\\N'}\t${attempts}\t${trace}\t0\t${request.waitMs}\t${request.ttftMs}`,
    `${request.latencyMs}\t${inputTokens}\t${outputTokens}\t${costMicros}\t${inputTokens}\t0\t${outputTokens}`,
    `${costMicros}\treported\t${new Date(request.timeMs + request.latencyMs).toISOString()}\n`,
  ].join('\t');
}

/** As a gateway sends it to the worker. */
export function recordText(request: SampleRequest): string {
  const { credentialId, ...ids } = idsOf(request);
  const timings = timingsOf(request);
  const target = {
    endpointId: ids.endpointId,
    providerId: ids.providerId,
    upstreamModel: upstreamModelOf(request.endpoint),
  };
  const status = statusOf(request);
  const { waitMs, ttftMs, latencyMs, state, cause, inputTokens, outputTokens, costMicros } = request;
  return JSON.stringify({
    requestId: request.requestId,
    organizationId: request.organization.id,
    ...ids,
    ...target,
    credentialId,
    clientRequestId: null,
    operation: 'chat',
    model: modelOf(request.lane),
    streaming: false,
    state,
    status,
    cause,
    boundPolicy: null,
    attempts: [{ ...target, status, outcome: state, cause, startedMs: waitMs + 2, waitMs, latencyMs }],
    candidates: [{ endpointId: ids.endpointId, rank: 1, ...VERDICT, waitMs }],
    timings: {
      receiveMs: timings.receive,
      routeMs: timings.route,
      guardMs: timings.guard,
      admitMs: timings.admit,
      waitMs,
      upstreamFirstByteMs: timings.firstByte,
      firstContentMs: ttftMs,
      totalMs: latencyMs,
    },
    arrivedAtMs: request.timeMs,
    waitMs,
    ttftMs,
    latencyMs,
    estimatedInputTokens: inputTokens,
    estimatedOutputTokens: outputTokens,
    estimatedCostMicros: costMicros,
    usageSource: 'reported',
    actualInputTokens: inputTokens,
    actualOutputTokens: outputTokens,
    actualCachedInputTokens: 0,
    actualCostMicros: costMicros,
  });
}
