import assert from 'node:assert/strict';
import { errors, headers as names } from '@relay/contract';
import type { RequestLogEntry } from '@relay/provider-sim';
import type { LedgerRow } from '../harness/ledger.ts';
import { type Mode, upstreamText } from '../harness/mode.ts';
import type { RawAnswer } from '../harness/raw-exchange.ts';
import type { Expectation, ExpectedUsage, FaultRow } from './expectation.ts';
import { dataOf, splitFrames, withoutUsageFrames } from './frames.ts';
import type { Slot, SlotEndpoint } from './slots.ts';

/** The observations of one cell. */
export interface CellResult {
  readonly row: FaultRow;
  readonly mode: Mode;
  readonly fallback: boolean;
  readonly expectation: Expectation;
  readonly words: string;
  readonly slot: Slot;
  readonly answer: RawAnswer;
  /** The bytes of the provider's response that the client got; null if the response is Relay's. */
  readonly said: RawAnswer | null;
  readonly seenByFirst: readonly RequestLogEntry[];
  readonly seenBySecond: readonly RequestLogEntry[];
  readonly ledger: LedgerRow;
  readonly clientRequestId: string;
  readonly publicUrl: string;
}

const UUID_V7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

export function fallsBack(expectation: Expectation, fallback: boolean): boolean {
  const replaceable = ['lost', 'refused', 'rejected', 'refused stream'].includes(expectation.kind);
  return fallback && replaceable;
}

export function checkCell(cell: CellResult): void {
  checkProviders(cell);
  checkHeaders(cell);
  checkBody(cell);
  checkLedger(cell);
}

/** The first is asked once; the second once when the first's answer can be replaced, else never. */
function checkProviders(cell: CellResult): void {
  const { mode, slot, words, seenByFirst, seenBySecond } = cell;
  const askedFirst = cell.row.bench === 'closed port' ? 0 : 1;
  assert.equal(seenByFirst.length, askedFirst, 'requests the first provider saw');
  assert.equal(
    seenBySecond.length,
    fallsBack(cell.expectation, cell.fallback) ? 1 : 0,
    'requests the second saw',
  );
  for (const [entry, endpoint] of [
    [seenByFirst[0], slot.first],
    [seenBySecond[0], slot.second],
  ] as const) {
    if (entry === undefined) continue;
    assert.deepEqual(entry.violations, []);
    // A provider that did not read the body cannot say what was in it.
    if (entry.body === null) continue;
    assert.equal(
      entry.body.toString(),
      upstreamText(mode, endpoint.upstreamModel, words),
      'body sent upstream',
    );
  }
}

function checkHeaders(cell: CellResult): void {
  const { answer, expectation, fallback } = cell;
  const fellBack = fallsBack(expectation, fallback);
  assert.match(header(answer, names.requestId) ?? '', UUID_V7);
  assert.match(header(answer, names.overheadMs) ?? '', /^\d+\.\d\d$/);
  assert.equal(header(answer, names.errorSource), expectedSource(cell, fellBack), 'error source');
  if (cell.said === null) {
    assert.equal(header(answer, names.retryAfter), undefined);
    return;
  }
  checkSelection(answer, fellBack ? cell.slot.second : cell.slot.first, fellBack ? 1 : 0, cell.mode);
  assert.equal(answer.headers['content-type'], cell.said.headers['content-type'], 'content type');
  assert.equal(answer.headers['openai-version'], cell.said.headers['openai-version']);
  assert.equal(answer.headers['x-ratelimit-limit-requests'], undefined);
  if (fellBack) return;
  for (const [name, value] of Object.entries(cell.row.answerHeaders ?? {})) {
    assert.equal(answer.headers[name], value ?? undefined, name);
  }
}

function expectedSource(cell: CellResult, fellBack: boolean): string | undefined {
  const { kind } = cell.expectation;
  if (fellBack) return undefined;
  if (kind === 'lost' || kind === 'rejected') return 'relay';
  return kind === 'refused' || kind === 'passed' || kind === 'refused stream' ? 'upstream' : undefined;
}

function checkSelection(answer: RawAnswer, endpoint: SlotEndpoint, fallbacks: number, mode: Mode): void {
  assert.equal(header(answer, names.selectedEndpoint), endpoint.name);
  assert.equal(header(answer, names.selectedEndpointId), endpoint.id);
  assert.equal(header(answer, names.selectedProviderId), endpoint.providerId);
  assert.equal(header(answer, names.selectedUpstreamModel), endpoint.upstreamModel);
  assert.equal(header(answer, names.fallbackCount), String(fallbacks), 'fallback count');
  assert.equal(header(answer, names.waitMs), '0', 'wait');
  assert.ok(Number(header(answer, names.estimatedInputTokens)) > 0);
  const outputTokens = Number(header(answer, names.estimatedOutputTokens));
  assert.ok(mode.operation === 'embeddings' ? outputTokens === 0 : outputTokens > 0);
}

