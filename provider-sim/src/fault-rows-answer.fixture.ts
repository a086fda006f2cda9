import assert from 'node:assert/strict';
import {
  answeredOrLeft,
  answersWhole,
  bareHttp,
  isStream,
  jsonOf,
  neverAnswers,
  notHttp,
  oddBody,
  type Row,
  rawText,
  saysSomething,
} from './fault-row.fixture.ts';
import type { Seen } from './raw-client.fixture.ts';
import { contentOfStream } from './read-sse.ts';
import type { RequestLogEntry } from './request-log.ts';

/** Faults before the answer and in its place. */
export const answerRows = {
  delayMs: [
    {
      fault: { delayMs: 30 },
      check(seen, entry, given) {
        saysSomething(seen, given);
        assert.ok((entry.finishedAtMs ?? 0) - entry.receivedAtMs >= 28);
      },
    },
  ],
  refuseConnection: [{ fault: { refuseConnection: true }, outcome: 'cut', check: neverAnswers }],
  resetOnAccept: [
    {
      fault: { resetOnAccept: true },
      outcome: 'cut',
      check: (seen) => assert.equal(seen.error, 'ECONNRESET'),
    },
  ],
  cutBeforeHeaders: [{ fault: { cutBeforeHeaders: true }, outcome: 'cut', check: neverAnswers }],
  stallBeforeHeaders: [
    {
      fault: { stallBeforeHeaders: true },
      sending: (_given, sim, since) => ({
        abortAfter: sim.waitFor((entry) => entry.id > since && entry.fault !== null),
      }),
      outcome: 'aborted_by_client',
      check(seen, entry) {
        neverAnswers(seen);
        assert.equal(entry.promptTokens, 0);
      },
    },
  ],
  early: [
    {
      fault: { early: true, status: 503 },
      outcome: 'fault_answered',
      check: (seen) => assert.equal(seen.headers['connection'], 'close'),
    },
  ],
  informational: [
    {
      fault: { informational: 2 },
      check(seen, _entry, given) {
        saysSomething(seen, given);
        assert.deepEqual(seen.informational, [103, 103]);
      },
    },
  ],
  status101: [
    {
      fault: { status101: true },
      outcome: answeredOrLeft,
      check: (seen) => assert.equal(seen.status, 101),
    },
  ],
  rawSocketBase64: [
    {
      fault: { rawSocketBase64: notHttp },
      outcome: 'fault_answered',
      check: (seen) => assert.match(seen.error ?? '', /^HPE_/),
    },
    {
      fault: { rawSocketBase64: bareHttp, dripMs: 1 },
      outcome: 'fault_answered',
      check: (seen) => assert.equal(seen.text, '{}'),
    },
  ],
  status: [400, 401, 403, 404, 408, 409, 422, 429, 500, 502, 503, 504, 529].map((status) => ({
    fault: { status },
    outcome: 'fault_answered' as const,
    check(seen: Seen, entry: RequestLogEntry) {
      assert.equal(seen.status, status);
      assert.equal(typeof jsonOf(seen.text)['error']?.['message'], 'string');
      assert.equal(entry.promptTokens, 0);
    },
  })),
  retryAfter: ['2', 'Wed, 21 Oct 2026 07:28:00 GMT', 7, 'soon'].map((retryAfter) => ({
    fault: { status: 429, retryAfter },
    outcome: 'fault_answered' as const,
    check: (seen: Seen) => assert.equal(seen.headers['retry-after'], String(retryAfter)),
  })),
  headers: [
    {
      fault: { headers: { 'X-Odd': 'yes', 'X-Request-Id': 'mine' } },
      check(seen) {
        assert.equal(seen.headers['x-odd'], 'yes');
        assert.equal(seen.headers['x-request-id'], 'mine');
      },
    },
  ],
  body: [
    {
      fault: { status: 400, body: { error: { code: 'odd' } } },
      outcome: 'fault_answered',
      check: (seen) => assert.equal(seen.text, '{"error":{"code":"odd"}}'),
    },
    {
      fault: { body: 'not json' },
      outcome: 'fault_answered',
      check(seen) {
        answersWhole(seen);
        assert.equal(seen.text, 'not json');
      },
    },
  ],
  contentType: [
    {
      fault: { contentType: 'application/x-odd' },
      check: (seen) => assert.equal(seen.headers['content-type'], 'application/x-odd'),
    },
  ],
  redirectTo: [
    {
      fault: { redirectTo: 'http://127.0.0.1:1/elsewhere' },
      outcome: 'fault_answered',
      check(seen) {
        assert.equal(seen.status, 302);
        assert.equal(seen.headers.location, 'http://127.0.0.1:1/elsewhere');
      },
    },
  ],
  html200: [
    {
      fault: { html200: true },
      outcome: 'fault_answered',
      check(seen) {
        answersWhole(seen);
        assert.match(seen.headers['content-type'] ?? '', /^text\/html/);
      },
    },
  ],
  emptyBody: [
    {
      fault: { emptyBody: true },
      outcome: 'fault_answered',
      check(seen) {
        answersWhole(seen);
        assert.equal(seen.body.length, 0);
      },
    },
  ],
  malformedJson: [
    {
      fault: { malformedJson: true },
      check(seen, _entry, given) {
        answersWhole(seen);
        assert.throws(() => (given.stream ? contentOfStream(seen.text) : jsonOf(seen.text)), SyntaxError);
      },
    },
  ],
  echo: [
    {
      fault: { echo: true },
      check(seen, entry) {
        answersWhole(seen);
        assert.ok(entry.body !== null && seen.body.equals(entry.body));
      },
    },
  ],
  bodyBase64: [
    {
      fault: { echo: true, bodyBase64: oddBody.toString('base64'), contentType: 'application/json; x=1' },
      check(seen) {
        assert.deepEqual(seen.body, oddBody);
        assert.equal(seen.headers['content-type'], 'application/json; x=1');
      },
    },
  ],
  rawFrames: [
    {
      fault: { rawFrames: [rawText.slice(0, 9), rawText.slice(9)] },
      check(seen, entry) {
        assert.equal(seen.text, rawText);
        assert.equal(entry.framesSent, 2);
        assert.match(seen.headers['content-type'] ?? '', /^text\/event-stream/);
      },
    },
  ],
  answerAs: [
    {
      fault: { answerAs: 'json' },
      only: isStream,
      check: (seen) => assert.equal(seen.headers['content-type'], 'application/json'),
    },
    {
      fault: { answerAs: 'stream' },
      only: (given) => !given.stream && given.operation !== 'embeddings',
      check: (seen) => assert.ok(contentOfStream(seen.text).length > 0),
    },
  ],
} satisfies Partial<Record<string, Row[]>>;
