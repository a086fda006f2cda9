import { isObject, type JsonObject, listOf, objectOf } from '../../../kit/json-value.ts';
import {
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
  where,
} from './shape.fixture.ts';

const nothing = oneOf(null);
const some = matching(/./s);
const toolName = matching(/^[a-zA-Z0-9_-]{1,64}$/);
const url = matching(/^https?:\/\//);
const imageData = matching(/^data:image\/[a-z+.-]+;base64,[A-Za-z0-9+/]*={0,2}$/);
const fileData = matching(/^data:[a-z]+\/[a-z+.-]+;base64,[A-Za-z0-9+/]*={0,2}$/);
const objectSchema = where(
  'the schema of an object',
  (value) => isObject(value) && (value['type'] === 'object' || value['type'] === undefined),
);

const textPart = strict({ type: oneOf('text'), text });
const userPart = byMember('type', {
  text: textPart,
  image_url: strict({
    type: text,
    image_url: strict({ url: either(url, imageData) }, { detail: oneOf('auto', 'low', 'high', 'original') }),
  }),
  file: strict({
    type: text,
    file: strict({ file_data: fileData, filename: some }),
  }),
  input_audio: strict({ type: text, input_audio: strict({ data: text, format: oneOf('wav', 'mp3') }) }),
});
const callId = matching(/^.{1,40}$/s);
const call = strict({
  id: callId,
  type: oneOf('function'),
  // What a model wrote, which need not be JSON.
  function: strict({ name: toolName, arguments: text }),
});
const words = either(text, list(textPart, 1));

const message = byMember('role', {
  system: strict({ role: text, content: words }),
  developer: strict({ role: text, content: words }),
  user: strict({ role: text, content: either(text, list(userPart, 1)) }),
  assistant: either(
    strict({ role: text, content: words }, { refusal: text, tool_calls: list(call, 1) }),
    strict({ role: text, content: nothing, tool_calls: list(call, 1) }, { refusal: text }),
    strict({ role: text, content: nothing, refusal: some }),
  ),
  tool: strict({ role: text, tool_call_id: callId, content: words }),
});

const responseFormat = byMember('type', {
  text: strict({ type: text }),
  json_object: strict({ type: text }),
  json_schema: strict({
    type: text,
    json_schema: strict({ name: toolName, schema: objectSchema }, { strict: flag, description: text }),
  }),
});

const request = strict(
  { model: some, messages: list(message, 1) },
  {
    max_completion_tokens: integer(1),
    temperature: number(0, 2),
    top_p: number(0, 1),
    stop: list(some, 1, 4),
    stream: flag,
    stream_options: strict({}, { include_usage: flag }),
    tools: list(
      strict({
        type: oneOf('function'),
        function: strict({ name: toolName }, { description: text, parameters: objectSchema, strict: flag }),
      }),
      1,
    ),
    tool_choice: either(
      oneOf('auto', 'none', 'required'),
      strict({ type: oneOf('function'), function: strict({ name: toolName }) }),
    ),
    parallel_tool_calls: flag,
    response_format: responseFormat,
    reasoning_effort: oneOf('none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'),
    verbosity: oneOf('low', 'medium', 'high'),
    logprobs: flag,
    top_logprobs: integer(0),
    user: text,
    safety_identifier: text,
    prompt_cache_key: text,
    prompt_cache_retention: text,
    prompt_cache_options: strict({ mode: text }),
    service_tier: oneOf('auto', 'default', 'flex', 'scale', 'priority', 'fast'),
  },
);

/** What OpenAI's chat completions would reject in a request. https://platform.openai.com/docs/api-reference/chat/create */
export const chatProblems: Shape = (value) => {
  const problems = request(value, 'body');
  return problems.length > 0
    ? problems
    : [...callProblems(objectOf(value)), ...toolProblems(objectOf(value))];
};

/** Each call is answered by a tool's message before anything else is said, and nothing else is. */
function callProblems({ messages }: JsonObject): readonly string[] {
  const problems: string[] = [];
  let open = new Set<unknown>();
  for (const [index, given] of listOf(messages).entries()) {
    const { role, tool_calls: calls, tool_call_id: id } = objectOf(given);
    if (role === 'tool') {
      if (!open.delete(id)) problems.push(`messages[${index}]: answers no call`);
      continue;
    }
    if (open.size > 0) problems.push(`messages[${index}]: calls were not answered`);
    open = new Set(listOf(calls).map((made) => objectOf(made)['id']));
    if (open.size < listOf(calls).length) problems.push(`messages[${index}]: two calls have one id`);
  }
  if (open.size > 0) problems.push('the last calls were not answered');
  return problems;
}

function toolProblems(body: JsonObject): readonly string[] {
  const names = listOf(body['tools']).map((tool) => objectOf(objectOf(tool)['function'])['name']);
  const chosen = objectOf(objectOf(body['tool_choice'])['function'])['name'];
  return [
    ...(new Set(names).size < names.length ? ['two tools have one name'] : []),
    ...(chosen !== undefined && !names.includes(chosen) ? ['the chosen tool is not there'] : []),
    ...(names.length === 0 && body['tool_choice'] !== undefined ? ['a choice without tools'] : []),
    ...(names.length === 0 && body['parallel_tool_calls'] !== undefined
      ? ['parallel calls without tools']
      : []),
    ...(body['top_logprobs'] !== undefined && body['logprobs'] !== true
      ? ['alternatives without probabilities']
      : []),
    ...(body['stream'] !== true && body['stream_options'] !== undefined ? ['options without a stream'] : []),
  ];
}
