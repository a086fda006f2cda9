import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createTally } from './counts.ts';
import type { Outcome, RequestLogEntry } from './request-log.ts';

function entry(outcome: Outcome): RequestLogEntry {
  return {
    id: 1,
    receivedAtMs: 0,
    receivedMonotonicMs: 0,
    key: 'k',
    method: 'POST',
    path: '/v1/chat/completions',
    query: '',
    model: 'm',
    stream: false,
    rawHeaders: [],
    body: null,
    bodyBytes: 0,
    bodySha256: null,
    unknownFields: [],
    violations: [],
    fault: null,
    status: 200,
    framesSent: 0,
    bytesSent: 0,
    outcome,
    finishedAtMs: null,
    abortedAtMs: null,
    abortedMonotonicMs: null,
    promptTokens: 3,
    completionTokens: 4,
    writtenTokens: 4,
    reportedUsage: { promptTokens: 5, completionTokens: 6 },
  };
}

test('an answer whose client left after it was written counts once, as left', () => {
  const tally = createTally();
  const written = entry('completed');
  tally.received(written);
  tally.finished(written);
  assert.deepEqual([tally.of().completed, tally.of().abortedByClient], [1, 0]);
  tally.amended({ ...written, outcome: 'aborted_by_client' }, 'completed');
  assert.deepEqual([tally.of().completed, tally.of().abortedByClient, tally.of().requests], [0, 1, 1]);
});

test('what a provider counts and what it reports are summed apart, for each key', () => {
  const tally = createTally();
  tally.finished(entry('completed'));
  const { completionTokens, reportedPromptTokens, reportedCompletionTokens } = tally.of('k');
  assert.deepEqual([completionTokens, reportedPromptTokens, reportedCompletionTokens], [4, 5, 6]);
  assert.equal(tally.of('other').completionTokens, 0);
});
