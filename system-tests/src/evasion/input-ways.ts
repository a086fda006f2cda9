import { DATA_TEXT, hidesInput, INPUT, json, SOLID, TEXT, type Way } from './way.ts';

const user = (content: unknown) => ({ role: 'user', content });
const asks = (content: unknown) => ({ messages: [user(content)] });
const small = asks('Go on.');
const tool = (parameters: object, description = 'x') => ({
  tools: [{ type: 'function', function: { name: 'look', description, parameters } }],
});
const url = `data:image/png;base64,${SOLID}`;
const source = (over: object = {}) => ({ type: 'base64', media_type: 'image/png', data: SOLID, ...over });
const many = (value: unknown) => Array(INPUT).fill(value);
const document = (data: string) => `data:text/plain;base64,${Buffer.from(data).toString('base64')}`;

const chat: readonly Way[] = [
  hidesInput('chat', 'a prompt that begins like a data URL', asks(DATA_TEXT)),
  hidesInput('chat', 'a prompt that is a data URL', asks(url)),
  hidesInput('chat', 'a part of text that is a data URL', asks([{ type: 'text', text: url }])),
  hidesInput('chat', 'a system message', {
    messages: [{ role: 'system', content: DATA_TEXT }, user('Go on.')],
  }),
  hidesInput(
    'chat',
    'the detail of an image',
    asks([{ type: 'image_url', image_url: { url: 'https://x.test/a.png', detail: url } }]),
  ),
  hidesInput(
    'chat',
    'a file of text',
    asks([{ type: 'file', file: { filename: 'a.txt', file_data: document(TEXT) } }]),
  ),
  hidesInput('chat', 'a file that is not base64', asks([{ type: 'file', file: { file_data: DATA_TEXT } }])),
  hidesInput('chat', 'the description of a tool', { ...small, ...tool({ type: 'object' }, DATA_TEXT) }),
  hidesInput('chat', 'an image in the schema of a tool', { ...small, ...tool({ image_url: { url } }) }),
  hidesInput('chat', 'long numbers in the schema of a tool', { ...small, ...tool({ minimum: 1 }) }),
  hidesInput('chat', 'literals in the schema of a tool', { ...small, ...tool({ enum: many(true) }) }),
  hidesInput('chat', 'empty lists in the schema of a tool', { ...small, ...tool({ enum: many([]) }) }),
  hidesInput('chat', 'letters in the schema of a tool', { ...small, ...tool({ enum: many('a') }) }),
  hidesInput('chat', 'older functions', { ...small, functions: [{ name: 'f', description: DATA_TEXT }] }),
  hidesInput('chat', 'the arguments of an earlier call', {
    messages: [
      user('Go on.'),
      {
        role: 'assistant',
        content: null,
        tool_calls: [
          { id: 'c', type: 'function', function: { name: 'f', arguments: json({ image_url: url }) } },
        ],
      },
      { role: 'tool', tool_call_id: 'c', content: 'x' },
    ],
  }),
  // What a client predicts and the model does not write is charged as output besides.
  hidesInput(
    'chat',
    'a prediction',
    { ...small, prediction: { type: 'content', content: TEXT } },
    { output: INPUT },
  ),
  hidesInput('chat', 'documents of a template', { ...small, documents: [{ text: TEXT }] }),
  hidesInput('chat', 'a member that Relay does not know', { ...small, invented: TEXT }),
  hidesInput('chat', 'many small members that Relay does not know', {
    ...small,
    ...Object.fromEntries(
      Array.from({ length: 500 }, (_, index) => [`invented_${index}`, 'word '.repeat(8)]),
    ),
  }),
  hidesInput('chat', 'messages in capitals', { ...small, MESSAGES: [user(TEXT)] }),
].map((way) =>
  way.name.includes('long numbers')
    ? { ...way, members: way.members.replace('"minimum":1', `"minimum":${'1'.repeat(INPUT * 4)}`) }
    : way,
);

const responses: readonly Way[] = [
  hidesInput('responses', 'a prompt that begins like a data URL', { input: DATA_TEXT }),
  hidesInput('responses', 'instructions', { input: 'Go on.', instructions: DATA_TEXT }),
  hidesInput('responses', 'a part of text', { input: [user([{ type: 'input_text', text: url }])] }),
  hidesInput('responses', 'the result of a tool', {
    input: [
      { type: 'function_call', call_id: 'c', name: 'f', arguments: '{}' },
      { type: 'function_call_output', call_id: 'c', output: DATA_TEXT },
    ],
  }),
  hidesInput('responses', 'a file of text', {
    input: [user([{ type: 'input_file', filename: 'a.txt', file_data: document(TEXT) }])],
  }),
  hidesInput('responses', 'a tool', {
    input: 'Go on.',
    tools: [{ type: 'function', name: 'f', description: DATA_TEXT, parameters: {} }],
  }),
  hidesInput(
    'responses',
    'an earlier response',
    { input: 'Go on.', previous_response_id: 'resp_1' },
    { learned: 4 },
  ),
];

const messages: readonly Way[] = [
  hidesInput('messages', 'a prompt that begins like a data URL', asks(DATA_TEXT)),
  hidesInput('messages', 'the system prompt', { ...small, system: DATA_TEXT }),
  hidesInput('messages', 'blocks of the system prompt', { ...small, system: [{ type: 'text', text: url }] }),
  hidesInput(
    'messages',
    'a document of text without spaces',
    asks([{ type: 'document', source: source({ type: 'text', media_type: 'text/plain' }) }]),
  ),
  hidesInput('messages', 'a tool', {
    ...small,
    tools: [{ name: 'f', description: 'x', input_schema: { type: 'object', source: source() } }],
  }),
  ...[
    ['a source in the input of a tool', { source: source() }],
    ['literals in the input of a tool', { a: many(false) }],
    ['empty objects in the input of a tool', { a: many({}) }],
  ].map(([what, input]) =>
    hidesInput('messages', String(what), {
      messages: [
        user('Go on.'),
        { role: 'assistant', content: [{ type: 'tool_use', id: 't', name: 'f', input }] },
        user([{ type: 'tool_result', tool_use_id: 't', content: 'x' }]),
      ],
    }),
  ),
];

const embeddings: readonly Way[] = [
  hidesInput('embeddings', 'a text that begins like a data URL', { input: DATA_TEXT }),
  hidesInput('embeddings', 'texts that are data URLs', { input: [url] }),
  hidesInput('embeddings', 'token ids', { input: many(1) }),
  hidesInput('embeddings', 'lists of token ids', { input: [many(1)] }),
];

/** What is translated on its way counts as it came. */
const translated: readonly Way[] = [
  hidesInput('chat', 'a prompt, translated', asks(DATA_TEXT), { through: 'anthropic' }),
  hidesInput(
    'chat',
    'a tool, translated',
    { ...small, ...tool({ type: 'object' }, DATA_TEXT) },
    { through: 'anthropic' },
  ),
  hidesInput(
    'responses',
    'instructions, translated',
    { input: 'Go on.', instructions: DATA_TEXT },
    { through: 'anthropic' },
  ),
  hidesInput('messages', 'a prompt, translated', asks(DATA_TEXT), { through: 'openai' }),
  hidesInput(
    'messages',
    'the system prompt, translated',
    { ...small, system: DATA_TEXT },
    { through: 'openai' },
  ),
];

export const inputWays: readonly Way[] = [...chat, ...responses, ...messages, ...embeddings, ...translated];