function checkBody(cell: CellResult): void {
  const { answer, expectation, said } = cell;
  if (said === null) {
    checkOwnError(cell, 'code' in expectation ? expectation.code : '');
    return;
  }
  const fellBack = fallsBack(expectation, cell.fallback);
  const status = 'status' in expectation && !fellBack ? (expectation.status ?? 200) : 200;
  assert.equal(answer.status, status, 'status');
  if (expectation.kind === 'broken') {
    assert.equal(answer.whole, false, 'the client must see it break');
    assert.equal(answer.body.equals(said.body.subarray(0, answer.body.length)), true);
    return;
  }
  assert.equal(answer.whole, true, 'the answer must end properly');
  const expected = asTheClientShouldSeeIt(cell, said);
  if (expectation.kind === 'interrupted') checkInterrupted(cell, expected);
  else assert.equal(withoutOwnId(answer.body), withoutOwnId(expected), 'body');
}

/** Errors of Messages have the provider's ID of the request, of which the reference has another. */
function withoutOwnId(body: Buffer): string {
  return body.toString('latin1').replace(/"request_id":"req_sim_\d+"/, '"request_id":"req_sim"');
}

/** What the provider said, without the usage frame in a chat stream whose client did not ask for one. */
function asTheClientShouldSeeIt({ mode }: CellResult, said: RawAnswer): Buffer {
  const dropsUsage = mode.operation === 'chat' && mode.streaming && !mode.wantsUsage;
  return dropsUsage && isPlainStream(said) ? withoutUsageFrames(said.body) : said.body;
}

function isPlainStream(answer: RawAnswer): boolean {
  const type = answer.headers['content-type'] ?? '';
  return type.startsWith('text/event-stream') && answer.headers['content-encoding'] === undefined;
}

