import assert from 'node:assert/strict';
import { errors, headers as names } from '@relay/contract';
import { upstreamText } from '../harness/mode.ts';
import type { RawAnswer } from '../harness/raw-exchange.ts';
import { type Cell, fallbacksOf, lastOf } from './cells.ts';
import { dataOf, splitFrames, withoutUsageFrames } from './frames.ts';
import { type PlaceEndpoint, WAIT_MS_MAX } from './places.ts';
import { toldOf, WITHHELD } from './quotes.ts';
import { type Matrix, type Seen, WORDS } from './run-cell.ts';

const UUID_V7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
/** What Retry-After asks for in the rows that wait, less a little for clocks. */
const PAUSE_MS_MIN = 950;

/** Each provider is asked as the steps say, with the client's text. */
export function checkProviders({ row, mode }: Cell, { steps, arrivals, place }: Seen): void {
  const isReached = row.bench !== 'closed port' && row.bench !== 'unknown host';
  const asked = steps.map(({ who }) => who).filter((who) => who === 'second' || isReached);
  assert.deepEqual(
    arrivals.map(({ who }) => who),
    asked,
    'who was asked',
  );
  if (steps.length > 1 && lastOf(steps).who === 'first') {
    const [from, to] = [arrivals[0]?.entry, arrivals.at(-1)?.entry];
    const pauseMs = (to?.receivedMonotonicMs ?? 0) - (from?.receivedMonotonicMs ?? 0);
    assert.ok(pauseMs >= PAUSE_MS_MIN, `asked again after ${pauseMs} ms`);
  }
  for (const { who, entry } of arrivals) {
    assert.deepEqual(entry.violations, []);
    // A provider that did not read the body cannot say what was in it.
    if (entry.body === null) continue;
    const sent = upstreamText(mode, place[who].upstreamModel, WORDS);
    assert.equal(entry.body.toString(), sent, 'body sent upstream');
  }
}

export function checkAnswer(matrix: Matrix, cell: Cell, seen: Seen): void {
  checkHeaders(cell, seen);
  checkBody(matrix, cell, seen);
}

/** Where something of a key, or a header that steers, reached the client or the request log. */
export function leaksOf({ answer, detail, place }: Seen): string[] {
  const leaks = WITHHELD.filter((name) => answer.headers[name] !== undefined).map((name) => `header ${name}`);
  const places = {
    headers: JSON.stringify(answer.headers),
    body: answer.body.toString(),
    log: JSON.stringify(detail),
  };
  for (const [where, text] of Object.entries(places))
    leaks.push(...toldOf(text, [place.first.key, place.second.key]).map((told) => `${told} in the ${where}`));
  return leaks;
}

function checkHeaders(cell: Cell, { answer, steps, place, said }: Seen): void {
  const { who, expectation } = lastOf(steps);
  assert.match(header(answer, names.requestId) ?? '', UUID_V7);
  assert.match(header(answer, names.overheadMs) ?? '', /^\d+\.\d\d$/);
  const isOwn = expectation.kind === 'lost' || expectation.kind === 'rejected';
  const isProviders = ['refused', 'passed', 'refused stream', 'reported error'].includes(expectation.kind);
  const source = isOwn ? 'relay' : isProviders ? 'upstream' : undefined;
  assert.equal(header(answer, names.errorSource), source, 'error source');
  if (steps.length > 1 || said === null) assert.equal(header(answer, names.retryAfter), undefined);
  if (said === null) return;
  const waits = expectation.kind === 'answered' && who === 'first' && steps.length > 1;
  checkSelection(cell, answer, place[who], fallbacksOf(steps), waits);
  assert.equal(answer.headers['content-type'], said.headers['content-type'], 'content type');
  assert.equal(answer.headers['openai-version'], said.headers['openai-version']);
  assert.equal(answer.headers['x-ratelimit-limit-requests'], undefined);
  if (steps.length > 1) return;
  for (const [name, value] of Object.entries(cell.row.answerHeaders ?? {}))
    assert.equal(answer.headers[name], value ?? undefined, name);
}

function checkSelection(
  { mode }: Cell,
  answer: RawAnswer,
  endpoint: PlaceEndpoint,
  fallbacks: number,
  waits: boolean,
): void {
  assert.equal(header(answer, names.selectedEndpoint), endpoint.name);
  assert.equal(header(answer, names.selectedEndpointId), endpoint.id);
  assert.equal(header(answer, names.selectedProviderId), endpoint.providerId);
  assert.equal(header(answer, names.selectedUpstreamModel), endpoint.upstreamModel);
  assert.equal(header(answer, names.fallbackCount), String(fallbacks), 'fallback count');
  const waitMs = Number(header(answer, names.waitMs));
  if (waits) assert.ok(waitMs < WAIT_MS_MAX, `waited ${waitMs} ms`);
  else assert.equal(waitMs, 0, 'wait');
  assert.ok(Number(header(answer, names.estimatedInputTokens)) > 0);
  const outputTokens = Number(header(answer, names.estimatedOutputTokens));
  assert.ok(mode.operation === 'embeddings' ? outputTokens === 0 : outputTokens > 0);
}

