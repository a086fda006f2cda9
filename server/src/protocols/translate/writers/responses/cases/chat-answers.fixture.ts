import type { JsonObject } from '../../../../../kit/json-value.ts';
import {
  type AnswerCase,
  callEnd,
  callInput,
  customCall,
  functionCall,
  message,
  reasoning,
  saysCall,
  saysCustom,
  saysText,
  saysThinking,
  text,
} from './answer-case.fixture.ts';

const head = { id: 'chatcmpl-1', created: 1_700_000_000, model: 'm' };
const counts = { prompt_tokens: 9, completion_tokens: 4, total_tokens: 13 };
const tools = [
  { type: 'function', name: 'read' },
  { type: 'custom', name: 'edit' },
  {
    type: 'namespace',
    name: 'files',
    tools: [
      { type: 'function', name: 'list' },
      { type: 'custom', name: 'patch' },
    ],
  },
];

function delta(members: JsonObject, finish: string | null = null): JsonObject {
  return {
    ...head,
    object: 'chat.completion.chunk',
    choices: [{ index: 0, delta: members, finish_reason: finish }],
  };
}

function usage(of: JsonObject): JsonObject {
  return { ...head, object: 'chat.completion.chunk', choices: [], usage: of };
}

function whole(members: JsonObject, finish = 'stop', of: JsonObject | undefined = counts): JsonObject {
  const choices = [{ index: 0, message: { role: 'assistant', ...members }, finish_reason: finish }];
  return { ...head, object: 'chat.completion', choices, ...(of === undefined ? {} : { usage: of }) };
}

function calling(index: number, id: string, name: string, json: string): JsonObject {
  return delta({ tool_calls: [{ index, id, type: 'function', function: { name, arguments: json } }] });
}

function more(index: number, json: string): JsonObject {
  return delta({ tool_calls: [{ index, function: { arguments: json } }] });
}

function called(id: string, name: string, json: string): JsonObject {
  return { id, type: 'function', function: { name, arguments: json } };
}

const stop = (reason: string): readonly JsonObject[] => [delta({}, reason), usage(counts)];
const USAGE = '9 / 0 / 4 / 0';

const token = (name: string, logprob: number): JsonObject => ({
  token: name,
  logprob,
  bytes: [...Buffer.from(name)],
});
const HEL = { ...token('Hel', -0.25), top_logprobs: [token('Hel', -0.25), token('Yo', -2.5)] };
const LO = { ...token('lo', -0.125), top_logprobs: [] };
const END = { ...token('', -1), top_logprobs: [] };

/** A chunk with the probabilities of its tokens. */
function likely(chunk: JsonObject, logprobs: JsonObject | null): JsonObject {
  const [choice] = chunk['choices'] as readonly JsonObject[];
  return { ...chunk, choices: [{ ...choice, logprobs }] };
}