/** Complete frames of the provider, then exactly one error frame of Relay, and no terminator. */
function checkInterrupted(cell: CellResult, expected: Buffer): void {
  const { frames, rest } = splitFrames(cell.answer.body);
  assert.equal(rest, '', 'no piece of a frame is left behind');
  const isError = (frame: string) => /^data: \{("type":"error",)?"error"/m.test(frame);
  assert.equal(frames.filter(isError).length, 1, 'error frames');
  const last = frames.pop() ?? '';
  const { error } = JSON.parse(dataOf(last)) as { error: Record<string, unknown> };
  checkErrorObject(cell, error, 'stream_interrupted');
  assert.ok(!frames.some((frame) => dataOf(frame) === '[DONE]'), 'no end after an interruption');
  const whole = splitFrames(expected).frames;
  // A deadline can expire between any frames; every other fault leaves exactly the frames that were sent.
  if (cell.row.bench === 'hurried') assert.ok(frames.length > 1 && frames.length < whole.length);
  else assert.equal(frames.length, whole.length, 'frames');
  assert.equal(frames.join(''), whole.slice(0, frames.length).join(''), 'frames');
}

function checkOwnError(cell: CellResult, code: string): void {
  const { answer } = cell;
  assert.equal(answer.status, 502, 'status');
  assert.equal(answer.whole, true);
  assert.equal(answer.headers['content-type'], 'application/json');
  assert.equal(answer.headers['content-length'], String(answer.body.length));
  const { error } = JSON.parse(answer.body.toString()) as { error: Record<string, unknown> };
  checkErrorObject(cell, error, code);
}

function checkErrorObject(cell: CellResult, error: Record<string, unknown>, code: string): void {
  assert.equal(error['code'], code);
  // Anthropic's clients know a closed list of types, which follows the status.
  const type = cell.mode.operation === 'messages' ? 'api_error' : errors[code as keyof typeof errors].type;
  assert.equal(error['type'], type);
  assert.ok(String(error['message']).length > 20);
  if (code !== 'stream_interrupted') assert.ok(String(error['message']).includes(cell.slot.first.name));
  assert.equal(error['param'], null);
  assert.equal(error['request_id'], header(cell.answer, names.requestId));
  assert.equal(error['doc_url'], `${cell.publicUrl}/docs/errors/${code}`);
}

function checkLedger(cell: CellResult): void {
  const { expectation, ledger, mode, slot, answer } = cell;
  const fellBack = fallsBack(expectation, cell.fallback);
  const lane = cell.fallback ? slot.laneWithFallback : slot.laneWithout;
  const completed = fellBack || expectation.kind === 'answered';
  const facts = {
    operation: ledger.operation,
    streaming: ledger.streaming,
    state: ledger.state,
    status: ledger.status,
    error_code: ledger.error_code,
    fallback_count: ledger.fallback_count,
    lane_id: ledger.lane_id,
    endpoint_id: ledger.endpoint_id,
    client_request_id: ledger.client_request_id,
  };
  assert.deepEqual(facts, {
    operation: mode.operation,
    streaming: mode.streaming,
    state: completed ? 'completed' : 'failed',
    status: answer.status,
    error_code: completed ? null : endOf(expectation),
    fallback_count: fellBack ? 1 : 0,
    lane_id: lane.id,
    endpoint_id: fellBack ? slot.second.id : slot.first.id,
    client_request_id: cell.clientRequestId,
  });
  checkAttempts(cell, fellBack);
  checkUsage(cell, fellBack);
}

/** The request's own error code: for a rejection Relay's, otherwise the attempt's. */
function endOf(expectation: Expectation): string | null {
  return expectation.kind === 'rejected' ? expectation.code : causeOf(expectation);
}

function causeOf(expectation: Expectation): string | null {
  switch (expectation.kind) {
    case 'answered':
      return null;
    case 'refused':
    case 'rejected':
    case 'passed':
      return `upstream_status_${expectation.status}`;
    case 'refused stream':
      return 'upstream_invalid_response';
    case 'errored stream':
      return 'upstream_error_frame';
    default:
      return expectation.code;
  }
}

function checkAttempts(cell: CellResult, fellBack: boolean): void {
  const { expectation, ledger, slot } = cell;
  const [first, second] = ledger.attempts;
  assert.equal(ledger.attempts.length, fellBack ? 2 : 1, 'attempts');
  assert.equal(first?.endpoint_id, slot.first.id);
  assert.equal(first?.outcome, expectation.kind === 'answered' ? 'completed' : 'failed');
  assert.equal(first?.cause, causeOf(expectation));
  const said = cell.seenByFirst[0]?.status ?? 0;
  if (expectation.kind !== 'lost') assert.equal(first?.status, said, 'status of the attempt');
  else if (expectation.attemptStatus !== undefined) assert.equal(first?.status, expectation.attemptStatus);
  else assert.ok(first?.status === null || first?.status === said, `${first?.status} is not what was said`);
  if (!fellBack) return;
  assert.deepEqual(
    { id: second?.endpoint_id, status: second?.status, outcome: second?.outcome, cause: second?.cause },
    { id: slot.second.id, status: 200, outcome: 'completed', cause: null },
  );
}

function checkUsage(cell: CellResult, fellBack: boolean): void {
  const { ledger, answer, mode } = cell;
  const expected = fellBack ? { source: 'provider' as const } : expectedUsage(cell.expectation);
  if (expected === null) {
    assert.equal(ledger.usage_source, 'none');
    return;
  }
  if (expected.source === 'estimated') {
    assert.equal(ledger.usage_source, 'estimated');
    assert.equal(ledger.actual_input_tokens, startedWith(cell) ?? ledger.estimated_input_tokens);
    assert.ok(ledger.estimated_input_tokens > 0, 'missing usage is not zero usage');
    const outputTokens = ledger.actual_output_tokens ?? -1;
    const saysSomething = cell.expectation.kind === 'answered' || cell.expectation.kind === 'interrupted';
    assert.ok(saysSomething && mode.operation !== 'embeddings' ? outputTokens > 0 : outputTokens >= 0);
    assert.equal(header(answer, names.actualTotalTokens), undefined);
    return;
  }
  const entry = fellBack ? cell.seenBySecond[0] : cell.seenByFirst[0];
  const reported = reportedBy(expected, entry);
  assert.equal(ledger.usage_source, 'reported');
  assert.equal(ledger.actual_input_tokens, reported.input, 'input tokens');
  assert.equal(ledger.actual_output_tokens, reported.output, 'output tokens');
  if (reported.cached !== null) assert.equal(ledger.actual_cached_input_tokens, reported.cached);
  const streamed = answer.headers['content-type']?.startsWith('text/event-stream') === true;
  const inHeaders = (value: number) => (streamed ? undefined : String(value));
  assert.equal(header(answer, names.actualInputTokens), inHeaders(reported.input));
  assert.equal(header(answer, names.actualOutputTokens), inHeaders(reported.output));
  assert.equal(header(answer, names.actualTotalTokens), inHeaders(reported.input + reported.output));
}

/** The input that a stream of Messages reports before its content; null without one, and where the stream was not relayed. */
function startedWith({ answer, expectation }: CellResult): number | null {
  if (!['answered', 'interrupted', 'errored stream'].includes(expectation.kind)) return null;
  const reported = /"type":"message_start".*?"input_tokens":(\d+)/.exec(answer.body.toString('latin1'))?.[1];
  return reported === undefined ? null : Number(reported);
}

/** Null: the provider did no work that it bills. */
function expectedUsage(expectation: Expectation): ExpectedUsage | null {
  if (['refused', 'rejected', 'passed'].includes(expectation.kind)) return null;
  if (expectation.kind === 'lost') {
    return (expectation.attemptStatus ?? 0) >= 400 ? null : { source: 'estimated' };
  }
  if (expectation.kind === 'answered') return expectation.usage ?? { source: 'provider' };
  return expectation.kind === 'interrupted' && expectation.usage
    ? expectation.usage
    : { source: 'estimated' };
}

function reportedBy(
  expected: Exclude<ExpectedUsage, { source: 'estimated' }>,
  entry: RequestLogEntry | undefined,
): { input: number; output: number; cached: number | null } {
  if (expected.source === 'reported') {
    return { input: expected.input, output: expected.output, cached: expected.cached ?? null };
  }
  const { promptTokens = -1, completionTokens = -1 } = entry?.reportedUsage ?? entry ?? {};
  return { input: promptTokens, output: completionTokens, cached: null };
}

function header(answer: RawAnswer, name: string): string | undefined {
  return answer.headers[name.toLowerCase()];
}
