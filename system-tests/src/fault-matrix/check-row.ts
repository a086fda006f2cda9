import assert from 'node:assert/strict';
import { headers as names, type RequestAttempt, type RequestDetail } from '@relay/contract';
import type { RequestLogEntry } from '@relay/provider-sim';
import { type Cell, fallbacksOf, lastOf } from './cells.ts';
import { causeOf, type Expectation, type ExpectedUsage } from './expectation.ts';
import { PRICE } from './places.ts';
import type { Seen } from './run-cell.ts';

/** More than this is charged to no request of an endpoint without a context window. */
const USAGE_MAX = 10_000_000;

/** The request's row: how it ended, each attempt, and what it used. */
export function checkRow(cell: Cell, seen: Seen): void {
  const { detail, steps, place, answer, clientRequestId } = seen;
  const { who, expectation } = lastOf(steps);
  const facts = {
    operation: detail.operation,
    streaming: detail.streaming,
    state: detail.state,
    status: detail.http_status,
    error_code: detail.error_code,
    fallback_count: detail.fallback_count,
    lane_id: detail.lane_id,
    endpoint_id: detail.endpoint_id,
    client_request_id: detail.client_request_id,
    guardrails: detail.guardrails.length,
  };
  const completed = expectation.kind === 'answered';
  assert.deepEqual(facts, {
    operation: cell.mode.operation,
    streaming: cell.mode.streaming,
    state: completed ? 'completed' : 'failed',
    status: answer.status,
    error_code: expectation.kind === 'rejected' ? expectation.code : causeOf(expectation),
    fallback_count: fallbacksOf(steps),
    lane_id: place.lane.id,
    endpoint_id: place[who].id,
    client_request_id: clientRequestId,
    guardrails: cell.guarded && completed ? 1 : 0,
  });
  checkAttempts(cell, seen);
  checkUsage(cell, seen);
}

function checkAttempts({ row }: Cell, { detail, steps, place, arrivals }: Seen): void {
  assert.equal(detail.attempts.length, steps.length, 'attempts');
  const arrived = [...arrivals];
  for (const [index, { who, expectation }] of steps.entries()) {
    const attempt = detail.attempts[index];
    const entry = arrived[0]?.who === who ? arrived.shift()?.entry : undefined;
    const said = expectation.kind === 'lost' ? expectation.attemptStatus : entry?.status;
    assert.deepEqual(
      [attempt?.endpoint_id, attempt?.outcome, attempt?.error_code, attempt?.upstream_status],
      [place[who].id, expectation.kind === 'answered' ? 'succeeded' : 'failed', causeOf(expectation), said],
    );
    checkKept(attempt?.upstream_message ?? null, expectation, index === 0 && row.silent === true);
  }
}

/** The provider's text is kept for a rejection, without the key, and for nothing else. */
function checkKept(kept: string | null, expectation: Expectation, isSilent: boolean): void {
  if (expectation.kind !== 'rejected') {
    assert.equal(kept, null);
    return;
  }
  if (!isSilent) assert.match(kept ?? '', /^Key \[redacted\]/);
  if (expectation.status < 400)
    assert.match(kept ?? '', /Redirects to http:\/\/127\.0\.0\.1:\d+\/v1\/chat\/completions$/);
}

/** Each attempt used what its expectation says, and the row is the sum of its attempts. */
function checkUsage(cell: Cell, seen: Seen): void {
  const { detail, steps, arrivals } = seen;
  for (const count of countsOf(detail).concat(detail.cost_micros))
    assert.ok(count === null || (Number.isSafeInteger(count) && count >= 0), `${count}`);
  const arrived = [...arrivals];
  for (const [index, { who, expectation }] of steps.entries()) {
    const attempt = detail.attempts[index];
    assert.ok(attempt !== undefined, 'attempt');
    const entry = arrived[0]?.who === who ? arrived.shift()?.entry : undefined;
    const expected = attempt.sent ? expectedUsage(expectation) : null;
    assert.equal(attempt.sent, !isUnreachable(cell, index), 'sent');
    if (attempt.usage_source === 'reported' && (expected === null || expected.source === 'estimated'))
      // What the provider reported counts, whatever became of its answer.
      checkReported(attempt, { source: 'provider' }, entry);
    else if (expected === null) assert.equal(attempt.usage_source, 'none');
    else if (expected.source === 'estimated') checkEstimated(cell, seen, attempt, entry, expected);
    else checkReported(attempt, expected, entry);
  }
  const sums = countsOf(detail).map((_, place) =>
    sumOf(detail.attempts.map((each) => countsOf(each)[place])),
  );
  assert.deepEqual(countsOf(detail), sums, 'the row is the sum of its attempts');
  checkHeaders(seen);
  if (isMetered(cell)) assert.equal(detail.cost_micros, costOf(detail), 'cost');
}

type Counted = Pick<RequestDetail, 'input_tokens' | 'output_tokens' | 'cached_input_tokens'>;

const countsOf = ({ input_tokens, output_tokens, cached_input_tokens }: Counted) => [
  input_tokens,
  output_tokens,
  cached_input_tokens,
];

