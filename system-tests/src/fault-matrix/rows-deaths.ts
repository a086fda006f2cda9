import { everyMode, streamModes, wholeModes } from '../harness/mode.ts';
import { type Expectation, type FaultRow, forModes, type LostCode } from './expectation.ts';

// Answers that begin and do not end as they should. A chat stream opens with one frame of preamble, a
// responses stream with four, a messages stream with three; whole answers are cut in their middle.

const CUT = 'upstream_invalid_response';

function lost(code: LostCode): Expectation {
  return { kind: 'lost', code };
}

function interrupted(code: string): Expectation {
  return { kind: 'interrupted', code };
}

/** After content in every protocol: past the preamble of each, and before the end of the shortest answer. */
const INTO_CONTENT = 7;

export const rowsDeaths: readonly FaultRow[] = [
  {
    name: 'cut after ten bytes',
    fault: { cutAfterBytes: 10 },
    expect: forModes(everyMode, lost(CUT)),
  },
  {
    name: 'reset after ten bytes',
    fault: { cutAfterBytes: 10, resetOnCut: true },
    expect: forModes(everyMode, lost(CUT)),
  },
  { name: 'cut after the head', fault: { cutAfterFrames: 0 }, expect: forModes(everyMode, lost(CUT)) },
  {
    name: 'cut in the preamble',
    fault: { cutAfterFrames: 1 },
    expect: forModes(everyMode, lost(CUT)),
  },
  {
    name: 'cut in the middle of a preamble frame',
    fault: { cutAfterFrames: 0, cutMidFrame: true },
    expect: forModes(everyMode, lost(CUT)),
  },
  {
    name: 'too short for its length',
    fault: { wrongContentLength: true },
    expect: { ...forModes(wholeModes, lost(CUT)), ...forModes(streamModes, { kind: 'answered' }) },
  },
  {
    name: 'cut after content',
    fault: { cutAfterFrames: INTO_CONTENT },
    expect: forModes(streamModes, interrupted(CUT)),
  },
  {
    name: 'reset after content',
    fault: { cutAfterFrames: INTO_CONTENT, resetOnCut: true, frameDelayMs: 5 },
    expect: forModes(streamModes, interrupted(CUT)),
  },
  {
    name: 'cut in the middle of a content frame',
    fault: { cutAfterFrames: INTO_CONTENT, cutMidFrame: true },
    expect: forModes(streamModes, interrupted(CUT)),
  },
  {
    name: 'cut after content, usage in every frame',
    fault: { cutAfterFrames: INTO_CONTENT, usageCumulative: true, promptTokens: 50 },
    expect: {
      'chat stream': {
        kind: 'interrupted',
        code: CUT,
        usage: { source: 'reported', input: 50, output: INTO_CONTENT - 1 },
      },
    },
  },
  {
    name: 'cut after its end',
    // One preamble frame, five of content, finish, usage and terminator.
    fault: { outputTokens: 5, cutAfterFrames: 9 },
    expect: { 'chat stream': { kind: 'answered' } },
  },
  {
    name: 'cut after its end',
    // Four events of preamble, five of content, three that close what was opened, and the end.
    fault: { outputTokens: 5, cutAfterFrames: 13 },
    expect: { 'responses stream': { kind: 'answered' } },
  },
  {
    name: 'cut after its end',
    // Three events of preamble, five of content, the end of the block, usage and the end.
    fault: { outputTokens: 5, cutAfterFrames: 11 },
    expect: { 'messages stream': { kind: 'answered' } },
  },
  {
    name: 'compressed and cut after content',
    fault: { cutAfterFrames: INTO_CONTENT, encoding: 'gzip', frameDelayMs: 5 },
    expect: forModes(streamModes, { kind: 'broken', code: CUT }),
  },

  { name: 'ends after the head', fault: { endAfterFrames: 0 }, expect: forModes(everyMode, lost(CUT)) },
  { name: 'ends in the preamble', fault: { endAfterFrames: 1 }, expect: forModes(everyMode, lost(CUT)) },
  {
    name: 'ends after content',
    fault: { endAfterFrames: INTO_CONTENT },
    expect: forModes(streamModes, interrupted('ended_early')),
  },
  {
    name: 'ends in the middle of a frame',
    fault: {
      rawFrames: ['data: {"choices":[{"index":0,"delta":{"content":"a"}}]}\n\n', 'data: {"choices":[{"ind'],
    },
    expect: { 'chat stream': interrupted('ended_early') },
  },

  {
    name: 'silent after the head',
    fault: { stallAfterFrames: 0 },
    expect: forModes(everyMode, lost('upstream_timeout')),
  },
  {
    name: 'silent in the preamble',
    fault: { stallAfterFrames: 1 },
    expect: forModes(everyMode, lost('upstream_timeout')),
  },
  {
    name: 'silent after content',
    fault: { stallAfterFrames: INTO_CONTENT },
    expect: forModes(streamModes, interrupted('upstream_timeout')),
  },
  {
    name: 'silent after its end',
    fault: { outputTokens: 5, stallAfterFrames: 9 },
    expect: { 'chat stream': { kind: 'answered' } },
  },
  {
    name: 'silent after its end',
    fault: { outputTokens: 5, stallAfterFrames: 13 },
    expect: { 'responses stream': { kind: 'answered' } },
  },
  {
    name: 'longer than the endpoint may take, before content',
    bench: 'hurried',
    fault: { preambleFrames: 40, frameDelayMs: 100 },
    expect: forModes(streamModes, lost('upstream_timeout')),
  },
  {
    name: 'longer than the endpoint may take, after content',
    bench: 'hurried',
    fault: { frames: 60, frameDelayMs: 50 },
    expect: forModes(streamModes, interrupted('upstream_timeout')),
  },

  {
    name: 'an error after the first frame',
    fault: { errorAfterCreated: true },
    expect: {
      ...forModes(wholeModes, { kind: 'refused', status: 500 }),
      ...forModes(streamModes, { kind: 'refused stream' }),
    },
  },
  {
    name: 'an error before content',
    fault: { errorBeforeContent: true },
    expect: {
      ...forModes(wholeModes, { kind: 'refused', status: 500 }),
      ...forModes(streamModes, { kind: 'refused stream' }),
    },
  },
  {
    name: 'an error after a long preamble',
    fault: { errorBeforeContent: true, preambleFrames: 40 },
    expect: forModes(streamModes, { kind: 'refused stream' }),
  },
  {
    name: 'an error after a preamble too long to hold',
    fault: { errorBeforeContent: true, preambleFrames: 100 },
    expect: forModes(streamModes, { kind: 'errored stream' }),
  },
  {
    name: 'a response that failed before content',
    fault: { errorBeforeContent: true, responseFailed: true },
    expect: { 'responses stream': { kind: 'refused stream' } },
  },
  {
    name: 'a preamble too long to hold',
    fault: { preambleFrames: 100 },
    expect: forModes(streamModes, { kind: 'answered' }),
  },
  {
    name: 'an error after content',
    fault: { errorAfterFrames: INTO_CONTENT },
    expect: {
      ...forModes(wholeModes, { kind: 'refused', status: 500 }),
      ...forModes(streamModes, { kind: 'errored stream' }),
    },
  },
  {
    name: 'an error after content, then silence',
    fault: {
      rawFrames: [
        'data: {"choices":[{"index":0,"delta":{"content":"a"}}]}\n\n',
        'data: {"error":{"message":"It failed.","type":"server_error"}}\n\n',
      ],
      stallAfterFrames: 2,
    },
    expect: { 'chat stream': { kind: 'errored stream' } },
  },
  {
    name: 'a response that failed after content',
    fault: { errorAfterFrames: INTO_CONTENT, responseFailed: true },
    expect: { 'responses stream': { kind: 'errored stream' } },
  },
];
