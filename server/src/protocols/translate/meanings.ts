import type { FieldRule, FieldTable } from './field-sorter.ts';
import { advisory, advisoryUnless, carried, essential } from './field-sorter.ts';
import { CARRIED_OF_CALL, CARRIED_OF_MESSAGE } from './readers/carried-members.ts';

/** What clients and providers of translations speak. Providers of Responses need none: they serve chat completions too. */
export type ClientProtocol = 'chat' | 'messages' | 'responses';
export type ProviderProtocol = 'chat' | 'messages';

/**
 * What a request can mean, where each protocol says it (`object.member`), and what becomes of it: one rule for each provider,
 * for every client.
 */
export interface Meaning {
  readonly chat?: string;
  readonly messages?: string;
  readonly responses?: string;
  readonly to: Partial<Record<ProviderProtocol, FieldRule>>;
}

type To = Meaning['to'];

const everywhere = (rule: FieldRule): To => ({ chat: rule, messages: rule });
const toChat = (rule: FieldRule): To => ({ chat: rule });
const toMessages = (rule: FieldRule): To => ({ messages: rule });

/** By client and kind of object: members that every pair carries, because a conversation consists of them. */
const STRUCTURE = {
  chat: {
    request:
      'model messages max_completion_tokens max_tokens stop stream stream_options temperature top_p tools tool_choice parallel_tool_calls response_format reasoning_effort',
    systemMessage: 'role content',
    userMessage: 'role content',
    assistantMessage: 'role content refusal tool_calls',
    toolMessage: 'role content tool_call_id',
    toolCall: 'id type function',
    calledFunction: 'name arguments',
    text: 'type text',
    refusal: 'type refusal',
    image: 'type image_url',
    imageUrl: 'url',
    filePart: 'type file',
    file: 'file_data filename',
    tool: 'type function',
    functionTool: 'name description parameters strict',
    toolChoice: 'type function allowed_tools',
    allowedTools: 'mode tools',
    namedFunction: 'name',
    responseFormat: 'type json_schema',
    jsonSchema: 'schema description strict',
    streamOptions: 'include_usage',
  },
  messages: {
    request:
      'model messages max_tokens system stop_sequences stream temperature top_p tools tool_choice thinking output_config context_management',
    message: 'role content',
    text: 'type text',
    image: 'type source',
    document: 'type source title context',
    base64Source: 'type media_type data',
    urlSource: 'type url',
    textSource: 'type media_type data',
    contentSource: 'type content',
    toolUse: 'type id name input',
    toolResult: 'type tool_use_id content is_error',
    toolReference: 'type tool_name',
    tool: 'type name description input_schema strict',
    toolChoice: 'type name disable_parallel_tool_use',
    thinking: 'type budget_tokens display',
    outputConfig: 'effort format',
    outputFormat: 'type schema',
    contextManagement: 'edits',
  },
  responses: {
    request:
      'model input instructions max_output_tokens parallel_tool_calls stream temperature text tool_choice tools top_p reasoning include stream_options',
    reasoning: 'effort',
    text: 'format',
    textFormat: 'type schema description strict',
    streamOptions: '',
    message: 'type role content',
    functionCall: 'type call_id name namespace arguments',
    functionCallOutput: 'type call_id output',
    customToolCall: 'type call_id name namespace input',
    customToolCallOutput: 'type call_id output',
    reasoningItem: 'type summary encrypted_content',
    summaryText: 'type text',
    additionalTools: 'type role tools',
    inputText: 'type text',
    outputText: 'type text',
    refusal: 'type refusal',
    inputImage: 'type image_url',
    inputFile: 'type file_data filename',
    inputAudio: 'type',
    functionTool: 'type name description parameters strict',
    customTool: 'type name description format',
    namespaceTool: 'type name description tools',
    toolChoice: 'type name namespace mode tools',
  },
} as const satisfies Record<ClientProtocol, Record<string, string>>;

export type ObjectsOf<Client extends ClientProtocol> = Readonly<
  Record<keyof (typeof STRUCTURE)[Client], FieldTable>
>;

