import { advisory, advisoryUnless, carried, essential, type FieldTable } from '../field-sorter.ts';

/** Every kind of object in a Responses request whose members are sorted. Each pair has a table of its own. */
export interface ResponsesFields {
  readonly request: FieldTable;
  readonly reasoning: FieldTable;
  readonly text: FieldTable;
  readonly textFormat: FieldTable;
  readonly streamOptions: FieldTable;
  readonly message: FieldTable;
  readonly functionCall: FieldTable;
  readonly functionCallOutput: FieldTable;
  readonly customToolCall: FieldTable;
  readonly customToolCallOutput: FieldTable;
  readonly reasoningItem: FieldTable;
  readonly summaryText: FieldTable;
  readonly additionalTools: FieldTable;
  readonly inputText: FieldTable;
  readonly outputText: FieldTable;
  readonly refusal: FieldTable;
  readonly inputImage: FieldTable;
  readonly inputFile: FieldTable;
  readonly inputAudio: FieldTable;
  readonly functionTool: FieldTable;
  readonly customTool: FieldTable;
  readonly namespaceTool: FieldTable;
  readonly toolChoice: FieldTable;
}

/** An id names an item for requests that refer to it, and those are incompatible. A status is news of the past. */
const item: FieldTable = { type: carried, id: advisory, status: advisoryUnless('completed') };
/** Programs of the model that call tools run at OpenAI. */
const caller: FieldTable = { caller: essential({ type: 'direct' }) };
const part: FieldTable = { type: carried, prompt_cache_breakpoint: advisory };

const tool: FieldTable = {
  type: carried,
  name: carried,
  description: carried,
  // A deferred tool is found by a search; one that is always there needs none.
  defer_loading: advisoryUnless(false),
  async: essential(false),
  allowed_callers: essential(['direct'], ['direct', 'programmatic']),
};

/** What neither chat completions nor Messages say, or both do. */
export const requestFields = {
  model: carried,
  input: carried,
  instructions: carried,
  max_output_tokens: carried,
  parallel_tool_calls: carried,
  stream: carried,
  temperature: carried,
  text: carried,
  tool_choice: carried,
  tools: carried,
  top_p: carried,
  reasoning: carried,
  include: carried,
  stream_options: carried,
  // Nothing that refers back is accepted, so that a stored response would have no reader.
  store: advisoryUnless(false),
  metadata: advisoryUnless({}),
  client_metadata: advisory,
  prompt_cache_key: advisory,
  prompt_cache_options: advisory,
  prompt_cache_retention: advisory,
  service_tier: advisoryUnless('auto', 'default'),
  // Counts calls of hosted tools, and requests with those are incompatible.
  max_tool_calls: advisory,
  previous_response_id: essential(),
  conversation: essential(),
  background: essential(false),
  prompt: essential(),
  truncation: essential('disabled'),
  top_logprobs: essential(0),
  context_management: essential([]),
  moderation: essential(),
  access_programs: essential(),
  image: essential(),
} satisfies FieldTable;

export const sharedFields = {
  reasoning: {
    effort: carried,
    summary: advisory,
    generate_summary: advisory,
    // Which earlier reasoning the model reads again; only its own provider can decrypt that.
    context: advisory,
    mode: essential('standard'),
  },
  text: { format: carried, verbosity: carried },
  textFormat: { type: carried, name: carried, schema: carried, description: carried, strict: carried },
  streamOptions: { include_obfuscation: advisoryUnless(false) },
  message: { ...item, role: carried, content: carried, phase: advisory },
  functionCall: {
    ...item,
    ...caller,
    call_id: carried,
    name: carried,
    namespace: carried,
    arguments: carried,
    async: essential(false),
  },
  // `name` and `namespace` repeat those of the call.
  functionCallOutput: {
    ...item,
    ...caller,
    call_id: carried,
    output: carried,
    name: advisory,
    namespace: advisory,
  },
  customToolCall: {
    ...item,
    ...caller,
    call_id: carried,
    name: carried,
    namespace: carried,
    input: carried,
    async: essential(false),
  },
  customToolCallOutput: { ...item, ...caller, call_id: carried, output: carried, name: advisory },
  reasoningItem: { ...item, summary: carried, encrypted_content: carried, content: advisoryUnless([]) },
  summaryText: { type: carried, text: carried },
  additionalTools: { ...item, role: carried, tools: carried },
  inputText: { ...part, text: carried },
  outputText: { ...part, text: carried, annotations: advisoryUnless([]), logprobs: advisoryUnless([]) },
  refusal: { type: carried, refusal: carried },
  functionTool: { ...tool, parameters: carried, strict: carried, output_schema: advisory },
  customTool: { ...tool, format: carried },
  namespaceTool: { type: carried, name: carried, description: carried, tools: carried },
  toolChoice: { type: carried, name: carried, namespace: carried, mode: carried, tools: carried },
} satisfies Partial<ResponsesFields>;

/**
 * The kinds of tools. A hosted one runs at OpenAI, and an answer that should use it would be another one without it.
 *
 * `tool_search` loads tools that a request mentions but does not describe to the model. The tools that OpenAI would search are in the
 * request, and a translation offers all of them. Codex (0.166) runs the search itself and sends it only if tools of MCP servers or apps are
 * deferred; its instructions say "if `tool_search` is available", and its own tools are always there. So neither needs it.
 */
export const toolTypes = {
  function: carried,
  custom: carried,
  namespace: carried,
  tool_search: advisory,
  web_search: essential(),
  web_search_preview: essential(),
  file_search: essential(),
  code_interpreter: essential(),
  mcp: essential(),
  image_generation: essential(),
  computer_use_preview: essential(),
  local_shell: essential(),
  shell: essential(),
  apply_patch: essential(),
} satisfies FieldTable;

/** Parts whose treatment differs between the pairs. */
export const partFields = part;
