import { isObject, type JsonObject, listOf, objectOf } from '../../../kit/json-value.ts';
import {
  anyObject,
  byMember,
  either,
  flag,
  integer,
  list,
  matching,
  number,
  oneOf,
  type Shape,
  strict,
  text,
} from './shape.fixture.ts';

const some = matching(/\S/);
const callId = matching(/^[a-zA-Z0-9_-]+$/);
const toolName = matching(/^[a-zA-Z0-9_-]{1,128}$/);
const base64 = matching(/^[A-Za-z0-9+/]*={0,2}$/);
const url = strict({ type: oneOf('url'), url: matching(/^https?:\/\//) });
const cache = strict({ type: oneOf('ephemeral') }, { ttl: oneOf('5m', '1h') });

const textBlock = strict({ type: oneOf('text'), text: some }, { cache_control: cache });
const imageBlock = strict({
  type: oneOf('image'),
  source: either(
    url,
    strict({
      type: oneOf('base64'),
      media_type: oneOf('image/jpeg', 'image/png', 'image/gif', 'image/webp'),
      data: base64,
    }),
  ),
});
const documentBlock = strict(
  {
    type: oneOf('document'),
    source: either(
      url,
      strict({ type: oneOf('base64'), media_type: oneOf('application/pdf'), data: base64 }),
      strict({ type: oneOf('text'), media_type: oneOf('text/plain'), data: some }),
    ),
  },
  { title: text, context: text },
);
const shown = { text: textBlock, image: imageBlock, document: documentBlock };
const toolResult = strict(
  { type: oneOf('tool_result'), tool_use_id: callId },
  { content: either(some, list(byMember('type', shown), 1)), is_error: flag },
);

const message = byMember('role', {
  user: strict({
    role: text,
    content: either(some, list(byMember('type', { ...shown, tool_result: toolResult }), 1)),
  }),
  system: strict({ role: text, content: either(some, list(textBlock, 1)) }),
  assistant: strict({
    role: text,
    content: either(
      some,
      list(
        byMember('type', {
          text: textBlock,
          tool_use: strict({ type: text, id: callId, name: toolName, input: anyObject }),
          thinking: strict({ type: text, thinking: text, signature: some }),
          redacted_thinking: strict({ type: text, data: some }),
        }),
        1,
      ),
    ),
  }),
});

const objectSchema: Shape = (value, path) =>
  isObject(value) && value['type'] === 'object' ? [] : [`${path}: not the schema of an object`];

const choice = { disable_parallel_tool_use: flag };
const request = strict(
  { model: some, max_tokens: integer(1), messages: list(message, 1) },
  {
    system: either(some, list(textBlock, 1)),
    temperature: number(0, 1),
    top_p: number(0, 1),
    stop_sequences: list(some, 1),
    stream: flag,
    service_tier: oneOf('auto', 'standard_only'),
    thinking: byMember('type', {
      disabled: strict({ type: text }),
      adaptive: strict({ type: text }, { display: oneOf('summarized', 'omitted') }),
      enabled: strict({ type: text, budget_tokens: integer(1_024) }),
    }),
    output_config: strict(
      {},
      {
        effort: oneOf('low', 'medium', 'high', 'xhigh', 'max'),
        format: strict({ type: oneOf('json_schema'), schema: anyObject }),
      },
    ),
    tools: list(
      strict({ name: toolName, input_schema: objectSchema }, { description: text, strict: flag }),
      1,
    ),
    tool_choice: byMember('type', {
      auto: strict({ type: text }, choice),
      any: strict({ type: text }, choice),
      tool: strict({ type: text, name: toolName }, choice),
      none: strict({ type: text }),
    }),
  },
);

/** What Anthropic's Messages would reject in a request. https://platform.claude.com/docs/en/api/messages */
export const messagesProblems: Shape = (value) => {
  const problems = request(value, 'body');
  if (problems.length > 0) return problems;
  const body = objectOf(value);
  return [...turnProblems(body), ...toolProblems(body), ...thinkingProblems(body)];
};

/** Each call is answered at the start of the next message; system messages follow a user's; the last word is the user's. */
function turnProblems({ messages }: JsonObject): readonly string[] {
  const problems: string[] = [];
  let open: readonly unknown[] = [];
  let before: unknown = null;
  for (const [index, given] of listOf(messages).entries()) {
    const { role, content } = objectOf(given);
    const blocks = listOf(content).map(objectOf);
    const results = blocks.filter(({ type }) => type === 'tool_result');
    const answered = results.map(({ tool_use_id: id }) => id);
    if ([...answered].sort().join('\n') !== [...open].sort().join('\n'))
      problems.push(`messages[${index}]: answers ${answered.join()} where ${open.join()} were called`);
    if (blocks.slice(0, results.length).some((block) => block['type'] !== 'tool_result'))
      problems.push(`messages[${index}]: results do not come first`);
    if (role === 'system' && before !== 'user') problems.push(`messages[${index}]: system not after user`);
    if (role === 'user' && before === 'system') problems.push(`messages[${index}]: user after system`);
    if (index === 0 && role !== 'user') problems.push('the first message is not the user’s');
    open = blocks.filter(({ type }) => type === 'tool_use').map(({ id }) => id);
    before = role;
  }
  return before === 'assistant' ? [...problems, 'the last message is the assistant’s'] : problems;
}

function toolProblems(body: JsonObject): readonly string[] {
  const names = listOf(body['tools']).map((tool) => objectOf(tool)['name']);
  const { type, name } = objectOf(body['tool_choice']);
  return [
    ...(new Set(names).size < names.length ? ['two tools have one name'] : []),
    ...(type === 'tool' && !names.includes(name) ? ['the chosen tool is not there'] : []),
    ...(type !== undefined && names.length === 0 ? ['a choice without tools'] : []),
  ];
}

function thinkingProblems(body: JsonObject): readonly string[] {
  const { type } = objectOf(body['thinking']);
  if (type !== 'enabled' && type !== 'adaptive') return [];
  const forced = ['any', 'tool'].includes(String(objectOf(body['tool_choice'])['type']));
  const sampled = (body['temperature'] ?? 1) !== 1 || body['top_p'] !== undefined;
  return [
    ...(forced ? ['thinking before a forced call'] : []),
    ...(sampled ? ['thinking with sampling'] : []),
  ];
}
