import { PLAYED_USAGE, type PlayedTurn, piecesOf } from './played-turn.ts';

/** The turn as chat completions stream it. Content begins after the first frame. */
export function chatFrames({ number, thought, text, calls }: PlayedTurn, model: string): string[] {
  const base = { id: `chatcmpl-${number}`, object: 'chat.completion.chunk', created: 1_767_225_600, model };
  const frame = (delta: object, finish_reason: string | null = null) =>
    `data: ${JSON.stringify({ ...base, choices: [{ index: 0, delta, finish_reason }], usage: null })}\n\n`;
  const { input, cacheRead, output } = PLAYED_USAGE;
  const usage = {
    prompt_tokens: input,
    completion_tokens: output,
    total_tokens: input + output,
    prompt_tokens_details: { cached_tokens: cacheRead },
  };
  return [
    frame({ role: 'assistant', content: '' }),
    ...piecesOf(thought ?? '').map((piece) => frame({ reasoning_content: piece })),
    ...piecesOf(text ?? '').map((content) => frame({ content })),
    ...calls.flatMap(({ id, name, input }, index) => [
      frame({ tool_calls: [{ index, id, type: 'function', function: { name, arguments: '' } }] }),
      ...piecesOf(JSON.stringify(input), 7).map((piece) =>
        frame({ tool_calls: [{ index, function: { arguments: piece } }] }),
      ),
    ]),
    frame({}, calls.length > 0 ? 'tool_calls' : 'stop'),
    `data: ${JSON.stringify({ ...base, choices: [], usage })}\n\n`,
    'data: [DONE]\n\n',
  ];
}
