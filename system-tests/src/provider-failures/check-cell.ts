import assert from 'node:assert/strict';
import { headers as names } from '@relay/contract';
import { type Cell, causeOf, type Expected, expectedOf, type Who } from './cells.ts';
import { type Outcome, WAIT_MS_MAX } from './failure-rows.ts';
import { cleanBody, cleanFrame } from './key-quotes.ts';
import type { Seen } from './run-cell.ts';
import type { Site } from './site.ts';

const WAIT_MS = { min: 900, max: WAIT_MS_MAX };

/** Who served, what the client saw, what the ledger says. */
export function checkCell(site: Site, cell: Cell, seen: Seen): void {
  const expected = expectedOf(cell);
  const reached = expected.asked.filter((who) => who === 'second' || cell.row.place === undefined);
  assert.deepEqual(seen.asked, reached, 'who was asked');
  checkAnswer(site, cell, expected, seen);
  checkLedger(site, cell, expected, seen);
}

function checkAnswer(site: Site, cell: Cell, { answer: expected, waits, asked }: Expected, seen: Seen): void {
  const { answer, place } = seen;
  const header = (name: string) => answer.headers[name.toLowerCase()];
  assert.equal(answer.whole, true, 'the answer ends properly');
  if (expected.from === 'relay') {
    assert.equal(answer.status, 502, answer.body.toString());
    assert.equal(header(names.errorSource), 'relay');
    const { error } = JSON.parse(answer.body.toString()) as { error: { code: string; message: string } };
    assert.equal(error.code, expected.code);
    checkMessage(error.message, cell, expected.about, place.endpoints[expected.about].name, asked.length);
    return;
  }
  assert.equal(answer.status, expected.status, answer.body.toString());
  assert.equal(header(names.selectedEndpointId), site.endpointIds.get(place.endpoints[expected.from].name));
  assert.equal(header(names.fallbackCount), String(fallbacks(asked)), 'fallbacks');
  const waitMs = Number(header(names.waitMs));
  if (waits) assert.ok(waitMs > WAIT_MS.min && waitMs < WAIT_MS.max, `waited ${waitMs} ms`);
  else assert.equal(waitMs, 0, 'waited');
  checkBody(cell, expected.status, seen);
}

/** Endpoint, provider and host by name; how many were tried when there were several. */
function checkMessage(message: string, { row }: Cell, about: Who, endpoint: string, tried: number): void {
  const provider = about === 'first' ? (row.place ?? 'first') : 'second';
  assert.ok(message.includes(`ndpoint "${endpoint}" of provider "${provider}" (`), message);
  assert.match(
    message,
    row.place === 'unknown host' ? /provider-failures\.invalid|127/ : /\(127\.0\.0\.1:\d+\)/,
  );
  assert.equal(message.startsWith('None of the 2 candidates'), tried > 1, message);
  assert.doesNotMatch(message, /\/v1|sk-/);
}

function checkBody({ row, streaming }: Cell, status: number, { answer, detail }: Seen): void {
  const text = answer.body.toString();
  const source = answer.headers[names.errorSource.toLowerCase()];
  if (detail.state === 'completed') {
    assert.equal(source, undefined);
    assert.match(text, streaming ? /data: \[DONE\]\n\n$/ : /"choices":\[/);
    return;
  }
  assert.equal(source, 'upstream');
  // The provider's own words, but for the key in them.
  assert.equal(text, status === 200 ? cleanFrame() : cleanBody());
  const isFirst = row.outcome.kind === 'own' || row.outcome.kind === 'moves';
  const said =
    isFirst && 'status' in row.outcome && row.outcome.status === status ? row.fault.retryAfter : undefined;
  assert.equal(answer.headers['retry-after'], said, 'retry-after');
}

function checkLedger(site: Site, cell: Cell, expected: Expected, { answer, detail, place }: Seen): void {
  assert.deepEqual(
    [detail.state, detail.http_status, detail.error_code, detail.fallback_count],
    [expected.state, answer.status, expected.errorCode, fallbacks(expected.asked)],
  );
  const outcomes = expected.asked.map((who, index) => {
    if (index === expected.asked.length - 1 && expected.state === 'completed') return null;
    return who === 'first' ? cell.row.outcome : (cell.second ?? null);
  });
  assert.deepEqual(
    detail.attempts.map(({ endpoint_id, upstream_status, outcome, error_code }) => ({
      endpoint_id,
      upstream_status,
      outcome,
      error_code,
    })),
    outcomes.map((outcome, index) => ({
      endpoint_id: site.endpointIds.get(place.endpoints[expected.asked[index] ?? 'first'].name),
      upstream_status: statusOf(outcome),
      outcome: outcome === null ? 'succeeded' : 'failed',
      error_code: outcome === null ? null : causeOf(outcome),
    })),
  );
  for (const [index, outcome] of outcomes.entries())
    checkKept(detail.attempts[index]?.upstream_message ?? null, outcome, cell);
  assert.equal(
    detail.guardrails.length,
    cell.guarded && expected.state === 'completed' ? 1 : 0,
    'guardrails',
  );
}

function statusOf(outcome: Outcome | null): number | null {
  return outcome === null || outcome.kind === 'held' ? 200 : outcome.status;
}

/** The provider's text is kept for a rejection, without the key, and for nothing else. */
function checkKept(kept: string | null, outcome: Outcome | null, { row }: Cell): void {
  if (outcome?.kind !== 'rejected') {
    assert.equal(kept, null);
    return;
  }
  const isFirst = outcome === row.outcome;
  if (!(isFirst && row.silent === true)) assert.match(kept ?? '', /^Key \[redacted\]/);
  if (outcome.status < 400)
    assert.match(kept ?? '', /Redirects to http:\/\/127\.0\.0\.1:\d+\/v1\/chat\/completions$/);
}

function fallbacks(asked: readonly Who[]): number {
  return asked.filter((who, index) => index > 0 && who !== asked[index - 1]).length;
}
