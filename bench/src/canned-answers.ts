/** Frames of a stream, with those that open and close it. */
export const STREAM_FRAMES = 200;

const ANSWER_BYTES = 1_024;
const USAGE = { prompt_tokens: 210, completion_tokens: 180, total_tokens: 390 };

/** A chat answer of one kilobyte with its usage. */
export function wholeAnswer(): Buffer {
  const answerWith = (content: string) =>
    Buffer.from(
      JSON.stringify({
        id: 'chatcmpl-0123456789',
        object: 'chat.completion',
        created: 1_760_000_000,
        model: 'upstream-model',
        choices: [
          { index: 0, message: { role: 'assistant', content, refusal: null }, finish_reason: 'stop' },
        ],
        usage: { ...USAGE, prompt_tokens_details: { cached_tokens: 0, audio_tokens: 0 } },
        system_fingerprint: 'fp_0123456789',
      }),
    );
  const words = 'The lane chooses the first candidate whose wait fits the budget. '.repeat(20);
  return answerWith(words.slice(0, ANSWER_BYTES - answerWith('').length));
}

/** The same words as Messages. */
export function messagesFrames(count: number): Buffer[] {
  const frame = (type: string, members: object = {}) =>
    Buffer.from(`event: ${type}\ndata: ${JSON.stringify({ type, ...members })}\n\n`);
  const delta = (text: string) =>
    frame('content_block_delta', { index: 0, delta: { type: 'text_delta', text } });
  return [
    frame('message_start', {
      message: {
        id: 'msg_0123456789',
        type: 'message',
        role: 'assistant',
        model: 'upstream-model',
        content: [],
        stop_reason: null,
        stop_sequence: null,
        usage: { input_tokens: USAGE.prompt_tokens, output_tokens: 1 },
      },
    }),
    frame('content_block_start', { index: 0, content_block: { type: 'text', text: '' } }),
    ...Array.from({ length: count - 5 }, (_, index) => delta(` word${index}`)),
    frame('content_block_stop', { index: 0 }),
    frame('message_delta', {
      delta: { stop_reason: 'end_turn', stop_sequence: null },
      usage: { output_tokens: USAGE.completion_tokens },
    }),
    frame('message_stop'),
  ];
}

/** As many frames as the client sees; with `metered`, one more before the last that tells the usage. */
export function streamFrames(metered: boolean, count = STREAM_FRAMES): Buffer[] {
  const frame = (choices: unknown[], usage?: unknown) =>
    Buffer.from(
      `data: ${JSON.stringify({
        id: 'chatcmpl-0123456789',
        object: 'chat.completion.chunk',
        created: 1_760_000_000,
        model: 'upstream-model',
        system_fingerprint: 'fp_0123456789',
        choices,
        ...(usage === undefined ? {} : { usage }),
      })}\n\n`,
    );
  const delta = (fields: unknown, finishReason: string | null = null) => [
    { index: 0, delta: fields, logprobs: null, finish_reason: finishReason },
  ];
  const frames = [frame(delta({ role: 'assistant', content: '' }))];
  for (let index = 0; index < count - 3; index += 1) frames.push(frame(delta({ content: ` word${index}` })));
  frames.push(frame(delta({}, 'stop')));
  if (metered) frames.push(frame([], USAGE));
  frames.push(Buffer.from('data: [DONE]\n\n'));
  return frames;
}