/** Null where no attempt has a count. */
function sumOf(counts: readonly (number | null | undefined)[]): number | null {
  const known = counts.filter((count) => count != null);
  return known.length === 0 ? null : known.reduce((sum, count) => sum + count, 0);
}

/** Relay sends nothing to an address that accepts no connection. */
function isUnreachable({ row }: Cell, index: number): boolean {
  return index === 0 && (row.bench === 'closed port' || row.bench === 'unknown host');
}

/** Whether the cell's place has prices and a limit on tokens. */
export function isMetered({ row, left, guarded, expectation }: Omit<Cell, 'mode'>): boolean {
  const usage = expectation.kind === 'answered' ? expectation.usage : undefined;
  return usage !== undefined && left === 'one, fallback not allowed' && !guarded && row.bench === undefined;
}

const costOf = ({ input_tokens, output_tokens }: RequestDetail) =>
  PRICE.input * (input_tokens ?? 0) + PRICE.output * (output_tokens ?? 0);

function checkEstimated(
  { mode, row, expectation: { kind } }: Cell,
  { detail }: Seen,
  attempt: RequestAttempt,
  entry: RequestLogEntry | undefined,
  { outputMin, outputMax }: Extract<ExpectedUsage, { source: 'estimated' }>,
): void {
  const estimated = detail.estimated_input_tokens ?? 0;
  assert.match(attempt.usage_source, /^(?:estimated|streamed)$/);
  // A stream of Messages reports its input before its content; frames of its own say it themselves.
  const own = /"input_tokens":(\d+)/.exec(row.fault.rawFrames?.join('') ?? '')?.[1];
  const told = own === undefined ? entry?.promptTokens : Number(own);
  assert.ok(
    [estimated, told].includes(attempt.input_tokens ?? -1),
    `${attempt.input_tokens} of input, not ${estimated} or ${told}`,
  );
  assert.ok(estimated > 0, 'missing usage is not zero usage');
  const outputTokens = attempt.output_tokens ?? -1;
  const saysSomething = (kind === 'answered' || kind === 'interrupted') && mode.operation !== 'embeddings';
  assert.ok(outputTokens >= (outputMin ?? (saysSomething ? 1 : 0)), `${outputTokens} tokens of output`);
  assert.ok(outputTokens <= (outputMax ?? Number.MAX_SAFE_INTEGER), `${outputTokens} tokens of output`);
}

function checkReported(
  attempt: RequestAttempt,
  expected: Exclude<ExpectedUsage, { source: 'estimated' }>,
  entry: RequestLogEntry | undefined,
): void {
  const input = attempt.input_tokens ?? -1;
  const output = attempt.output_tokens ?? -1;
  assert.equal(attempt.usage_source, 'reported');
  if (expected.source === 'bounded') assert.equal(input + output, USAGE_MAX, 'input and output together');
  else assert.deepEqual([input, output], reportedBy(expected, entry), 'tokens of input and output');
  if ('cached' in expected) assert.equal(attempt.cached_input_tokens, expected.cached);
}

/** A completed answer in one piece whose usage was reported says what the request used; what another answer says is no less true. */
function checkHeaders({ detail, answer }: Seen): void {
  const isStream = answer.headers['content-type']?.startsWith('text/event-stream') === true;
  const isReported = detail.attempts.at(-1)?.usage_source === 'reported';
  const isSaid = answer.headers[names.actualTotalTokens.toLowerCase()] !== undefined;
  assert.ok(
    isSaid || isStream || !isReported || detail.state !== 'completed',
    'the headers say what was used',
  );
  const [input = 0, output = 0] = countsOf(detail).map((count) => count ?? 0);
  const inHeaders = (name: string) => answer.headers[name.toLowerCase()];
  const shown = (value: number) => (isSaid ? String(value) : undefined);
  assert.equal(inHeaders(names.actualInputTokens), shown(input));
  assert.equal(inHeaders(names.actualOutputTokens), shown(output));
  assert.equal(inHeaders(names.actualTotalTokens), shown(input + output));
}

function reportedBy(
  expected: Extract<ExpectedUsage, { source: 'reported' | 'provider' }>,
  entry: RequestLogEntry | undefined,
): [input: number, output: number] {
  if (expected.source === 'reported') return [expected.input, expected.output];
  const { promptTokens = -1, completionTokens = -1 } = entry?.reportedUsage ?? entry ?? {};
  return [promptTokens, completionTokens];
}

/** Null: the provider did no work that it bills. */
function expectedUsage(expectation: Expectation): ExpectedUsage | null {
  switch (expectation.kind) {
    case 'refused':
    case 'paused':
    case 'rejected':
    case 'passed':
      return null;
    case 'lost':
      return (expectation.attemptStatus ?? 0) >= 400 ? null : { source: 'estimated' };
    case 'answered':
      return expectation.usage ?? { source: 'provider' };
    case 'interrupted':
      return expectation.usage ?? { source: 'estimated' };
    default:
      return { source: 'estimated' };
  }
}
