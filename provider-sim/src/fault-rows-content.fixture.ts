import assert from 'node:assert/strict';
import { answersWhole, isStream, type Row } from './fault-row.fixture.ts';
import { verifyFrames } from './indexed-frames.ts';
import { contentOfStream, readSse } from './read-sse.ts';

/** Faults in what is said and in what is counted. */
export const contentRows = {
  noUsage: [
    {
      fault: { noUsage: true },
      check(seen, entry) {
        answersWhole(seen);
        assert.doesNotMatch(seen.text, /"usage":\{/);
        assert.equal(entry.reportedUsage, null);
        assert.ok(entry.promptTokens > 0);
      },
    },
  ],
  zeroUsage: [
    {
      fault: { zeroUsage: true },
      check(seen, entry) {
        assert.match(seen.text, /"(total|output)_tokens":0/);
        assert.deepEqual(entry.reportedUsage, { promptTokens: 0, completionTokens: 0 });
        assert.ok(entry.promptTokens > 0);
      },
    },
  ],
  usageTwice: [
    {
      fault: { usageTwice: true },
      check(seen, _entry, { operation, stream }) {
        // The first frame of a messages stream has usage, too.
        const times = operation === 'messages' && stream ? 3 : 2;
        assert.equal(seen.text.match(/"usage":\{/g)?.length, times);
      },
    },
  ],
  usageCumulative: [
    {
      fault: { usageCumulative: true, outputTokens: 4 },
      only: (given) => given.operation === 'chat' && given.stream,
      check: (seen) =>
        assert.deepEqual(
          [...seen.text.matchAll(/"completion_tokens":(\d+)/g)].map((match) => Number(match[1])),
          [0, 1, 2, 3, 4, 4, 4],
        ),
    },
  ],
  usageUnasked: [
    {
      fault: { usageUnasked: true },
      extra: { stream_options: undefined },
      only: (given) => given.operation === 'chat' && given.stream,
      check: (seen) => assert.match(seen.text, /"choices":\[\],"usage":\{/),
    },
  ],
  claimedInput: [
    {
      fault: { claimedInput: -5.5 },
      check(seen, entry) {
        assert.match(seen.text, /"(prompt|input)_tokens":-5\.5/);
        assert.equal(entry.reportedUsage?.promptTokens, -5.5);
        assert.ok(entry.promptTokens > 0);
      },
    },
  ],
  claimedOutput: [
    {
      fault: { claimedOutput: Number.MAX_SAFE_INTEGER },
      only: (given) => given.operation !== 'embeddings',
      check(seen, entry) {
        assert.match(seen.text, /"(completion|output)_tokens":9007199254740991/);
        assert.ok(entry.completionTokens < 1_000);
      },
    },
  ],
  promptTokens: [
    {
      fault: { promptTokens: 1234 },
      check(seen, entry) {
        assert.match(seen.text, /"(prompt|input)_tokens":1234/);
        assert.equal(entry.promptTokens, 1234);
      },
    },
  ],
  cachedTokens: [
    {
      fault: { promptTokens: 50, cachedTokens: 40 },
      only: (given) => given.operation !== 'embeddings',
      check: (seen) => assert.match(seen.text, /"(cached|cache_read_input)_tokens":40/),
    },
  ],
  says: [
    {
      fault: { says: 'Rain taps on the roof.' },
      only: ({ operation }) => operation !== 'embeddings',
      check(seen, entry) {
        for (const word of ['Rain', 'taps', 'roof.']) assert.ok(seen.text.includes(word), word);
        assert.equal(entry.completionTokens, 5);
      },
    },
  ],
  outputTokens: [
    {
      fault: { outputTokens: 33 },
      only: (given) => given.operation !== 'embeddings',
      check(seen, entry) {
        assert.match(seen.text, /"(completion|output)_tokens":33/);
        assert.equal(entry.completionTokens, 33);
        assert.equal(entry.writtenTokens, 33);
      },
    },
  ],
  ignoreCap: [
    {
      fault: { outputTokens: 40, ignoreCap: true },
      extra: { max_tokens: 20 },
      only: (given) => given.operation === 'chat',
      check: (_seen, entry) => assert.equal(entry.completionTokens, 40),
    },
  ],
  frames: [
    {
      fault: { frames: 50 },
      only: isStream,
      check: (seen) => assert.equal(verifyFrames(contentOfStream(seen.text), { frames: 50 }).ok, true),
    },
  ],
  frameBytes: [
    {
      fault: { frames: 3, frameBytes: 200 },
      only: isStream,
      check: (seen) => assert.equal(Buffer.byteLength(contentOfStream(seen.text)), 600),
    },
  ],
  tag: [
    {
      fault: { frames: 3, tag: 'stream-7' },
      only: isStream,
      check: (seen) => assert.equal(verifyFrames(contentOfStream(seen.text), { tag: 'stream-7' }).ok, true),
    },
  ],
  preambleFrames: [
    {
      fault: { preambleFrames: 70, outputTokens: 1 },
      only: isStream,
      check(seen) {
        const first = readSse(seen.text).findIndex(({ data }) =>
          /"content":"[^"]|output_text.delta|text_delta/.test(data),
        );
        assert.ok(first >= 71);
      },
    },
  ],
} satisfies Partial<Record<string, Row[]>>;
