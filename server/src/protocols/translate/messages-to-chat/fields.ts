import { advisory, advisoryUnless, carried, essential, type FieldTable } from '../field-sorter.ts';

const cached: FieldTable = { cache_control: advisory };

/**
 * Every field of a Messages request, for a provider that speaks chat completions. A field without a row is essential.
 * https://platform.claude.com/docs/en/api/messages
 */
export const messagesToChatFields = {
  request: {
    model: carried,
    messages: carried,
    max_tokens: carried,
    system: carried,
    stop_sequences: carried,
    stream: carried,
    temperature: carried,
    top_p: carried,
    tools: carried,
    tool_choice: carried,
    thinking: carried,
    output_config: carried,
    service_tier: carried,
    context_management: carried,
    metadata: advisory,
    cache_control: advisory,
    // Asks why a prompt was not found in a cache.
    diagnostics: advisory,
    top_k: essential(),
    container: essential(),
    inference_geo: essential(),
    mcp_servers: essential([]),
    speed: essential('standard'),
  },
  message: { role: carried, content: carried },
  text: {
    ...cached,
    type: carried,
    text: carried,
    // Where an earlier answer took its words from. The words themselves are carried.
    citations: advisory,
  },
  image: {
    ...cached,
    type: carried,
    source: carried,
    transformations: essential({}, { oversized_image: 'downsize' }),
  },
  document: {
    ...cached,
    type: carried,
    source: carried,
    title: carried,
    context: carried,
    citations: essential({}, { enabled: false }),
  },
  base64Source: { type: carried, media_type: carried, data: carried },
  urlSource: { type: carried, url: carried },
  textSource: { type: carried, media_type: carried, data: carried },
  contentSource: { type: carried, content: carried },
  toolUse: {
    ...cached,
    type: carried,
    id: carried,
    name: carried,
    input: carried,
    caller: essential({ type: 'direct' }),
    toolset_name: essential(),
  },
  toolResult: {
    ...cached,
    type: carried,
    tool_use_id: carried,
    content: carried,
    is_error: carried,
    toolset_name: essential(),
  },
  toolReference: { ...cached, type: carried, tool_name: carried },
  tool: {
    ...cached,
    type: carried,
    name: carried,
    description: carried,
    input_schema: carried,
    strict: carried,
    // How finely the input is streamed.
    eager_input_streaming: advisory,
    // Sent from the beginning, it can be called as well; it only takes more of the prompt.
    defer_loading: advisoryUnless(false),
    allowed_callers: essential(['direct']),
    input_examples: essential([]),
  },
  toolChoice: { type: carried, name: carried, disable_parallel_tool_use: carried },
  thinking: { type: carried, budget_tokens: carried, display: carried },
  outputConfig: { effort: carried, format: carried },
  outputFormat: { type: carried, schema: carried },
  contextManagement: { edits: carried },
} satisfies Record<string, FieldTable>;
