import assert from 'node:assert/strict';
import { errors, headers as names } from '@relay/contract';
import type { RawAnswer } from '../harness/raw-exchange.ts';

export function errorOf(answer: RawAnswer): Record<string, unknown> {
  return (JSON.parse(answer.body.toString()) as { error: Record<string, unknown> }).error;
}

const pages = new Map<string, Promise<string>>();

/** Checks which error Relay made, and that its page exists. The harness has checked its shape. */
export async function checkOwn(
  answer: RawAnswer,
  code: keyof typeof errors,
  param: string | null = null,
): Promise<void> {
  assert.equal(answer.status, errors[code].status, answer.body.toString());
  assert.equal(answer.headers[names.errorSource], 'relay');
  assert.equal(answer.headers[names.shouldRetry], String(errors[code].retry));
  const error = errorOf(answer);
  assert.equal(error['code'], code);
  assert.equal(error['type'], errors[code].type);
  assert.ok(String(error['message']).length > 20);
  assert.equal(error['param'], param);
  const url = String(error['doc_url']);
  if (!pages.has(url)) pages.set(url, pageAt(url));
  assert.match((await pages.get(url)) ?? '', new RegExp(code));
}

async function pageAt(url: string): Promise<string> {
  const page = await fetch(url);
  assert.equal(page.status, 200, url);
  return page.text();
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
