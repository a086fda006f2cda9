import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type {
  CustomTool,
  EasyInputMessage,
  FunctionTool,
  ResponseCreateParams,
  ResponseCustomToolCall,
  ResponseFunctionToolCall,
  ResponseInputFile,
  ResponseInputImage,
  ResponseInputItem,
  ResponseInputText,
  ResponseOutputMessage,
  ResponseReasoningItem,
  ResponseTextConfig,
} from 'openai/resources/responses/responses';
import type { Reasoning } from 'openai/resources/shared';
import { responsesToChatFields } from '../responses-to-chat/fields.ts';
import { responsesToMessagesFields } from '../responses-to-messages/fields.ts';
import type { ResponsesFields } from './fields.ts';

/** The members of OpenAI's own types: these lists do not compile when one is missing or unknown. */
type Names<T> = Readonly<Record<keyof T, true>>;

const request: Names<ResponseCreateParams> = {
  access_programs: true,
  background: true,
  context_management: true,
  conversation: true,
  image: true,
  include: true,
  input: true,
  instructions: true,
  max_output_tokens: true,
  max_tool_calls: true,
  metadata: true,
  model: true,
  moderation: true,
  parallel_tool_calls: true,
  previous_response_id: true,
  prompt: true,
  prompt_cache_key: true,
  prompt_cache_options: true,
  prompt_cache_retention: true,
  reasoning: true,
  safety_identifier: true,
  service_tier: true,
  store: true,
  stream: true,
  stream_options: true,
  temperature: true,
  text: true,
  tool_choice: true,
  tools: true,
  top_logprobs: true,
  top_p: true,
  truncation: true,
  user: true,
};
const reasoning: Names<Reasoning> = {
  context: true,
  effort: true,
  generate_summary: true,
  mode: true,
  summary: true,
};
const text: Names<ResponseTextConfig> = { format: true, verbosity: true };
const message: Names<EasyInputMessage & ResponseOutputMessage> = {
  content: true,
  role: true,
  phase: true,
  type: true,
  id: true,
  status: true,
};
const functionCall: Names<ResponseFunctionToolCall> = {
  arguments: true,
  call_id: true,
  name: true,
  type: true,
  id: true,
  async: true,
  caller: true,
  namespace: true,
  status: true,
};
const functionCallOutput: Names<ResponseInputItem.FunctionCallOutput> = {
  output: true,
  type: true,
  id: true,
  call_id: true,
  caller: true,
  name: true,
  namespace: true,
  status: true,
};
const customToolCall: Names<ResponseCustomToolCall> = {
  call_id: true,
  input: true,
  name: true,
  type: true,
  id: true,
  async: true,
  caller: true,
  namespace: true,
};
const reasoningItem: Names<ResponseReasoningItem> = {
  id: true,
  summary: true,
  type: true,
  content: true,
  encrypted_content: true,
  status: true,
};
const inputText: Names<ResponseInputText> = { text: true, type: true, prompt_cache_breakpoint: true };
const inputImage: Names<ResponseInputImage> = {
  detail: true,
  type: true,
  file_id: true,
  image_url: true,
  prompt_cache_breakpoint: true,
};
const inputFile: Names<ResponseInputFile> = {
  type: true,
  detail: true,
  file_data: true,
  file_id: true,
  file_url: true,
  filename: true,
  prompt_cache_breakpoint: true,
};
const functionTool: Names<FunctionTool> = {
  name: true,
  parameters: true,
  strict: true,
  type: true,
  allowed_callers: true,
  async: true,
  defer_loading: true,
  description: true,
  output_schema: true,
};
const customTool: Names<CustomTool> = {
  name: true,
  type: true,
  allowed_callers: true,
  async: true,
  defer_loading: true,
  description: true,
  format: true,
};

const members: Partial<Record<keyof ResponsesFields, Readonly<Record<string, true>>>> = {
  request,
  reasoning,
  text,
  message,
  functionCall,
  functionCallOutput,
  customToolCall,
  reasoningItem,
  inputText,
  inputImage,
  inputFile,
  functionTool,
  customTool,
};

const pairs: readonly [string, ResponsesFields][] = [
  ['chat completions', responsesToChatFields],
  ['Messages', responsesToMessagesFields],
];

describe('the table of fields', () => {
  for (const [provider, fields] of pairs)
    it(`for ${provider} has a row for every member of OpenAI's types`, () => {
      const unsorted = Object.entries(members).flatMap(([kind, names]) =>
        Object.keys(names)
          .filter(
            (name) => !Object.hasOwn(Object(Object.entries(fields).find(([of]) => of === kind)?.[1]), name),
          )
          .map((name) => `${kind}.${name}`),
      );
      assert.deepEqual(unsorted, []);
    });
});
