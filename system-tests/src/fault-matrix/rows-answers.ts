import { everyMode, type ModeName, streamModes, wholeModes } from '../harness/mode.ts';
import { type FaultRow, forModes } from './expectation.ts';

// Complete responses that are unusual: other bodies, other usage, other framing.

const answered = forModes(everyMode, { kind: 'answered' });
const estimated = { kind: 'answered', usage: { source: 'estimated' } } as const;
const unreadable = { kind: 'lost', code: 'upstream_invalid_response' } as const;
const chatStreams: readonly ModeName[] = ['chat stream', 'chat stream, usage asked'];
const generating: readonly ModeName[] = ['chat', 'responses', ...streamModes];

function answer(text: string): string {
  return Buffer.from(text).toString('base64');
}

export const rowsAnswers: readonly FaultRow[] = [
  { name: 'a page', fault: { html200: true }, expect: forModes(everyMode, unreadable) },
  { name: 'no body', fault: { emptyBody: true }, expect: forModes(everyMode, unreadable) },
  { name: '204', fault: { status: 204 }, expect: forModes(everyMode, { ...unreadable }) },
  {
    name: 'broken JSON',
    fault: { malformedJson: true },
    expect: { ...forModes(wholeModes, unreadable), ...forModes(streamModes, { kind: 'answered' }) },
  },
  { name: 'an empty object', fault: { body: {} }, expect: forModes(everyMode, estimated) },
  { name: 'the request’s own bytes', fault: { echo: true }, expect: forModes(everyMode, estimated) },
  {
    name: 'two different usages',
    fault: {
      bodyBase64: answer(
        '{"usage":{"prompt_tokens":1,"completion_tokens":2},"x":[],"usage":{"prompt_tokens":7,"completion_tokens":9}}',
      ),
    },
    expect: forModes(['chat', 'responses', 'embeddings'], {
      kind: 'answered',
      usage: { source: 'reported', input: 7, output: 9 },
    }),
  },
  // More of them in the suite `lies`. A usage frame that cannot be read reaches only a client that asked for one.
  { name: 'less than no input', fault: { claimedInput: -5 }, expect: forModes(generating, estimated) },
  { name: 'half a token of output', fault: { claimedOutput: 0.5 }, expect: forModes(generating, estimated) },
  {
    name: 'a null usage',
    fault: { bodyBase64: answer('{"object":"list","usage":null}') },
    expect: forModes(wholeModes, estimated),
  },
  {
    name: 'frames of its own, two usages',
    fault: {
      rawFrames: [
        'data: {"choices":[{"index":0,"delta":{"content":"a"}}]}\n\n',
        'data: {"choices":[],"usage":{"prompt_tokens":1,"completion_tokens":2}}\n\n',
        'data: {"choices":[],"usage":{"prompt_tokens":7,"completion_tokens":9}}\n\n',
        'data: [DONE]\n\n',
      ],
    },
    expect: forModes(chatStreams, {
      kind: 'answered',
      usage: { source: 'reported', input: 7, output: 9 },
    }),
  },
  {
    name: 'a whole body in place of a stream',
    fault: { answerAs: 'json' },
    expect: forModes(streamModes, { kind: 'answered' }),
  },
  {
    name: 'a stream in place of a whole body',
    fault: { answerAs: 'stream' },
    expect: { chat: estimated, responses: { kind: 'answered' } },
  },
  { name: '201', fault: { status: 201 }, expect: forModes(everyMode, { kind: 'answered', status: 201 }) },
  {
    name: 'another content type',
    fault: { contentType: 'text/plain' },
    expect: forModes(wholeModes, { kind: 'answered' }),
  },
  {
    name: 'a stream said to be JSON',
    fault: { contentType: 'application/json' },
    expect: forModes(streamModes, unreadable),
  },
  {
    name: 'JSON said to be a stream',
    fault: { contentType: 'text/event-stream' },
    expect: forModes(wholeModes, unreadable),
  },

  { name: 'no usage', fault: { noUsage: true }, expect: forModes([...everyMode, ...chatStreams], estimated) },
  {
    name: 'zero usage',
    fault: { zeroUsage: true },
    expect: forModes([...everyMode, ...chatStreams], {
      kind: 'answered',
      usage: { source: 'reported', input: 0, output: 0 },
    }),
  },
  {
    name: 'usage twice',
    fault: { usageTwice: true },
    expect: forModes([...everyMode, ...chatStreams], { kind: 'answered' }),
  },
  {
    name: 'usage in every frame',
    fault: { usageCumulative: true },
    expect: forModes(chatStreams, { kind: 'answered' }),
  },
  {
    name: 'usage nobody asked for',
    fault: { usageUnasked: true },
    expect: forModes(chatStreams, { kind: 'answered' }),
  },
  {
    name: 'counts of its own',
    fault: { promptTokens: 1_234, cachedTokens: 34, outputTokens: 5 },
    expect: {
      ...forModes(generating, {
        kind: 'answered',
        usage: { source: 'reported', input: 1_234, output: 5, cached: 34 },
      }),
      embeddings: { kind: 'answered', usage: { source: 'reported', input: 1_234, output: 0 } },
    },
  },
  {
    name: 'a text that was chosen',
    fault: { says: 'Rain taps on the roof.' },
    expect: forModes(generating, { kind: 'answered' }),
  },
  {
    name: 'more than was allowed',
    fault: { ignoreCap: true, outputTokens: 40 },
    expect: forModes(generating, { kind: 'answered' }),
  },

  {
    name: 'many small frames',
    fault: { frames: 40, frameBytes: 96, tag: 'matrix' },
    expect: forModes(generating, { kind: 'answered' }),
  },
  {
    name: 'a pause between frames',
    fault: { frameDelayMs: 10, outputTokens: 6 },
    expect: forModes(streamModes, { kind: 'answered' }),
  },
  {
    name: 'a byte at a time, slowly',
    fault: { dripMs: 1, frames: 1, frameBytes: 16 },
    expect: {
      chat: { kind: 'answered' },
      embeddings: { kind: 'answered' },
      'chat stream': { kind: 'answered' },
    },
  },
  { name: 'a byte at a time', fault: { oneChunkPerByte: true }, expect: answered },
  { name: 'odd pieces', fault: { splitFrames: true }, expect: answered },
  {
    name: 'many frames in one piece',
    fault: { coalesce: 8 },
    expect: forModes([...streamModes, ...chatStreams], { kind: 'answered' }),
  },
  {
    name: 'CRLF',
    fault: { crlf: true },
    expect: forModes([...streamModes, ...chatStreams], { kind: 'answered' }),
  },
  { name: 'comments', fault: { comments: true }, expect: forModes(streamModes, { kind: 'answered' }) },
  {
    name: 'CRLF in odd pieces',
    fault: { crlf: true, splitFrames: true },
    expect: forModes(streamModes, { kind: 'answered' }),
  },
  ...(['gzip', 'br', 'deflate'] as const).map((encoding) => ({
    name: encoding,
    fault: { encoding },
    requestHeaders: { 'accept-encoding': encoding },
    answerHeaders: { 'content-encoding': encoding },
    expect: answered,
  })),
  {
    name: 'rate headers of its own',
    fault: { rateLimitHeaders: true },
    answerHeaders: {
      'x-ratelimit-limit-requests': null,
      'x-ratelimit-remaining-tokens': null,
      'x-ratelimit-reset-tokens': null,
    },
    expect: answered,
  },
  {
    name: 'headers that would speak for us',
    fault: {
      headers: {
        'x-relay-selected-endpoint': 'forged',
        'x-relay-error-source': 'relay',
        'set-cookie': 'a=b',
        'x-provider-note': 'not ours',
      },
    },
    answerHeaders: { 'set-cookie': null, 'x-provider-note': null, 'x-relay-error-source': null },
    expect: answered,
  },
  { name: 'closes after the answer', fault: { connectionClose: true }, expect: answered },
  { name: 'trailers', fault: { trailers: true }, expect: answered },
];