/** All others. A field that is neither here nor above makes a candidate incompatible. */
const MEANINGS: readonly Meaning[] = [
  // Relay keeps no responses, and nothing that refers back to one is accepted.
  { chat: 'request.store', responses: 'request.store', to: everywhere(advisoryUnless(false)) },
  { responses: 'request.previous_response_id', to: everywhere(essential()) },
  { responses: 'request.conversation', to: everywhere(essential()) },
  { responses: 'request.background', to: everywhere(essential(false)) },
  { responses: 'request.prompt', to: everywhere(essential()) },

  // Who asks, and for the books of the provider.
  // Chat completions accept metadata only for what OpenAI stores, and Relay asks for no storing.
  {
    chat: 'request.metadata',
    messages: 'request.metadata',
    responses: 'request.metadata',
    to: everywhere(advisoryUnless({})),
  },
  { responses: 'request.client_metadata', to: everywhere(advisory) },
  // Many compatible providers reject these and what caches go by: they are sent where a preset says that they are accepted.
  { chat: 'request.user', responses: 'request.user', to: { chat: carried, messages: advisory } },
  {
    chat: 'request.safety_identifier',
    responses: 'request.safety_identifier',
    to: { chat: carried, messages: advisory },
  },
  { messages: 'request.diagnostics', to: toChat(advisory) },

  // Caches make an answer faster and cheaper, and not different.
  {
    chat: 'request.prompt_cache_key',
    responses: 'request.prompt_cache_key',
    to: { chat: carried, messages: advisory },
  },
  {
    chat: 'request.prompt_cache_retention',
    responses: 'request.prompt_cache_retention',
    to: { chat: carried, messages: advisory },
  },
  {
    chat: 'request.prompt_cache_options',
    responses: 'request.prompt_cache_options',
    to: { chat: carried, messages: advisory },
  },
  {
    chat: 'text.prompt_cache_breakpoint',
    responses: 'inputText.prompt_cache_breakpoint',
    to: everywhere(advisory),
  },
  {
    chat: 'image.prompt_cache_breakpoint',
    responses: 'inputImage.prompt_cache_breakpoint',
    to: everywhere(advisory),
  },
  {
    chat: 'filePart.prompt_cache_breakpoint',
    responses: 'inputFile.prompt_cache_breakpoint',
    to: everywhere(advisory),
  },
  { responses: 'outputText.prompt_cache_breakpoint', to: everywhere(advisory) },
  { responses: 'inputAudio.prompt_cache_breakpoint', to: everywhere(advisory) },
  { messages: 'request.cache_control', to: toChat(advisory) },
  // Clients of compatible gateways write what Messages have into a chat's parts.
  { chat: 'text.cache_control', messages: 'text.cache_control', to: { messages: carried, chat: advisory } },
  { chat: 'image.cache_control', messages: 'image.cache_control', to: { messages: carried, chat: advisory } },
  {
    chat: 'filePart.cache_control',
    messages: 'document.cache_control',
    to: { messages: carried, chat: advisory },
  },
  { chat: 'tool.cache_control', messages: 'tool.cache_control', to: { messages: carried, chat: advisory } },
  { messages: 'toolUse.cache_control', to: toChat(advisory) },
  { messages: 'toolResult.cache_control', to: toChat(advisory) },
  { messages: 'toolReference.cache_control', to: toChat(advisory) },
  // A guess at the answer, which makes it faster.
  { chat: 'request.prediction', to: toMessages(advisory) },

  // How an answer is made. A tier that the provider does not sell is left out and named.
  {
    chat: 'request.service_tier',
    messages: 'request.service_tier',
    responses: 'request.service_tier',
    to: everywhere(carried),
  },
  { messages: 'request.speed', to: toChat(essential('standard')) },
  { messages: 'request.inference_geo', to: toChat(essential()) },
  // Agents ask for a verbosity with every request. It steers the length and not what is said.
  {
    chat: 'request.verbosity',
    responses: 'text.verbosity',
    to: { chat: carried, messages: advisoryUnless('medium') },
  },
  // OpenAI promises to try, and no more.
  { chat: 'request.seed', to: toMessages(advisory) },
  { chat: 'request.frequency_penalty', to: toMessages(essential(0)) },
  { chat: 'request.presence_penalty', to: toMessages(essential(0)) },
  { chat: 'request.logit_bias', to: toMessages(essential({})) },
  { messages: 'request.top_k', to: toChat(essential()) },
  { responses: 'request.truncation', to: everywhere(essential('disabled')) },
  { responses: 'request.context_management', to: everywhere(essential([])) },
  { chat: 'request.moderation', responses: 'request.moderation', to: everywhere(essential()) },
  { responses: 'request.access_programs', to: everywhere(essential()) },

  // What an answer has.
  { chat: 'request.n', to: toMessages(essential(1)) },
  { chat: 'request.logprobs', to: toMessages(essential(false)) },
  {
    chat: 'request.top_logprobs',
    responses: 'request.top_logprobs',
    to: { chat: carried, messages: essential(0) },
  },
  { chat: 'request.modalities', to: toMessages(essential(['text'])) },
  { chat: 'request.audio', to: toMessages(essential()) },
  { responses: 'request.image', to: everywhere(essential()) },
  {
    chat: 'streamOptions.include_obfuscation',
    responses: 'streamOptions.include_obfuscation',
    to: everywhere(advisoryUnless(false)),
  },
  // The name of a schema is for the client's own eyes; chat completions require one.
  { chat: 'jsonSchema.name', responses: 'textFormat.name', to: { chat: carried, messages: advisory } },
  { responses: 'reasoning.summary', to: { chat: advisory, messages: carried } },
  { responses: 'reasoning.generate_summary', to: everywhere(advisory) },
  // Which earlier reasoning the model reads again; only its own provider can decrypt that.
  { responses: 'reasoning.context', to: everywhere(advisory) },
  { responses: 'reasoning.mode', to: everywhere(essential('standard')) },

  // What OpenAI's SDKs add to an answer when they parse it, and send back with the next request: it says again what stands beside it.
  {
    chat: 'calledFunction.parsed_arguments',
    responses: 'functionCall.parsed_arguments',
    to: everywhere(carried),
  },
  { chat: 'assistantMessage.parsed', responses: 'outputText.parsed', to: everywhere(carried) },

  // Tools.
  // An answer to these two has a shape of its own.
  { chat: 'request.functions', to: toMessages(essential([])) },
  { chat: 'request.function_call', to: toMessages(essential()) },
  { chat: 'request.web_search_options', to: toMessages(essential()) },
  { messages: 'request.container', to: toChat(essential()) },
  { messages: 'request.mcp_servers', to: toChat(essential([])) },
  // Counts calls of hosted tools, and requests with those are incompatible.
  { responses: 'request.max_tool_calls', to: everywhere(advisory) },
  // How finely the input is streamed.
  { messages: 'tool.eager_input_streaming', to: toChat(advisory) },
  // A deferred tool is found by a search. Sent from the beginning, it can be called as well; it only takes more of the prompt.
  {
    messages: 'tool.defer_loading',
    responses: 'functionTool.defer_loading',
    to: everywhere(advisoryUnless(false)),
  },
  { responses: 'customTool.defer_loading', to: everywhere(advisoryUnless(false)) },
  { responses: 'functionTool.async', to: everywhere(essential(false)) },
  { responses: 'customTool.async', to: everywhere(essential(false)) },
  { responses: 'functionTool.output_schema', to: everywhere(advisory) },
  // Programs of the model that call tools run at its provider.
  {
    messages: 'tool.allowed_callers',
    responses: 'functionTool.allowed_callers',
    to: everywhere(essential(['direct'], ['direct', 'programmatic'])),
  },
  {
    responses: 'customTool.allowed_callers',
    to: everywhere(essential(['direct'], ['direct', 'programmatic'])),
  },
  { messages: 'tool.input_examples', to: toChat(essential([])) },
  {
    messages: 'toolUse.caller',
    responses: 'functionCall.caller',
    to: everywhere(essential({ type: 'direct' })),
  },
  { responses: 'functionCallOutput.caller', to: everywhere(essential({ type: 'direct' })) },
  { responses: 'customToolCall.caller', to: everywhere(essential({ type: 'direct' })) },
  { responses: 'customToolCallOutput.caller', to: everywhere(essential({ type: 'direct' })) },
  { responses: 'functionCall.async', to: everywhere(essential(false)) },
  { responses: 'customToolCall.async', to: everywhere(essential(false)) },
  { messages: 'toolUse.toolset_name', to: toChat(essential()) },
  { messages: 'toolResult.toolset_name', to: toChat(essential()) },

  // Names of speakers within the conversation.
  { chat: 'systemMessage.name', to: toMessages(essential()) },
  { chat: 'userMessage.name', to: toMessages(essential()) },
  { chat: 'assistantMessage.name', to: toMessages(essential()) },
  // These repeat those of the call.
  { chat: 'toolMessage.name', responses: 'functionCallOutput.name', to: everywhere(advisory) },
  { responses: 'customToolCallOutput.name', to: everywhere(advisory) },
  { responses: 'functionCallOutput.namespace', to: everywhere(advisory) },
  { chat: 'toolCall.index', to: toMessages(advisory) },

  // What earlier answers had beside their words.
  { chat: 'assistantMessage.audio', to: toMessages(essential()) },
  { chat: 'assistantMessage.function_call', to: toMessages(essential()) },
  { chat: 'assistantMessage.reasoning_content', to: toMessages(advisory) },
  { chat: 'assistantMessage.reasoning', to: toMessages(advisory) },
  // Signatures of Gemini, LiteLLM and others, which only the provider that made them accepts.
  ...[...CARRIED_OF_MESSAGE].map(
    (name): Meaning => ({ chat: `assistantMessage.${name}`, to: toMessages(advisory) }),
  ),
  ...[...CARRIED_OF_CALL].map((name): Meaning => ({ chat: `toolCall.${name}`, to: toMessages(advisory) })),
  // Where an earlier answer took its words from. The words themselves are carried.
  {
    chat: 'assistantMessage.annotations',
    messages: 'text.citations',
    responses: 'outputText.annotations',
    to: everywhere(advisoryUnless([])),
  },
  { responses: 'outputText.logprobs', to: everywhere(advisoryUnless([])) },
  { responses: 'reasoningItem.content', to: everywhere(advisoryUnless([])) },
  { responses: 'message.phase', to: everywhere(advisory) },
  // An id names an item for requests that refer to it, and those are incompatible. A status is news of the past.
  ...[
    'message',
    'functionCall',
    'functionCallOutput',
    'customToolCall',
    'customToolCallOutput',
    'reasoningItem',
    'additionalTools',
  ].flatMap((item): readonly Meaning[] => [
    { responses: `${item}.id`, to: everywhere(advisory) },
    { responses: `${item}.status`, to: everywhere(advisoryUnless('completed')) },
  ]),

  // Images, files and sound.
  {
    chat: 'imageUrl.detail',
    responses: 'inputImage.detail',
    to: { chat: carried, messages: advisoryUnless('auto') },
  },
  { responses: 'inputImage.file_id', to: everywhere(essential()) },
  { messages: 'image.transformations', to: toChat(essential({}, { oversized_image: 'downsize' })) },
  { chat: 'file.file_id', responses: 'inputFile.file_id', to: everywhere(essential()) },
  { responses: 'inputFile.file_url', to: { chat: essential(), messages: carried } },
  { responses: 'inputFile.detail', to: everywhere(advisory) },
  { messages: 'document.citations', to: toChat(essential({}, { enabled: false })) },
  { responses: 'inputAudio.input_audio', to: { chat: carried, messages: essential() } },
];

/** What one pair does with each member of each kind of object. */
export function fieldsOf<Client extends ClientProtocol>(
  client: Client,
  provider: ProviderProtocol,
): ObjectsOf<Client> {
  const objects = Object.entries<string>(STRUCTURE[client]).map(([kind, names]): [string, FieldTable] => {
    const structure = names
      .split(' ')
      .filter(Boolean)
      .map((name): [string, FieldRule] => [name, carried]);
    const others = MEANINGS.flatMap((meaning): [string, FieldRule][] => {
      const [of, name] = meaning[client]?.split('.') ?? [];
      const rule = meaning.to[provider];
      return of === kind && name !== undefined && rule !== undefined ? [[name, rule]] : [];
    });
    return [kind, Object.fromEntries([...structure, ...others])];
  });
  return Object.fromEntries(objects) as ObjectsOf<Client>;
}
