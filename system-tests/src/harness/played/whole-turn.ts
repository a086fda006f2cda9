import { PLAYED_USAGE, type PlayedTurn, signatureOf } from './played-turn.ts';
import { responsesFrames } from './responses-frames.ts';

const { input, cacheRead, cacheWritten, output } = PLAYED_USAGE;

/** The turn as a complete chat completion. */
export function chatWhole({ number, thought, text, calls }: PlayedTurn, model: string): string {
  const tool_calls = calls.map(({ id, name, input: given }) => ({
    id,
    type: 'function',
    function: { name, arguments: JSON.stringify(given) },
  }));
  const message = {
    role: 'assistant',
    content: text,
    refusal: null,
    ...(thought === null ? {} : { reasoning_content: thought }),
    ...(tool_calls.length === 0 ? {} : { tool_calls }),
  };
  return JSON.stringify({
    id: `chatcmpl-${number}`,
    object: 'chat.completion',
    created: 1_767_225_600,
    model,
    choices: [
      { index: 0, message, logprobs: null, finish_reason: tool_calls.length > 0 ? 'tool_calls' : 'stop' },
    ],
    usage: {
      prompt_tokens: input,
      completion_tokens: output,
      total_tokens: input + output,
      prompt_tokens_details: { cached_tokens: cacheRead },
    },
  });
}

/** The turn as a complete message. */
export function messagesWhole({ number, thought, text, calls }: PlayedTurn, model: string): string {
  const content: object[] = calls.map((call) => ({
    type: 'tool_use',
    id: `toolu_${call.id}`,
    name: call.name,
    input: call.input,
  }));
  if (text !== null) content.unshift({ type: 'text', text });
  if (thought !== null)
    content.unshift({ type: 'thinking', thinking: thought, signature: signatureOf(number) });
  return JSON.stringify({
    id: `msg_${number}`,
    type: 'message',
    role: 'assistant',
    model,
    content,
    stop_reason: calls.length > 0 ? 'tool_use' : 'end_turn',
    stop_sequence: null,
    usage: {
      input_tokens: input - cacheRead - cacheWritten,
      cache_read_input_tokens: cacheRead,
      cache_creation_input_tokens: cacheWritten,
      output_tokens: output,
    },
  });
}

/** The turn as a complete response: what the last event of its stream has. */
export function responsesWhole(turn: PlayedTurn, model: string): string {
  const last = responsesFrames(turn, model).at(-1) ?? '';
  const { response } = JSON.parse(last.slice(last.indexOf('data: ') + 6)) as { response: object };
  return JSON.stringify(response);
}
