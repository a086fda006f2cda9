import assert from 'node:assert/strict';
import type { RawAnswer } from './raw-exchange.ts';

export function checkWaitBudgetRefusal(answer: RawAnswer, secondsMax: number): void {
  assert.equal(answer.status, 429);
  assert.equal(answer.headers['x-relay-error-source'], 'relay');
  const { error } = JSON.parse(answer.body.toString()) as { error: Record<string, unknown> };
  assert.equal(error['type'], 'rate_limit_wait_budget_exceeded');
  assert.equal(error['code'], 'rate_limit_wait_budget_exceeded');
  assert.equal(typeof error['message'], 'string');
  assert.equal(error['request_id'], answer.headers['x-request-id']);
  const retryAfter = error['retry_after'];
  assert.ok(Number.isInteger(retryAfter) && Number(retryAfter) >= 1 && Number(retryAfter) <= secondsMax);
  assert.equal(answer.headers['retry-after'], String(retryAfter));
  const milliseconds = Number(answer.headers['retry-after-ms']);
  assert.equal(Math.ceil(milliseconds / 1_000), retryAfter);
}
