import { everyMode, type ModeName, streamModes, wholeModes } from '../harness/mode.ts';
import { type FaultRow, forModes, row } from './expectation.ts';

// Complete responses that are unusual: other bodies, other framing.

const answered = forModes(everyMode, { kind: 'answered' });
const estimated = { kind: 'answered', usage: { source: 'estimated' } } as const;
const unreadable = { kind: 'lost', code: 'upstream_invalid_response', attemptStatus: 200 } as const;
const chatStreams: readonly ModeName[] = ['chat stream', 'chat stream, usage asked'];
const generating: readonly ModeName[] = ['chat', 'responses', ...streamModes];

export const rowsAnswers: readonly FaultRow[] = [
  row('a page', { html200: true }, forModes(everyMode, unreadable)),
  row('no body', { emptyBody: true }, forModes(everyMode, unreadable)),
  row('204', { status: 204 }, forModes(everyMode, { ...unreadable, attemptStatus: 204 })),
  row(
    'broken JSON',
    { malformedJson: true },
    {
      ...forModes(wholeModes, unreadable),
      ...forModes(streamModes, { kind: 'errored stream', code: 'upstream_invalid_response' }),
    },
  ),
  row(
    'nothing but an error',
    { body: { error: { message: 'Provider returned error', type: 'server_error' } } },
    forModes(everyMode, { kind: 'reported error', status: 502 }),
  ),
  row(
    'nothing but an error with its status',
    { body: { error: { message: 'Slow down', code: 429 } } },
    forModes(everyMode, { kind: 'reported error', status: 429 }),
  ),
  row('an empty object', { body: {} }, forModes(everyMode, estimated)),
  row('the request’s own bytes', { echo: true }, forModes(everyMode, estimated)),
  row('a whole body in place of a stream', { answerAs: 'json' }, forModes(streamModes, { kind: 'answered' })),
  row(
    'a stream in place of a whole body',
    { answerAs: 'stream' },
    { chat: estimated, responses: { kind: 'answered' } },
  ),
  row('201', { status: 201 }, forModes(everyMode, { kind: 'answered', status: 201 })),
  row('another content type', { contentType: 'text/plain' }, forModes(wholeModes, { kind: 'answered' })),
  row('a stream said to be JSON', { contentType: 'application/json' }, forModes(streamModes, unreadable)),
  row('JSON said to be a stream', { contentType: 'text/event-stream' }, forModes(wholeModes, unreadable)),

  row(
    'a text that was chosen',
    { says: 'Rain taps on the roof.' },
    forModes(generating, { kind: 'answered' }),
  ),
  row(
    'more than was allowed',
    { ignoreCap: true, outputTokens: 40 },
    forModes(generating, { kind: 'answered' }),
  ),

  row(
    'many small frames',
    { frames: 40, frameBytes: 96, tag: 'matrix' },
    forModes(generating, { kind: 'answered' }),
  ),
  row(
    'a pause between frames',
    { frameDelayMs: 10, outputTokens: 6 },
    forModes(streamModes, { kind: 'answered' }),
  ),
  row(
    'a byte at a time, slowly',
    { dripMs: 1, frames: 1, frameBytes: 16 },
    {
      chat: { kind: 'answered' },
      embeddings: { kind: 'answered' },
      'chat stream': { kind: 'answered' },
    },
  ),
  row('a byte at a time', { oneChunkPerByte: true, outputTokens: 4 }, answered),
  row('odd pieces', { splitFrames: true }, answered),
  row(
    'many frames in one piece',
    { coalesce: 8 },
    forModes([...streamModes, ...chatStreams], { kind: 'answered' }),
  ),
  row('CRLF', { crlf: true }, forModes([...streamModes, ...chatStreams], { kind: 'answered' })),
  row('comments', { comments: true }, forModes(streamModes, { kind: 'answered' })),
  row('CRLF in odd pieces', { crlf: true, splitFrames: true }, forModes(streamModes, { kind: 'answered' })),
  ...(['gzip', 'br', 'deflate'] as const).map((encoding) => ({
    name: encoding,
    fault: { encoding },
    requestHeaders: { 'accept-encoding': encoding },
    answerHeaders: { 'content-encoding': encoding },
    expect: answered,
  })),
  row('rate headers of its own', { rateLimitHeaders: true }, answered, {
    answerHeaders: {
      'x-ratelimit-limit-requests': null,
      'x-ratelimit-remaining-tokens': null,
      'x-ratelimit-reset-tokens': null,
    },
  }),
  row(
    'headers that would speak for us',
    {
      headers: {
        'x-relay-selected-endpoint': 'forged',
        'x-relay-error-source': 'relay',
        'set-cookie': 'a=b',
        'x-provider-note': 'not ours',
      },
    },
    answered,
    { answerHeaders: { 'set-cookie': null, 'x-provider-note': null, 'x-relay-error-source': null } },
  ),
  row('closes after the answer', { connectionClose: true }, answered),
  row('trailers', { trailers: true }, answered),
];
