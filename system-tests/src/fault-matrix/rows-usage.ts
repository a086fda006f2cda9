import { everyMode, type ModeName, streamModes, wholeModes } from '../harness/mode.ts';
import { type ExpectedUsage, type FaultRow, forModes, row } from './expectation.ts';

// Whatever a provider reports of its usage, the client gets its answer and the row has counts that can be added up.

const HUGE = Number.MAX_SAFE_INTEGER;
const chatStreams: readonly ModeName[] = ['chat stream', 'chat stream, usage asked'];
const generating: readonly ModeName[] = ['chat', 'responses', ...streamModes];

function counted(names: readonly ModeName[], usage: ExpectedUsage): FaultRow['expect'] {
  return forModes(names, { kind: 'answered', usage });
}

const reported = (input: number, output: number) => ({ source: 'reported', input, output }) as const;
const truth = { source: 'provider' } as const;
/** A count that is none is as if it were absent. */
const estimated = { source: 'estimated' } as const;
const bounded = { source: 'bounded' } as const;

function answer(text: string): string {
  return Buffer.from(text).toString('base64');
}

export const rowsUsage: readonly FaultRow[] = [
  row('true usage', {}, counted([...everyMode, ...chatStreams], truth)),
  row('too much', { claimedInput: 5_000, claimedOutput: 7_000 }, counted(generating, reported(5_000, 7_000))),
  row('too little', { claimedInput: 1, claimedOutput: 0 }, counted(generating, reported(1, 0))),
  row('less than no input', { claimedInput: -5 }, counted(generating, estimated)),
  row('a token and a half of input', { claimedInput: 1.5 }, counted(generating, estimated)),
  row('half a token of output', { claimedOutput: 0.5 }, counted(generating, estimated)),
  row('input beyond 2^53', { claimedInput: 1e300 }, counted(generating, bounded)),
  row('huge usage', { claimedInput: HUGE, claimedOutput: HUGE }, counted(generating, bounded)),
  row('huge output', { claimedOutput: HUGE }, counted(generating, bounded)),
  row('no usage', { noUsage: true }, counted([...everyMode, ...chatStreams], estimated)),
  row('zero usage', { zeroUsage: true }, counted([...everyMode, ...chatStreams], reported(0, 0))),
  row(
    'a null usage',
    { bodyBase64: answer('{"object":"list","usage":null}') },
    counted(wholeModes, estimated),
  ),
  row('usage twice', { usageTwice: true }, counted([...everyMode, ...chatStreams], truth)),
  row(
    'two different usages',
    {
      bodyBase64: answer(
        '{"usage":{"prompt_tokens":1,"completion_tokens":2},"x":[],"usage":{"prompt_tokens":7,"completion_tokens":9}}',
      ),
    },
    counted(['chat', 'responses', 'embeddings'], reported(7, 9)),
  ),
  row(
    'frames of its own, two usages',
    {
      rawFrames: [
        'data: {"choices":[{"index":0,"delta":{"content":"a"}}]}\n\n',
        'data: {"choices":[],"usage":{"prompt_tokens":1,"completion_tokens":2}}\n\n',
        'data: {"choices":[],"usage":{"prompt_tokens":7,"completion_tokens":9}}\n\n',
        'data: [DONE]\n\n',
      ],
    },
    counted(chatStreams, reported(7, 9)),
  ),
  row('usage in every frame', { usageCumulative: true }, counted(chatStreams, truth)),
  row('usage nobody asked for', { usageUnasked: true }, counted(chatStreams, truth)),
  row(
    'counts of its own',
    { promptTokens: 1_234, cachedTokens: 34, outputTokens: 5 },
    {
      ...counted(generating, { ...reported(1_234, 5), cached: 34 }),
      embeddings: { kind: 'answered', usage: reported(1_234, 0) },
    },
  ),
  // A frame of preamble and eight of content, of 500 tokens each by their bytes.
  row(
    'large frames, cut before the usage',
    { frames: 10, frameBytes: 2_000, cutAfterFrames: 9 },
    {
      'chat stream': {
        kind: 'interrupted',
        code: 'upstream_invalid_response',
        usage: { source: 'estimated', outputMin: 8 * 300, outputMax: 8 * 600 },
      },
    },
  ),
];
