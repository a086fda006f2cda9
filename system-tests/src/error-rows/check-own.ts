import assert from 'node:assert/strict';
import { errors, headers as names } from '@relay/contract';
import type { RawAnswer } from '../harness/raw-exchange.ts';

export function errorOf(answer: RawAnswer): Record<string, unknown> {
  return (JSON.parse(answer.body.toString()) as { error: Record<string, unknown> }).error;
}

/** Checks a Relay error: its shape, and that its page exists. */
export async function checkOwn(
  answer: RawAnswer,
  code: keyof typeof errors,
  param: string | null = null,
): Promise<void> {
  assert.equal(answer.status, errors[code].status, answer.body.toString());
  assert.equal(answer.headers['content-type'], 'application/json');
  assert.equal(answer.headers[names.errorSource], 'relay');
  const error = errorOf(answer);
  assert.equal(error['code'], code);
  assert.equal(error['type'], errors[code].type);
  assert.ok(String(error['message']).length > 20);
  assert.equal(error['param'], param);
  assert.equal(error['request_id'], answer.headers[names.requestId]);
  const page = await fetch(String(error['doc_url']));
  assert.equal(page.status, 200);
  assert.match(await page.text(), new RegExp(code));
}

/** The message names endpoint, provider and host, and how long was waited, in words. */
export function checkNames(answer: RawAnswer, endpoint: string, why?: RegExp): void {
  const message = String(errorOf(answer)['message']);
  assert.match(
    message,
    new RegExp(`^Endpoint "${endpoint}" of provider "[^"]+" \\(127\\.0\\.0\\.1:\\d+\\) `),
  );
  if (why !== undefined) assert.match(message, why);
  assert.doesNotMatch(message, /sk-|\/v1/);
}
