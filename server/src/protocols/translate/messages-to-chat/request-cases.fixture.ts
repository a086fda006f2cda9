import type { JsonObject } from '../../../kit/json-value.ts';
import type { RequestOptions } from '../translation.ts';

export interface RequestCase {
  readonly name: string;
  /** Members beside those that every request of the table has. */
  readonly given: JsonObject;
  /** Members of the translated body beside those that every one has; null when the candidate is incompatible. */
  readonly wanted: JsonObject | null;
  readonly leftOut?: readonly string[];
  /** The field that makes it incompatible. */
  readonly field?: string;
  readonly options?: RequestOptions;
}

const CACHE = { cache_control: { type: 'ephemeral', ttl: '1h' } };
const HELLO = { role: 'user', content: 'Hello, Claude' };
const SCHEMA = {
  type: 'object',
  properties: { ticker: { type: 'string', description: 'The stock ticker symbol' } },
  required: ['ticker'],
};
const TOOL = { name: 'get_stock_price', description: 'The current price', input_schema: SCHEMA };
const FUNCTION = {
  type: 'function',
  function: { name: 'get_stock_price', description: 'The current price', parameters: SCHEMA },
};
const CALL = { type: 'tool_use', id: 'toolu_1', name: 'get_stock_price', input: { ticker: '^GSPC' } };
const CALLED = {
  id: 'toolu_1',
  type: 'function',
  function: { name: 'get_stock_price', arguments: '{"ticker":"^GSPC"}' },
};
const PNG = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgo=' } };
const PNG_PART = { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0KGgo=' } };
const PDF = { type: 'base64', media_type: 'application/pdf', data: 'JVBERi0xLjQ=' };

function user(...content: readonly unknown[]): JsonObject {
  return { messages: [{ role: 'user', content }] };
}

/** A call and what the user answers. */
function answered(...content: readonly unknown[]): JsonObject {
  return { messages: [HELLO, { role: 'assistant', content: [CALL] }, { role: 'user', content }] };
}

function afterCall(...messages: readonly JsonObject[]): JsonObject {
  return { messages: [HELLO, { role: 'assistant', content: null, tool_calls: [CALLED] }, ...messages] };
}

function result(content: unknown, more: JsonObject = {}): JsonObject {
  return { type: 'tool_result', tool_use_id: 'toolu_1', content, ...more };
}

function toolMessage(content: unknown): JsonObject {
  return { role: 'tool', tool_call_id: 'toolu_1', content };
}

const conversation: readonly RequestCase[] = [
  { name: 'a message of text', given: {}, wanted: {} },
  {
    name: 'several turns',
    given: { messages: [HELLO, { role: 'assistant', content: 'Hi.' }, { role: 'user', content: 'Why?' }] },
    wanted: { messages: [HELLO, { role: 'assistant', content: 'Hi.' }, { role: 'user', content: 'Why?' }] },
  },
  {
    name: 'one block of text is a string, as in the documentation',
    given: user({ type: 'text', text: 'Hello, Claude' }),
    wanted: {},
  },
  {
    name: 'several blocks of text stay apart',
    given: user({ type: 'text', text: 'a' }, { type: 'text', text: 'b' }),
    wanted: user({ type: 'text', text: 'a' }, { type: 'text', text: 'b' }),
  },
  {
    name: 'a system prompt is the first message',
    given: { system: 'Be brief.' },
    wanted: { messages: [{ role: 'system', content: 'Be brief.' }, HELLO] },
  },
  {
    name: 'a system prompt in blocks, with cache control',
    given: {
      system: [
        { type: 'text', text: 'Be brief.', ...CACHE },
        { type: 'text', text: 'Be kind.' },
      ],
    },
    wanted: {
      messages: [
        {
          role: 'system',
          content: [
            { type: 'text', text: 'Be brief.' },
            { type: 'text', text: 'Be kind.' },
          ],
        },
        HELLO,
      ],
    },
    leftOut: ['system[0].cache_control'],
  },
  {
    name: 'a system message in the conversation stays where it is',
    given: {
      messages: [HELLO, { role: 'system', content: [{ type: 'text', text: 'Now in French.', ...CACHE }] }],
    },
    wanted: { messages: [HELLO, { role: 'system', content: 'Now in French.' }] },
    leftOut: ['messages[1].content[0].cache_control'],
  },
  {
    name: 'earlier thinking is left out and named',
    given: {
      messages: [
        HELLO,
        {
          role: 'assistant',
          content: [
            { type: 'thinking', thinking: 'Hm.', signature: 'EqQB' },
            { type: 'redacted_thinking', data: 'EmwK' },
            { type: 'text', text: 'Hi.' },
          ],
        },
        HELLO,
      ],
    },
    wanted: { messages: [HELLO, { role: 'assistant', content: 'Hi.' }, HELLO] },
    leftOut: ['messages[1].content[0]', 'messages[1].content[1]'],
  },
  {
    name: 'a response of thinking alone is left out',
    given: {
      messages: [HELLO, { role: 'assistant', content: [{ type: 'redacted_thinking', data: 'EmwK' }] }, HELLO],
    },
    wanted: { messages: [HELLO, HELLO] },
    leftOut: ['messages[1].content[0]'],
  },
  {
    name: 'citations of an earlier response are left out and named',
    given: {
      messages: [
        HELLO,
        {
          role: 'assistant',
          content: [{ type: 'text', text: 'Green.', citations: [{ type: 'char_location' }] }],
        },
        HELLO,
      ],
    },
    wanted: { messages: [HELLO, { role: 'assistant', content: 'Green.' }, HELLO] },
    leftOut: ['messages[1].content[0].citations'],
  },
  {
    name: 'a prefilled response cannot be continued',
    given: { messages: [HELLO, { role: 'assistant', content: 'The best answer is (' }] },
    wanted: null,
    field: 'messages[1].role',
  },
  {
    name: 'an unknown member of a message',
    given: { messages: [{ ...HELLO, id: 'x' }] },
    wanted: null,
    field: 'messages[0].id',
  },
  {
    name: 'an unknown role',
    given: { messages: [{ role: 'critic', content: 'x' }] },
    wanted: null,
    field: 'messages[0].role',
  },
];

const content: readonly RequestCase[] = [
  { name: 'an image in base64', given: user(PNG), wanted: user(PNG_PART) },
  {
    name: 'an image by URL, with cache control',
    given: user({ type: 'image', source: { type: 'url', url: 'https://example.com/a.jpg' }, ...CACHE }),
    wanted: user({ type: 'image_url', image_url: { url: 'https://example.com/a.jpg' } }),
    leftOut: ['messages[0].content[0].cache_control'],
  },
  {
    name: 'an image by file id',
    given: user({ type: 'image', source: { type: 'file', file_id: 'file_1' } }),
    wanted: null,
    field: 'messages[0].content[0].source',
  },
  {
    name: 'an image that must not be scaled',
    given: user({ ...PNG, transformations: { oversized_image: 'error' } }),
    wanted: null,
    field: 'messages[0].content[0].transformations',
  },
  {
    name: 'an image that may be scaled, which is the default',
    given: user({ ...PNG, transformations: { oversized_image: 'downsize' } }),
    wanted: user(PNG_PART),
  },
  {
    name: 'a PDF is a file',
    given: user({ type: 'document', source: PDF }, { type: 'text', text: 'Summarize.' }),
    wanted: user(
      {
        type: 'file',
        file: { filename: 'document.pdf', file_data: 'data:application/pdf;base64,JVBERi0xLjQ=' },
      },
      { type: 'text', text: 'Summarize.' },
    ),
  },
  {
    name: 'the title of a PDF is its name, the context comes before it',
    given: user({ type: 'document', source: PDF, title: 'report.pdf', context: 'Confidential.' }),
    wanted: user(
      { type: 'text', text: 'Confidential.' },
      {
        type: 'file',
        file: { filename: 'report.pdf', file_data: 'data:application/pdf;base64,JVBERi0xLjQ=' },
      },
    ),
  },
  {
    name: 'a document of text is text',
    given: user({
      type: 'document',
      source: { type: 'text', media_type: 'text/plain', data: 'The grass is green.' },
      title: 'My document',
      context: 'Trustworthy.',
      citations: { enabled: false },
    }),
    wanted: user(
      { type: 'text', text: 'My document' },
      { type: 'text', text: 'Trustworthy.' },
      { type: 'text', text: 'The grass is green.' },
    ),
  },
  {
    name: 'a document of blocks is its blocks',
    given: user({
      type: 'document',
      source: { type: 'content', content: [{ type: 'text', text: 'a' }, PNG] },
    }),
    wanted: user({ type: 'text', text: 'a' }, PNG_PART),
  },
  {
    name: 'a document by URL',
    given: user({ type: 'document', source: { type: 'url', url: 'https://example.com/a.pdf' } }),
    wanted: null,
    field: 'messages[0].content[0].source',
  },
  {
    name: 'a document with citations',
    given: user({ type: 'document', source: PDF, citations: { enabled: true } }),
    wanted: null,
    field: 'messages[0].content[0].citations',
  },
  {
    name: 'a search result',
    given: user({ type: 'search_result', source: 'https://example.com', title: 't', content: [] }),
    wanted: null,
    field: 'messages[0].content[0].type',
  },
];

const toolResults: readonly RequestCase[] = [
  {
    name: 'a result of a tool',
    given: answered(result('259.75 USD')),
    wanted: afterCall(toolMessage('259.75 USD')),
  },
  {
    name: 'a result without content',
    given: answered({ type: 'tool_result', tool_use_id: 'toolu_1' }),
    wanted: afterCall(toolMessage('')),
  },
  {
    name: 'a result in blocks, with cache control inside and outside',
    given: answered(
      result(
        [
          { type: 'text', text: 'a', ...CACHE },
          { type: 'text', text: 'b' },
        ],
        CACHE,
      ),
    ),
    wanted: afterCall(
      toolMessage([
        { type: 'text', text: 'a' },
        { type: 'text', text: 'b' },
      ]),
    ),
    leftOut: ['messages[2].content[0].cache_control', 'messages[2].content[0].content[0].cache_control'],
  },
  {
    name: 'a failed call says so in text',
    given: answered(result('ConnectionError', { is_error: true })),
    wanted: afterCall(
      toolMessage([
        { type: 'text', text: 'Error:' },
        { type: 'text', text: 'ConnectionError' },
      ]),
    ),
  },
  {
    name: 'a call that did not fail',
    given: answered(result('15', { is_error: false })),
    wanted: afterCall(toolMessage('15')),
  },
  {
    name: 'what the user says beside a result follows it',
    given: answered({ type: 'text', text: 'Go on.' }, result('15')),
    wanted: afterCall(toolMessage('15'), { role: 'user', content: 'Go on.' }),
  },
  {
    name: 'an image in a result follows it under the id of the call',
    given: answered(result([{ type: 'text', text: 'Seen:' }, PNG])),
    wanted: afterCall(toolMessage('Seen:'), {
      role: 'user',
      content: [{ type: 'text', text: 'Content of the result of tool call toolu_1:' }, PNG_PART],
    }),
  },
  {
    name: 'a reference to a tool in a result',
    given: answered(result([{ type: 'tool_reference', tool_name: 'x' }])),
    wanted: afterCall(toolMessage('The tool x can be called.')),
  },
  {
    name: 'parallel calls beside text, and their results',
    given: {
      messages: [
        HELLO,
        {
          role: 'assistant',
          content: [
            { type: 'text', text: 'Both.' },
            CALL,
            { ...CALL, id: 'toolu_2', caller: { type: 'direct' } },
          ],
        },
        { role: 'user', content: [result('1'), { ...result('2'), tool_use_id: 'toolu_2' }] },
      ],
    },
    wanted: {
      messages: [
        HELLO,
        { role: 'assistant', content: 'Both.', tool_calls: [CALLED, { ...CALLED, id: 'toolu_2' }] },
        toolMessage('1'),
        { ...toolMessage('2'), tool_call_id: 'toolu_2' },
      ],
    },
  },
  {
    name: 'a call that the code of another tool made',
    given: {
      messages: [
        HELLO,
        {
          role: 'assistant',
          content: [{ ...CALL, caller: { type: 'code_execution_20260120', tool_id: 'x' } }],
        },
        { role: 'user', content: [result('1')] },
      ],
    },
    wanted: null,
    field: 'messages[1].content[0].caller',
  },
  {
    name: 'a call of the provider’s own tool',
    given: {
      messages: [
        HELLO,
        { role: 'assistant', content: [{ type: 'server_tool_use', id: 'x', name: 'web_search', input: {} }] },
        HELLO,
      ],
    },
    wanted: null,
    field: 'messages[1].content[0].type',
  },
];

export const messageCases: readonly RequestCase[] = [...conversation, ...content, ...toolResults];
export { CACHE, FUNCTION, SCHEMA, TOOL };
