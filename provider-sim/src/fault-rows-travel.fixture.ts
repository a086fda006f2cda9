import assert from 'node:assert/strict';
import {
  abortAtFirstByte,
  answeredOrLeft,
  answersWhole,
  type Case,
  decoders,
  failsAfter,
  frameCount,
  inStreamError,
  isCut,
  isStream,
  jsonOf,
  type Row,
  saysSomething,
} from './fault-row.fixture.ts';
import { verifyFrames } from './indexed-frames.ts';
import type { Seen } from './raw-client.fixture.ts';
import { contentOfStream, readSse } from './read-sse.ts';
import type { RequestLogEntry } from './request-log.ts';

/** Faults in how the body travels and how it dies. */
export const travelRows = {
  frameDelayMs: [
    {
      fault: { frameDelayMs: 5, frames: 5 },
      only: isStream,
      check: (_seen, entry) => assert.ok((entry.finishedAtMs ?? 0) - entry.receivedAtMs >= 25),
    },
  ],
  dripMs: [
    {
      fault: { dripMs: 1, rawFrames: ['data: a\n\n'] },
      check: (seen) => assert.deepEqual(seen.chunks, Array(9).fill(1)),
    },
    {
      fault: { dripMs: 60_000 },
      sending: abortAtFirstByte,
      outcome: 'aborted_by_client',
      check(seen, entry) {
        assert.equal(seen.body.length, 1);
        assert.equal(entry.bytesSent, 1);
      },
    },
  ],
  oneChunkPerByte: [
    {
      fault: { oneChunkPerByte: true },
      check(seen, _entry, given) {
        saysSomething(seen, given);
        assert.ok(seen.chunks.length > seen.body.length / 4);
      },
    },
  ],
  splitFrames: [
    {
      fault: { splitFrames: true, frames: 20 },
      check(seen, _entry, given) {
        saysSomething(seen, given);
        if (given.stream) assert.equal(verifyFrames(contentOfStream(seen.text), { frames: 20 }).ok, true);
      },
    },
  ],
  coalesce: [
    {
      fault: { coalesce: 50, frames: 40 },
      only: isStream,
      check(seen) {
        assert.ok(seen.chunks.length <= 3, `came in ${seen.chunks.length} pieces`);
        assert.equal(verifyFrames(contentOfStream(seen.text), { frames: 40 }).ok, true);
      },
    },
  ],
  crlf: [
    {
      fault: { crlf: true },
      only: isStream,
      check(seen, _entry, given) {
        saysSomething(seen, given);
        assert.doesNotMatch(seen.text, /[^\r]\n/);
      },
    },
  ],
  comments: [
    {
      fault: { comments: true },
      only: isStream,
      check(seen, entry, given) {
        saysSomething(seen, given);
        assert.equal(seen.text.match(/^: keep-alive$/gm)?.length, entry.framesSent);
      },
    },
  ],
  encoding: (['gzip', 'br', 'deflate'] as const).map((encoding) => ({
    fault: { encoding },
    check(seen: Seen, _entry: RequestLogEntry, given: Case) {
      assert.equal(seen.headers['content-encoding'], encoding);
      saysSomething({ ...seen, text: decoders[encoding](seen.body).toString() }, given);
    },
  })),
  rateLimitHeaders: [
    {
      fault: { rateLimitHeaders: true },
      check(seen, _entry, { operation }) {
        if (operation === 'messages')
          assert.equal(seen.headers['anthropic-ratelimit-requests-limit'], '4000');
        else assert.equal(seen.headers['x-ratelimit-limit-requests'], '5000');
      },
    },
  ],
  hugeHeaders: [
    {
      fault: { hugeHeaders: 8192 },
      check: (seen) => assert.ok(JSON.stringify(seen.headers).length > 8000),
    },
    {
      fault: { hugeHeaders: true },
      outcome: answeredOrLeft,
      check: (seen) => assert.equal(seen.error, 'HPE_HEADER_OVERFLOW'),
    },
  ],
  wrongContentLength: [{ fault: { wrongContentLength: true }, outcome: 'cut', check: isCut }],
  connectionClose: [
    {
      fault: { connectionClose: true },
      check: (seen) => assert.equal(seen.headers['connection'], 'close'),
    },
  ],
  trailers: [
    {
      fault: { trailers: true },
      check(seen, _entry, given) {
        saysSomething(seen, given);
        assert.deepEqual(seen.trailers, { 'x-sim-trailer': 'the-end' });
      },
    },
  ],
  cutAfterBytes: [0, 1, 100].map((cutAfterBytes) => ({
    fault: { cutAfterBytes },
    outcome: 'cut' as const,
    check(seen: Seen, entry: RequestLogEntry) {
      isCut(seen);
      assert.equal(seen.status, 200);
      assert.equal(seen.body.length, cutAfterBytes);
      assert.equal(entry.bytesSent, cutAfterBytes);
    },
  })),
  cutAfterFrames: [
    {
      fault: { cutAfterFrames: 3 },
      outcome: 'cut',
      check(seen, entry, given) {
        isCut(seen);
        if (given.stream) assert.equal(frameCount(seen), 3);
        else assert.throws(() => jsonOf(seen.text));
        assert.ok(entry.promptTokens > 0);
        if (given.stream) assert.equal(entry.completionTokens, given.operation === 'chat' ? 2 : 0);
      },
    },
  ],
  cutMidFrame: [
    {
      fault: { cutMidFrame: true, cutAfterFrames: 6 },
      outcome: 'cut',
      check(seen, entry, given) {
        isCut(seen);
        if (!given.stream) return;
        assert.equal(entry.framesSent, 6);
        assert.doesNotMatch(seen.text, /\n\n$/);
      },
    },
  ],
  resetOnCut: [
    {
      fault: { cutAfterFrames: 2, resetOnCut: true },
      outcome: 'cut',
      check: (seen) => assert.equal(seen.error, 'ECONNRESET'),
    },
  ],
  endAfterFrames: [
    {
      fault: { endAfterFrames: 3 },
      outcome: 'ended_early',
      check(seen, _entry, given) {
        answersWhole(seen);
        if (given.stream) assert.equal(frameCount(seen), 3);
        else assert.throws(() => jsonOf(seen.text));
        assert.equal(seen.text.includes('[DONE]'), false);
      },
    },
  ],
  stallAfterFrames: [0, 2].map((stallAfterFrames) => ({
    fault: { stallAfterFrames },
    sending: (given: Case) => ({
      abortWhen: (text: string) =>
        stallAfterFrames === 0 || (given.stream ? readSse(text).length === stallAfterFrames : text !== ''),
    }),
    outcome: 'aborted_by_client' as const,
    check(seen: Seen, entry: RequestLogEntry, given: Case) {
      assert.equal(seen.status, 200);
      isCut(seen);
      if (given.stream) assert.equal(frameCount(seen), stallAfterFrames);
      assert.ok(entry.abortedAtMs !== null && entry.abortedMonotonicMs !== null);
    },
  })),
  errorAfterCreated: [
    { fault: { errorAfterCreated: true }, outcome: inStreamError, check: failsAfter(() => 1) },
  ],
  errorBeforeContent: [
    {
      fault: { errorBeforeContent: true, preambleFrames: 2 },
      outcome: inStreamError,
      check: failsAfter(
        ({ operation }) => ({ chat: 3, messages: 5, responses: 6, embeddings: 0 })[operation],
      ),
    },
  ],
  errorAfterFrames: [
    { fault: { errorAfterFrames: 0 }, outcome: inStreamError, check: failsAfter(() => 0) },
    { fault: { errorAfterFrames: 6 }, outcome: inStreamError, check: failsAfter(() => 6) },
  ],
  responseFailed: [
    {
      fault: { responseFailed: true, errorAfterFrames: 6 },
      outcome: 'error_in_stream',
      only: (given) => given.operation === 'responses' && given.stream,
      check: (seen) => assert.equal(readSse(seen.text).at(-1)?.event, 'response.failed'),
    },
  ],
} satisfies Partial<Record<string, Row[]>>;
