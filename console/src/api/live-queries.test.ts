import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { ErrorResponse } from '@relay/contract/client';
import { ApiError, Unreachable } from '../errors/api-error.ts';
import { pollEvery } from './live-queries.ts';

it('polling continues after server errors and broken connections, later after 429, and stops after a rejection', () => {
  const after = (error: Error | null) => pollEvery(1_000)({ state: { error } });
  const answered = (status: number, retryAfterMs: number | null = null) =>
    new ApiError({ status, retryAfterMs } as ErrorResponse);
  assert.equal(after(null), 1_000);
  assert.equal(after(answered(503)), 1_000);
  assert.equal(after(new Unreachable('')), 1_000);
  assert.equal(after(answered(403)), false);
  assert.equal(after(answered(429)), 30_000);
  assert.equal(after(answered(429, 4_000)), 4_000);
  assert.equal(after(answered(429, 10)), 1_000);
});
