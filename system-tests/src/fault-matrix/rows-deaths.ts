import { everyMode, streamModes, wholeModes } from '../harness/mode.ts';
import { type Expectation, type FaultRow, forModes, type LostCode, row } from './expectation.ts';
import { QUOTED_KEY } from './quotes.ts';

// Answers that begin and do not end as they should. A chat stream opens with one frame of preamble, a
// responses stream with four, a messages stream with three; whole answers are cut in their middle.

const CUT = 'upstream_invalid_response';

function lost(code: LostCode): Expectation {
  return { kind: 'lost', code, attemptStatus: 200 };
}

function interrupted(code: string): Expectation {
  return { kind: 'interrupted', code };
}

/** After content in every protocol: past the preamble of each, and before the end of the shortest answer. */
const INTO_CONTENT = 7;

export const rowsDeaths: readonly FaultRow[] = [
  row('cut after ten bytes', { cutAfterBytes: 10 }, forModes(everyMode, lost(CUT))),
  row('reset after ten bytes', { cutAfterBytes: 10, resetOnCut: true }, forModes(everyMode, lost(CUT))),
  row('cut after the head', { cutAfterFrames: 0 }, forModes(everyMode, lost(CUT))),
  row('cut in the preamble', { cutAfterFrames: 1 }, forModes(everyMode, lost(CUT))),
  row(
    'cut in the middle of a preamble frame',
    { cutAfterFrames: 0, cutMidFrame: true },
    forModes(everyMode, lost(CUT)),
  ),
  row(
    'too short for its length',
    { wrongContentLength: true },
    { ...forModes(wholeModes, lost(CUT)), ...forModes(streamModes, { kind: 'answered' }) },
  ),
  row('cut after content', { cutAfterFrames: INTO_CONTENT }, forModes(streamModes, interrupted(CUT))),
  row(
    'reset after content',
    { cutAfterFrames: INTO_CONTENT, resetOnCut: true, frameDelayMs: 5 },
    forModes(streamModes, interrupted(CUT)),
  ),
  row(
    'cut in the middle of a content frame',
    { cutAfterFrames: INTO_CONTENT, cutMidFrame: true },
    forModes(streamModes, interrupted(CUT)),
  ),
  row(
    'cut after content, usage in every frame',
    { cutAfterFrames: INTO_CONTENT, usageCumulative: true, promptTokens: 50 },
    {
      'chat stream': {
        kind: 'interrupted',
        code: CUT,
        usage: { source: 'reported', input: 50, output: INTO_CONTENT - 1 },
      },
    },
  ),
  // One preamble frame, five of content, finish, usage and terminator.
  row('cut after its end', { outputTokens: 5, cutAfterFrames: 9 }, { 'chat stream': { kind: 'answered' } }),
  // Four events of preamble, five of content, three that close what was opened, and the end.
  row(
    'cut after its end',
    { outputTokens: 5, cutAfterFrames: 13 },
    { 'responses stream': { kind: 'answered' } },
  ),
  // Three events of preamble, five of content, the end of the block, usage and the end.
  row(
    'cut after its end',
    { outputTokens: 5, cutAfterFrames: 11 },
    { 'messages stream': { kind: 'answered' } },
  ),
  row(
    'compressed and cut after content',
    { cutAfterFrames: INTO_CONTENT, encoding: 'gzip', frameDelayMs: 5 },
    forModes(streamModes, { kind: 'broken', code: CUT }),
  ),

  row('ends after the head', { endAfterFrames: 0 }, forModes(everyMode, lost(CUT))),
  row('ends in the preamble', { endAfterFrames: 1 }, forModes(everyMode, lost(CUT))),
  row(
    'ends after content',
    { endAfterFrames: INTO_CONTENT },
    forModes(streamModes, interrupted('ended_early')),
  ),
  row(
    'ends in the middle of a frame',
    {
      rawFrames: ['data: {"choices":[{"index":0,"delta":{"content":"a"}}]}\n\n', 'data: {"choices":[{"ind'],
    },
    { 'chat stream': interrupted('ended_early') },
  ),

  row('silent after the head', { stallAfterFrames: 0 }, forModes(everyMode, lost('upstream_timeout'))),
  row('silent in the preamble', { stallAfterFrames: 1 }, forModes(everyMode, lost('upstream_timeout'))),
  row(
    'silent after content',
    { stallAfterFrames: INTO_CONTENT },
    forModes(streamModes, interrupted('upstream_timeout')),
  ),
  row(
    'silent after its end',
    { outputTokens: 5, stallAfterFrames: 9 },
    { 'chat stream': { kind: 'answered' } },
  ),
  row(
    'silent after its end',
    { outputTokens: 5, stallAfterFrames: 13 },
    { 'responses stream': { kind: 'answered' } },
  ),
  row(
    'longer than the endpoint may take, before content',
    { preambleFrames: 40, frameDelayMs: 100 },
    {
      ...forModes(streamModes, lost('upstream_timeout')),
      // Its pings end the hold.
      'messages stream': {
        kind: 'interrupted',
        code: 'upstream_timeout',
        usage: { source: 'estimated', outputMin: 0 },
      },
    },
    { bench: 'hurried' },
  ),
  row(
    'longer than the endpoint may take, after content',
    { frames: 60, frameDelayMs: 50 },
    forModes(streamModes, interrupted('upstream_timeout')),
    { bench: 'hurried' },
  ),

  row(
    'an error after the first frame',
    { errorAfterCreated: true },
    {
      ...forModes(wholeModes, { kind: 'refused', status: 500 }),
      ...forModes(streamModes, { kind: 'refused stream' }),
    },
  ),
  row(
    'an error before content',
    { errorBeforeContent: true },
    {
      ...forModes(wholeModes, { kind: 'refused', status: 500 }),
      ...forModes(streamModes, { kind: 'refused stream' }),
    },
  ),
  row(
    'an error after a long preamble',
    { errorBeforeContent: true, preambleFrames: 40 },
    // In Messages these are pings, which end a hold when they take long.
    forModes(['chat stream', 'responses stream'], { kind: 'refused stream' }),
  ),
  row(
    'an error after a preamble too long to hold',
    { errorBeforeContent: true, preambleFrames: 100 },
    forModes(streamModes, { kind: 'errored stream' }),
  ),
  row(
    'an error that shows the key, before content',
    { rawFrames: [`data: {"error":{"message":"Key ${QUOTED_KEY}","type":"x"}}\n\n`] },
    { 'chat stream': { kind: 'refused stream' } },
  ),
  row(
    'a response that failed before content',
    { errorBeforeContent: true, responseFailed: true },
    { 'responses stream': { kind: 'refused stream' } },
  ),
  row('a preamble too long to hold', { preambleFrames: 100 }, forModes(streamModes, { kind: 'answered' })),
  row(
    'an error after content',
    { errorAfterFrames: INTO_CONTENT },
    {
      ...forModes(wholeModes, { kind: 'refused', status: 500 }),
      ...forModes(streamModes, { kind: 'errored stream' }),
    },
  ),
  row(
    'an error after content, then silence',
    {
      rawFrames: [
        'data: {"choices":[{"index":0,"delta":{"content":"a"}}]}\n\n',
        'data: {"error":{"message":"It failed.","type":"server_error"}}\n\n',
      ],
      stallAfterFrames: 2,
    },
    { 'chat stream': { kind: 'errored stream' } },
  ),
  row(
    'a response that failed after content',
    { errorAfterFrames: INTO_CONTENT, responseFailed: true },
    { 'responses stream': { kind: 'errored stream' } },
  ),
];
