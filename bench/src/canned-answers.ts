/** Content frames of a stream, with the frames that open and close it. */
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

/** 200 frames the client sees; with `metered`, one more before the last that tells the usage. */
export function streamFrames(metered: boolean): Buffer[] {
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
  for (let index = 0; index < STREAM_FRAMES - 3; index += 1)
    frames.push(frame(delta({ content: ` word${index}` })));
  frames.push(frame(delta({}, 'stop')));
  if (metered) frames.push(frame([], USAGE));
  frames.push(Buffer.from('data: [DONE]\n\n'));
  return frames;
}
