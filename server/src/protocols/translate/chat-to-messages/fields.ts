import { advisory, carried, essential, type FieldTable } from '../field-sorter.ts';

const cached: FieldTable = { prompt_cache_breakpoint: advisory };

/**
 * Every field of a chat completion request, for a provider that speaks Messages. A field without a row is essential.
 * https://platform.openai.com/docs/api-reference/chat/create
 */
export const chatToMessagesFields = {
  request: {
    model: carried,
    messages: carried,
    max_completion_tokens: carried,
    max_tokens: carried,
    stop: carried,
    stream: carried,
    stream_options: carried,
    temperature: carried,
    top_p: carried,
    tools: carried,
    tool_choice: carried,
    parallel_tool_calls: carried,
    response_format: carried,
    reasoning_effort: carried,
    service_tier: carried,
    metadata: advisory,
    user: advisory,
    safety_identifier: advisory,
    prompt_cache_key: advisory,
    prompt_cache_retention: advisory,
    prompt_cache_options: advisory,
    // A guess at the answer, which makes it faster and not different.
    prediction: advisory,
    n: essential(1),
    logprobs: essential(false),
    top_logprobs: essential(0),
    logit_bias: essential({}),
    frequency_penalty: essential(0),
    presence_penalty: essential(0),
    seed: essential(),
    store: essential(false),
    modalities: essential(['text']),
    audio: essential(),
    moderation: essential(),
    verbosity: essential('medium'),
    web_search_options: essential(),
    // Answers to these have a shape of their own.
    functions: essential([]),
    function_call: essential(),
  },
  systemMessage: { role: carried, content: carried, name: essential() },
  userMessage: { role: carried, content: carried, name: essential() },
  assistantMessage: {
    role: carried,
    content: carried,
    refusal: carried,
    tool_calls: carried,
    name: essential(),
    audio: essential(),
    function_call: essential(),
    // Reasoning of compatible providers, as an earlier answer had it.
    reasoning_content: advisory,
    reasoning: advisory,
    reasoning_details: advisory,
    // Empty unless a search was asked for, and about words that are carried.
    annotations: advisory,
  },
  toolMessage: { role: carried, content: carried, tool_call_id: carried, name: advisory },
  toolCall: { id: carried, type: carried, function: carried, index: advisory },
  calledFunction: { name: carried, arguments: carried },
  text: { ...cached, type: carried, text: carried },
  refusal: { type: carried, refusal: carried },
  image: { ...cached, type: carried, image_url: carried },
  imageUrl: { url: carried, detail: { treatment: 'advisory', sameAsAbsent: ['auto'] } },
  filePart: { ...cached, type: carried, file: carried },
  file: { file_data: carried, filename: carried, file_id: essential() },
  tool: { type: carried, function: carried },
  functionTool: { name: carried, description: carried, parameters: carried, strict: carried },
  toolChoice: { type: carried, function: carried },
  namedFunction: { name: carried },
  responseFormat: { type: carried, json_schema: carried },
  // The name is for the client's own eyes; Messages always guarantee the schema.
  jsonSchema: { schema: carried, description: carried, name: advisory, strict: carried },
  streamOptions: {
    include_usage: carried,
    include_obfuscation: { treatment: 'advisory', sameAsAbsent: [false] },
  },
} satisfies Record<string, FieldTable>;
