import { randomUUID } from 'node:crypto';

/** Makes the text that belongs to a request from the request's id. */
export type TextFor = (requestId: string) => string;

const CALLER = {
  organizationId: randomUUID(),
  userId: randomUUID(),
  keyId: null,
  clientRequestId: null,
  operation: 'chat',
  streaming: false,
  laneId: randomUUID(),
};
const TARGET = { endpointId: randomUUID(), providerId: randomUUID(), upstreamModel: 'upstream-model' };
const ESTIMATE = { estimatedInputTokens: 233, estimatedOutputTokens: 256 };

/** What the product leaves with a reservation, in its size. */
export function draftText(endpointIds: readonly string[]): TextFor {
  const candidates = endpointIds.map((endpointId) => ({ ...TARGET, endpointId, estimatedCostMicros: 189 }));
  return withId({ ...CALLER, arrivedAtMs: 1_760_000_000_000, ...ESTIMATE, candidates });
}

/** What the product writes when a request has ended, in its size. */
export function recordText(): TextFor {
  return withId({
    ...CALLER,
    ...TARGET,
    state: 'completed',
    status: 200,
    cause: null,
    attempts: [{ ...TARGET, status: 200, outcome: 'completed', cause: null, latencyMs: 12 }],
    arrivedAtMs: 1_760_000_000_000,
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