function checkBody(matrix: Matrix, cell: Cell, seen: Seen): void {
  const { answer, steps, said } = seen;
  const { expectation } = lastOf(steps);
  if (said === null) {
    checkOwnError(matrix, cell, seen, 'code' in expectation ? expectation.code : '');
    return;
  }
  const status = 'status' in expectation ? (expectation.status ?? 200) : 200;
  assert.equal(answer.status, status, 'status');
  if (expectation.kind === 'broken') {
    assert.equal(answer.whole, false, 'the client must see it break');
    assert.equal(answer.body.equals(said.body.subarray(0, answer.body.length)), true);
    return;
  }
  assert.equal(answer.whole, true, 'the answer must end properly');
  const expected = asTheClientShouldSeeIt(cell, said);
  if (expectation.kind === 'interrupted') checkInterrupted(matrix, cell, seen, expected);
  else assert.equal(withoutOwnId(answer.body), withoutOwnId(expected), 'body');
}

/** Errors of Messages have the provider's ID of the request, of which the reference has another. */
function withoutOwnId(body: Buffer): string {
  return body.toString('latin1').replace(/"request_id":"req_sim_\d+"/, '"request_id":"req_sim"');
}

/** What the provider said, without the usage frame in a chat stream whose client did not ask for one. */
function asTheClientShouldSeeIt({ mode }: Cell, said: RawAnswer): Buffer {
  const dropsUsage = mode.operation === 'chat' && mode.streaming && !mode.wantsUsage;
  return dropsUsage && isPlainStream(said) ? withoutUsageFrames(said.body) : said.body;
}

function isPlainStream(answer: RawAnswer): boolean {
  const type = answer.headers['content-type'] ?? '';
  return type.startsWith('text/event-stream') && answer.headers['content-encoding'] === undefined;
}

/** Complete frames of the provider, then exactly one error frame of Relay, and no terminator. */
function checkInterrupted(matrix: Matrix, cell: Cell, seen: Seen, expected: Buffer): void {
  const { frames, rest } = splitFrames(seen.answer.body);
  assert.equal(rest, '', 'no piece of a frame is left behind');
  const isError = (frame: string) => /^data: \{("type":"error",|"error":)/m.test(frame);
  assert.equal(frames.filter(isError).length, 1, 'error frames');
  const last = frames.pop() ?? '';
  const { error } = JSON.parse(dataOf(last)) as { error: Record<string, unknown> };
  checkErrorObject(matrix, cell, seen, error, 'stream_interrupted');
  assert.ok(!frames.some((frame) => dataOf(frame) === '[DONE]'), 'no end after an interruption');
  const whole = splitFrames(expected).frames;
  // A deadline can expire between any frames; every other fault leaves exactly the frames that were sent.
  if (cell.row.bench === 'hurried') assert.ok(frames.length > 1 && frames.length < whole.length);
  else assert.equal(frames.length, whole.length, 'frames');
  assert.equal(frames.join(''), whole.slice(0, frames.length).join(''), 'frames');
}

function checkOwnError(matrix: Matrix, cell: Cell, seen: Seen, code: string): void {
  const { answer } = seen;
  assert.equal(answer.status, 502, 'status');
  assert.equal(answer.whole, true);
  assert.equal(answer.headers['content-type'], 'application/json');
  assert.equal(answer.headers['content-length'], String(answer.body.length));
  const { error } = JSON.parse(answer.body.toString()) as { error: Record<string, unknown> };
  checkErrorObject(matrix, cell, seen, error, code);
  checkMessage(cell, seen, String(error['message']));
}

function checkErrorObject(
  { url }: Matrix,
  { mode }: Cell,
  { answer }: Seen,
  error: Record<string, unknown>,
  code: string,
): void {
  assert.equal(error['code'], code);
  // Anthropic's clients know a closed list of types, which follows the status.
  const type = mode.operation === 'messages' ? 'api_error' : errors[code as keyof typeof errors].type;
  assert.equal(error['type'], type);
  assert.ok(String(error['message']).length > 20);
  assert.equal(error['param'], null);
  assert.equal(error['request_id'], header(answer, names.requestId));
  assert.equal(error['doc_url'], `${url}/docs/errors/${code}`);
}

/** Endpoint, provider and host by name; how many were tried when there were several. */
function checkMessage({ row }: Cell, { steps, place }: Seen, message: string): void {
  const { name, provider } = place[lastOf(steps).who];
  assert.ok(message.includes(`ndpoint "${name}" of provider "${provider}" (`), message);
  const host =
    row.bench === 'unknown host' ? /\((fault-matrix\.invalid|127\.0\.0\.1:\d+)\)/ : /\(127\.0\.0\.1:\d+\)/;
  assert.match(message, host);
  assert.equal(message.startsWith('None of the 2 candidates'), steps.length > 1, message);
  assert.doesNotMatch(message, /\/v1|sk-/);
  if (row.says !== undefined && steps.length === 1) assert.match(message, row.says);
}

function header(answer: RawAnswer, name: string): string | undefined {
  return answer.headers[name.toLowerCase()];
}
