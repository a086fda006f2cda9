import { hidesOutput, json, OUTPUT, type Way } from './way.ts';

const FRAMES = 10;
/** Frames of text at four bytes a token, then silence: the usage never comes. */
const silent = (preamble: number) => ({
  frames: FRAMES,
  frameBytes: (OUTPUT * 4) / FRAMES,
  outputTokens: OUTPUT,
  stallAfterFrames: FRAMES + preamble,
});
const hangsUp = { hangsUpAfter: OUTPUT * 4 - 100 };
const usage = { prompt_tokens: 10, completion_tokens: OUTPUT, total_tokens: OUTPUT + 10 };

/** What a request turns out to have cost is charged, however it ends. */
export const settledWays: readonly Way[] = [
  hidesOutput('chat', `"stream":true,"max_tokens":${OUTPUT}`, {
    name: 'chat: hangs up before the usage',
    fault: silent(1),
    ...hangsUp,
  }),
  hidesOutput('responses', `"stream":true,"max_output_tokens":${OUTPUT}`, {
    name: 'responses: hangs up before the usage',
    fault: silent(4),
    ...hangsUp,
  }),
  hidesOutput('messages', `"stream":true,"max_tokens":${OUTPUT}`, {
    name: 'messages: hangs up before the usage',
    fault: silent(3),
    ...hangsUp,
  }),
  hidesOutput('chat', `"max_tokens":${OUTPUT}`, {
    name: 'chat: an error that reports usage',
    fault: { status: 500, body: json({ error: { message: 'Too late.' }, usage }) },
  }),
  hidesOutput('chat', `"max_tokens":${OUTPUT}`, { name: 'chat: no usage at all', fault: { noUsage: true } }),
  hidesOutput('chat', `"stream":true,"stream_options":{"include_usage":false},"max_tokens":${OUTPUT}`, {
    name: 'chat: a stream whose usage is declined',
  }),
];
