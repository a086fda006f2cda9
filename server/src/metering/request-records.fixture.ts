import { randomUUIDv7 } from 'node:crypto';
import type { ExpiredDraft } from '../domain/expired-draft.ts';
import type { RequestRecord } from '../domain/request-record.ts';

/** For tests: a completed request. */
export function sampleRecord(over: Partial<RequestRecord> = {}): RequestRecord {
  return {
    requestId: randomUUIDv7(),
    organizationId: randomUUIDv7(),
    userId: randomUUIDv7(),
    keyId: null,
    clientRequestId: null,
    operation: 'chat',
    streaming: false,
    laneId: null,
    endpointId: randomUUIDv7(),
    providerId: randomUUIDv7(),
    upstreamModel: 'model-1',
    state: 'completed',
    status: 200,
    cause: null,
    attempts: [],
    arrivedAtMs: Date.now(),
    waitMs: 0,
    ttftMs: 5,
    latencyMs: 10,
    estimatedInputTokens: 3,
    estimatedOutputTokens: 4,
    estimatedCostMicros: 7,
    usageSource: 'reported',
    actualInputTokens: 3,
    actualOutputTokens: 2,
    actualCachedInputTokens: 0,
    actualCostMicros: 5,
    ...over,
  };
}

/** For tests: a request with two candidates, of which the second has no price. */
export function sampleDraft(over: Partial<ExpiredDraft> = {}): ExpiredDraft {
  const candidate = (upstreamModel: string, estimatedCostMicros: number | null) => ({
    endpointId: randomUUIDv7(),
    providerId: randomUUIDv7(),
    upstreamModel,
    estimatedCostMicros,
  });
  return {
    requestId: randomUUIDv7(),
    organizationId: randomUUIDv7(),
    userId: randomUUIDv7(),
    keyId: randomUUIDv7(),
    clientRequestId: 'client-1',
    operation: 'responses',
    streaming: true,
    laneId: randomUUIDv7(),
    arrivedAtMs: Date.now(),
    estimatedInputTokens: 30,
    estimatedOutputTokens: 40,
    candidates: [candidate('model-1', 700), candidate('model-2', null)],
    ...over,
  };
}
