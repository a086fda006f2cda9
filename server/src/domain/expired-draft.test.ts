import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type ExpiredDraft, isExpiredEstimate, recordOfExpired } from './expired-draft.ts';
import type { RecordedAttempt } from './request-record.ts';

const draft: ExpiredDraft = {
  requestId: '01890000-0000-7000-8000-000000000000',
  organizationId: 'organization',
  userId: 'user',
  keyId: null,
  clientRequestId: null,
  operation: 'chat',
  model: 'fast',
  streaming: true,
  laneId: 'lane',
  arrivedAtMs: 1_000,
  estimatedInputTokens: 30,
  estimatedOutputTokens: 40,
  candidates: [
    {
      endpointId: 'endpoint',
      providerId: 'provider',
      credentialId: 'credential',
      upstreamModel: 'model',
      estimatedCostMicros: 700,
    },
  ],
};

/** A 500 that reported what it used. */
const refused = {
  endpointId: 'first',
  providerId: 'provider',
  credentialId: 'other',
  upstreamModel: 'model',
  status: 500,
  outcome: 'failed',
  cause: 'upstream_error',
  latencyMs: 40,
  sent: true,
  use: {
    source: 'reported',
    usage: { inputTokens: 11, outputTokens: 3, cachedInputTokens: 0 },
    costMicros: 36,
    costRoundingPicos: 7,
  },
} as const satisfies RecordedAttempt;

describe('a request whose gateway died', () => {
  it('is recorded at its estimate, with what was known when it was sent', () => {
    const record = recordOfExpired(draft, 0, 21_000);
    const { model, credentialId, endpointId, latencyMs, actualCostMicros } = record;
    assert.deepEqual(
      { model, credentialId, endpointId, latencyMs, actualCostMicros },
      {
        model: 'fast',
        credentialId: 'credential',
        endpointId: 'endpoint',
        latencyMs: 20_000,
        actualCostMicros: 700,
      },
    );
    assert.equal(isExpiredEstimate(record.cause, record.usageSource), true);
  });

  it('has the attempts before the one that was lost, which limits count too', () => {
    const failed = {
      endpointId: 'first',
      providerId: 'provider',
      upstreamModel: 'model',
      status: 429,
      outcome: 'failed',
      cause: 'upstream_rate_limited',
      latencyMs: 40,
    } as const;
    const record = recordOfExpired({ ...draft, attempts: [failed] }, 0, 21_000);
    assert.deepEqual(
      record.attempts.map(({ endpointId, cause }) => [endpointId, cause]),
      [
        ['first', 'upstream_rate_limited'],
        ['endpoint', 'gateway_lost'],
      ],
    );
  });

  it('used what its attempts used, and the lost one what was reserved for it', () => {
    const [lost] = draft.candidates;
    const reserved = { inputTokens: 35, outputTokens: 90, costMicros: 1_200 };
    const candidates = lost === undefined ? [] : [{ ...lost, reserved }];
    const record = recordOfExpired({ ...draft, candidates, attempts: [refused] }, 0, 21_000);
    assert.deepEqual(
      record.attempts.map(({ sent, use }) => [sent, use?.source, use?.usage.outputTokens, use?.costMicros]),
      [
        [true, 'reported', 3, 36],
        [true, 'estimated', 90, 1_200],
      ],
    );
    const { actualInputTokens, actualOutputTokens, actualCostMicros, actualCostRoundingPicos } = record;
    assert.deepEqual(
      [actualInputTokens, actualOutputTokens, actualCostMicros, actualCostRoundingPicos],
      [11 + 35, 3 + 90, 36 + 1_200, 7],
    );
  });

  it('used what its attempts used when it waited for the next one', () => {
    const record = recordOfExpired({ ...draft, attempts: [refused] }, Number.NaN, 21_000);
    assert.deepEqual(record.attempts, [refused]);
    const { endpointId, credentialId, actualInputTokens, actualCostMicros, estimatedCostMicros } = record;
    assert.deepEqual(
      { endpointId, credentialId, actualInputTokens, actualCostMicros, estimatedCostMicros },
      {
        endpointId: 'first',
        credentialId: 'other',
        actualInputTokens: 11,
        actualCostMicros: 36,
        estimatedCostMicros: null,
      },
    );
    assert.equal(isExpiredEstimate(record.cause, record.usageSource), true);
  });

  it('is still recorded when its endpoint is unknown', () => {
    const record = recordOfExpired(draft, 9, 21_000);
    assert.deepEqual([record.endpointId, record.attempts, record.actualCostMicros], [null, [], null]);
    assert.equal(isExpiredEstimate(record.cause, record.usageSource), true);
  });

  it('is told apart from what a gateway itself recorded', () => {
    assert.equal(isExpiredEstimate(null, 'estimated'), false);
    assert.equal(isExpiredEstimate('gateway_lost', 'reported'), false);
    assert.equal(isExpiredEstimate('upstream_timeout', 'estimated'), false);
  });
});
