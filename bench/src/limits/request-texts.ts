import { randomUUID } from 'node:crypto';

/** Makes the text that belongs to a request from the request's id. */
export type TextFor = (requestId: string) => string;

const CALLER = {
  userId: randomUUID(),
  keyId: randomUUID(),
  clientRequestId: null,
  operation: 'chat',
  streaming: false,
  laneId: randomUUID(),
};
const TARGET = { endpointId: randomUUID(), providerId: randomUUID(), upstreamModel: 'upstream-model' };
const ESTIMATE = { estimatedInputTokens: 233, estimatedOutputTokens: 256 };

/** What the product leaves with a reservation, in its size. */
export function draftText(organizationId: string, endpointIds: readonly string[]): TextFor {
  const candidates = endpointIds.map((endpointId) => ({ ...TARGET, endpointId, estimatedCostMicros: 189 }));
  return withId({ organizationId, ...CALLER, arrivedAtMs: Date.now(), ...ESTIMATE, candidates });
}

/** What the product writes when a request has ended, whole, so that the worker can make a row of it. */
export function recordText(organizationId: string): TextFor {
  return withId({
    organizationId,
    ...CALLER,
    model: 'fast',
    ...TARGET,
    credentialId: randomUUID(),
    state: 'completed',
    status: 200,
    cause: null,
    boundPolicy: null,
    attempts: [
      { ...TARGET, status: 200, outcome: 'completed', cause: null, startedMs: 1, waitMs: 0, latencyMs: 12 },
    ],
    candidates: [
      { endpointId: TARGET.endpointId, rank: 1, verdict: 'selected', reason: 'it comes first', waitMs: 0 },
    ],
    timings: {
      receiveMs: 0,
      routeMs: 0,
      guardMs: null,
      admitMs: 1,
      waitMs: 0,
      upstreamFirstByteMs: 11,
      firstContentMs: 12,
      totalMs: 12,
    },
    arrivedAtMs: Date.now(),
    waitMs: 0,
    ttftMs: 12,
    latencyMs: 12,
    ...ESTIMATE,
    estimatedCostMicros: 189,
    usageSource: 'reported',
    actualInputTokens: 210,
    actualOutputTokens: 180,
    actualCachedInputTokens: 0,
    actualCostMicros: 140,
  });
}

/** Written once; only the id changes. */
function withId(fields: object): TextFor {
  const rest = JSON.stringify(fields).slice(1);
  return (requestId) => `{"requestId":"${requestId}",${rest}`;
}