/** Answers of chat completions; `[DONE]` follows every stream. */
export const chatAnswers: readonly AnswerCase[] = [
  {
    name: 'text with the probabilities of its tokens',
    request: { include: ['message.output_text.logprobs'] },
    frames: [
      likely(delta({ role: 'assistant', content: '' }), null),
      likely(delta({ content: 'Hel' }), { content: [HEL], refusal: null }),
      likely(delta({ content: 'lo' }), { content: [{ ...LO, bytes: null }] }),
      likely(delta({ content: '' }), { content: [END] }),
      ...stop('stop'),
    ],
    whole: likely(whole({ content: 'Hello' }), {
      content: [HEL, { ...LO, bytes: null }, END],
      refusal: null,
    }),
    says: saysText(0, 'Hel', 'lo'),
    end: 'completed',
    output: [message(0, { ...text('Hello'), logprobs: [HEL, { ...LO, bytes: [] }, END] })],
    usage: USAGE,
  },
  {
    name: 'probabilities that nobody asked for',
    frames: [likely(delta({ role: 'assistant', content: 'Hel' }), { content: [HEL] }), ...stop('stop')],
    whole: likely(whole({ content: 'Hel' }), { content: [HEL] }),
    says: saysText(0, 'Hel'),
    end: 'completed',
    output: [message(0, text('Hel'))],
    usage: USAGE,
  },
  {
    name: 'text',
    frames: [
      delta({ role: 'assistant', content: '' }),
      delta({ content: 'Hel' }),
      delta({ content: 'lo' }),
      ...stop('stop'),
    ],
    whole: whole({ content: 'Hello' }),
    says: saysText(0, 'Hel', 'lo'),
    end: 'completed',
    output: [message(0, text('Hello'))],
    usage: USAGE,
  },
  {
    name: 'text of several bytes for each character',
    frames: [delta({ content: 'Grüße, ' }), delta({ content: '世界 👩‍🚀\u2028"\\\n' }), ...stop('stop')],
    whole: whole({ content: 'Grüße, 世界 👩‍🚀\u2028"\\\n' }),
    says: saysText(0, 'Grüße, ', '世界 👩‍🚀\u2028"\\\n'),
    end: 'completed',
    output: [message(0, text('Grüße, 世界 👩‍🚀\u2028"\\\n'))],
    usage: USAGE,
  },
  {
    name: 'usage with details',
    frames: [
      delta({ content: 'Hi' }, 'stop'),
      usage({
        prompt_tokens: 90,
        completion_tokens: 40,
        prompt_tokens_details: { cached_tokens: 64 },
        completion_tokens_details: { reasoning_tokens: 32 },
      }),
    ],
    whole: whole({ content: 'Hi' }, 'stop', {
      prompt_tokens: 90,
      completion_tokens: 40,
      prompt_tokens_details: { cached_tokens: 64 },
      completion_tokens_details: { reasoning_tokens: 32 },
    }),
    says: saysText(0, 'Hi'),
    end: 'completed',
    output: [message(0, text('Hi'))],
    usage: '90 / 64 / 40 / 32',
  },
  {
    name: 'no usage',
    frames: [delta({ content: 'Hi' }), delta({}, 'stop')],
    whole: { ...whole({ content: 'Hi' }), usage: null },
    says: saysText(0, 'Hi'),
    end: 'completed',
    output: [message(0, text('Hi'))],
    usage: null,
  },
  {
    name: 'nothing',
    frames: stop('stop'),
    whole: whole({ content: null }),
    says: [],
    end: 'completed',
    output: [],
    usage: USAGE,
  },
  {
    name: 'a call',
    request: { tools },
    frames: [calling(0, 'a', 'read', ''), more(0, '{"path"'), more(0, ':"x"}'), ...stop('tool_calls')],
    whole: whole({ content: null, tool_calls: [called('a', 'read', '{"path":"x"}')] }, 'tool_calls'),
    says: saysCall(0, '{"path"', ':"x"}'),
    end: 'completed',
    output: [functionCall(0, 'a', 'read', '{"path":"x"}')],
    usage: USAGE,
  },
  {
    name: 'text and two calls whose parts alternate',
    request: { tools },
    frames: [
      delta({ content: 'Look.' }),
      calling(0, 'a', 'read', '{"p'),
      calling(1, 'b', 'files__list', '{'),
      more(0, '":1}'),
      more(1, '}'),
      ...stop('tool_calls'),
    ],
    whole: whole(
      { content: 'Look.', tool_calls: [called('a', 'read', '{"p":1}'), called('b', 'files__list', '{}')] },
      'tool_calls',
    ),
    says: [
      ...saysText(0, 'Look.'),
      'output_item.added 1 function_call',
      ...callInput(1, '{"p'),
      'output_item.added 2 function_call',
      ...callInput(2, '{'),
      ...callInput(1, '":1}'),
      ...callInput(2, '}'),
      ...callEnd(1, '{"p":1}'),
      ...callEnd(2, '{}'),
    ],
    end: 'completed',
    output: [
      message(0, text('Look.')),
      functionCall(1, 'a', 'read', '{"p":1}'),
      { ...functionCall(2, 'b', 'list', '{}'), namespace: 'files' },
    ],
    usage: USAGE,
  },
  {
    name: 'a call without arguments, of a function that was not declared',
    frames: [calling(0, 'a', 'guess', ''), ...stop('tool_calls')],
    whole: whole({ tool_calls: [called('a', 'guess', '')] }, 'tool_calls'),
    says: saysCall(0, '{}'),
    end: 'completed',
    output: [functionCall(0, 'a', 'guess', '{}')],
    usage: USAGE,
  },
  {
    name: 'a forced call, which ends like text',
    request: { tools },
    frames: [calling(0, 'a', 'read', '{}'), ...stop('stop')],
    whole: whole({ tool_calls: [called('a', 'read', '{}')] }),
    says: saysCall(0, '{}'),
    end: 'completed',
    output: [functionCall(0, 'a', 'read', '{}')],
    usage: USAGE,
  },
  {
    name: 'text after a call',
    request: { tools },
    frames: [calling(0, 'a', 'read', '{}'), delta({ content: 'Wait.' }), ...stop('tool_calls')],
    whole: null,
    says: [
      'output_item.added 0 function_call',
      ...callInput(0, '{}'),
      ...saysText(1, 'Wait.').slice(0, 3),
      ...callEnd(0, '{}'),
      ...saysText(1, 'Wait.').slice(3),
    ],
    end: 'completed',
    output: [functionCall(0, 'a', 'read', '{}'), message(1, text('Wait.'))],
    usage: USAGE,
  },
  {
    name: 'a custom call in pieces that end inside escapes',
    request: { tools },
    frames: [
      calling(0, 'a', 'edit', '{"in'),
      more(0, 'put": "*** Begin\\'),
      more(0, 'n\\ud83'),
      more(0, 'd\\u'),
      more(0, 'de00 \\"x'),
      more(0, '\\""}'),
      ...stop('tool_calls'),
    ],
    whole: whole(
      { tool_calls: [called('a', 'edit', '{"input": "*** Begin\\n\\ud83d\\ude00 \\"x\\""}')] },
      'tool_calls',
    ),
    says: saysCustom(0, '*** Begin', '\n', '😀 "x', '"'),
    end: 'completed',
    output: [customCall(0, 'a', 'edit', '*** Begin\n😀 "x"')],
    usage: USAGE,
  },
  {
    name: 'a custom call in a namespace',
    request: { tools },
    frames: [calling(0, 'a', 'files__patch', '{"input":"p"}'), ...stop('tool_calls')],
    whole: whole({ tool_calls: [called('a', 'files__patch', '{"input":"p"}')] }, 'tool_calls'),
    says: saysCustom(0, 'p'),
    end: 'completed',
    output: [{ ...customCall(0, 'a', 'patch', 'p'), namespace: 'files' }],
    usage: USAGE,
  },
  {
    name: 'a custom call whose text the model wrote without its member',
    request: { tools },
    frames: [calling(0, 'a', 'edit', '*** Begin'), more(0, ' Patch'), ...stop('tool_calls')],
    whole: whole({ tool_calls: [called('a', 'edit', '*** Begin Patch')] }, 'tool_calls'),
    says: saysCustom(0, '*** Begin Patch'),
    end: 'completed',
    output: [customCall(0, 'a', 'edit', '*** Begin Patch')],
    usage: USAGE,
  },
  {
    name: 'a custom call with its text behind another member',
    request: { tools },
    frames: [calling(0, 'a', 'edit', '{"why":"x",'), more(0, '"input":"y"}'), ...stop('tool_calls')],
    whole: whole({ tool_calls: [called('a', 'edit', '{"why":"x","input":"y"}')] }, 'tool_calls'),
    says: saysCustom(0, 'y'),
    end: 'completed',
    output: [customCall(0, 'a', 'edit', 'y')],
    usage: USAGE,
  },
  {
    name: 'reasoning before text',
    frames: [
      delta({ reasoning_content: 'Hm' }),
      delta({ reasoning_content: '.' }),
      delta({ content: 'Hi' }),
      ...stop('stop'),
    ],
    whole: whole({ reasoning_content: 'Hm.', content: 'Hi' }),
    says: [...saysThinking(0, 'Hm', '.'), ...saysText(1, 'Hi')],
    end: 'completed',
    output: [reasoning(0, 'Hm.', 'relay-seal-2:maker:text:'), message(1, text('Hi'))],
    usage: USAGE,
  },
  {
    name: 'a refusal',
    frames: [delta({ refusal: 'I can’t' }), delta({ refusal: ' do that.' }), ...stop('stop')],
    whole: whole({ content: null, refusal: 'I can’t do that.' }),
    says: [
      'output_item.added 0 message',
      'content_part.added 0.0 refusal',
      'refusal.delta 0.0 "I can’t"',
      'refusal.delta 0.0 " do that."',
      'refusal.done 0.0 "I can’t do that."',
      'content_part.done 0.0 refusal',
      'output_item.done 0 message',
    ],
    end: 'completed',
    output: [message(0, { type: 'refusal', refusal: 'I can’t do that.' })],
    usage: USAGE,
  },
  {
    name: 'text that was cut off',
    frames: [delta({ content: 'Once' }), ...stop('length')],
    whole: whole({ content: 'Once' }, 'length'),
    says: saysText(0, 'Once'),
    end: 'incomplete max_output_tokens',
    output: [{ ...message(0, text('Once')), status: 'incomplete' }],
    usage: USAGE,
  },
  {
    name: 'the second of two calls cut off',
    request: { tools },
    frames: [calling(0, 'a', 'read', '{}'), calling(1, 'b', 'edit', '{"input":"on\\'), ...stop('length')],
    whole: whole(
      { tool_calls: [called('a', 'read', '{}'), called('b', 'edit', '{"input":"on\\')] },
      'length',
    ),
    says: [
      'output_item.added 0 function_call',
      ...callInput(0, '{}'),
      ...saysCustom(1, 'on').slice(0, 2),
      ...callEnd(0, '{}'),
      ...saysCustom(1, 'on').slice(2),
    ],
    end: 'incomplete max_output_tokens',
    output: [
      functionCall(0, 'a', 'read', '{}'),
      { ...customCall(1, 'b', 'edit', 'on'), status: 'incomplete' },
    ],
    usage: USAGE,
  },
  {
    name: 'an answer that a filter stopped',
    frames: [delta({ content: 'Well' }), ...stop('content_filter')],
    whole: whole({ content: 'Well' }, 'content_filter'),
    says: saysText(0, 'Well'),
    end: 'incomplete content_filter',
    output: [{ ...message(0, text('Well')), status: 'incomplete' }],
    usage: USAGE,
  },
  {
    name: 'an error in the middle',
    frames: [
      delta({ content: 'Hel' }),
      { error: { message: 'Too many', type: 'rate_limit_exceeded', code: null } },
      delta({ content: 'lo' }),
    ],
    whole: null,
    says: saysText(0, 'Hel').slice(0, 3),
    end: 'failed rate_limit_exceeded',
    output: [],
    usage: null,
  },
  {
    name: 'a part that Responses clients cannot be given',
    frames: [delta({ content: 'Hi' }), delta({ audio: { id: 'x' } }), ...stop('stop')],
    whole: null,
    says: saysText(0, 'Hi').slice(0, 3),
    end: 'failed server_error',
    output: [],
    usage: null,
  },
];
