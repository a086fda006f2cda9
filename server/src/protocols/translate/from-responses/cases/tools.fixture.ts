import { shortName } from '../../tool-names.ts';
import { both, type RequestCase, refused } from './request-case.fixture.ts';

const parameters = { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] };
const read = { type: 'function', name: 'read', description: 'Reads.', parameters, strict: false };
const closed = { ...parameters, additionalProperties: false };
const chatRead = { type: 'function', function: { name: 'read', description: 'Reads.', parameters } };
const messagesRead = { name: 'read', description: 'Reads.', input_schema: parameters };
const strictRead = {
  chat: {
    says: {
      tools: [{ type: 'function', function: { ...chatRead.function, parameters: closed, strict: true } }],
    },
  },
  messages: { says: { tools: [{ ...messagesRead, input_schema: closed, strict: true }] } },
};
const list = { type: 'function', name: 'list', parameters: null, strict: null };
const chatList = { type: 'function', function: { name: 'list' } };
const messagesList = { name: 'list', input_schema: { type: 'object', properties: {} } };
const one = {
  type: 'object',
  properties: { input: { type: 'string', description: 'The whole input of the tool, as text.' } },
  required: ['input'],
  additionalProperties: false,
};
const grammar = { type: 'grammar', syntax: 'lark', definition: 'start: "a"' };
const withGrammar = 'Edits.\n\nThe input follows this lark grammar:\nstart: "a"';
const edit = { type: 'custom', name: 'edit', description: 'Edits.', format: grammar };

function functions(
  ...list: readonly (readonly [name: string, description: string | undefined, schema: unknown])[]
) {
  return {
    chat: list.map(([name, description, schema]) => ({
      type: 'function',
      function: { name, ...(description === undefined ? {} : { description }), parameters: schema },
    })),
    messages: list.map(([name, description, schema]) => ({
      name,
      ...(description === undefined ? {} : { description }),
      input_schema: schema,
    })),
  };
}

const edits = functions(['edit', withGrammar, one]);
const spaces = functions(
  ['agents__spawn', 'Spawns.\n\nTools named agents__*: Sub-agents.', parameters],
  ['agents__tell', undefined, one],
);
const long = functions([`${'n'.repeat(40)}__${'t'.repeat(13)}_ed368029`, undefined, parameters]);

/** Tools and the choice among them. */
export const toolCases: readonly RequestCase[] = [
  {
    name: 'functions',
    request: { tools: [read, list] },
    chat: { says: { tools: [chatRead, chatList] } },
    messages: { says: { tools: [messagesRead, messagesList] } },
  },
  {
    name: 'a strict function',
    request: { tools: [{ ...read, parameters: closed, strict: true }] },
    ...strictRead,
  },
  {
    name: 'a function is strict when the client does not say otherwise',
    request: { tools: [{ ...read, parameters: closed, strict: null }] },
    ...strictRead,
  },
  {
    name: 'a function that cannot be strict is named, whether the client asked for it or not',
    request: {
      tools: [
        { ...read, strict: undefined },
        { ...read, name: 'other', strict: true },
      ],
    },
    chat: {
      says: {
        tools: [chatRead, { type: 'function', function: { ...chatRead.function, name: 'other' } }],
      },
      leftOut: ['tools[0].strict', 'tools[1].strict'],
    },
    messages: {
      says: { tools: [messagesRead, { ...messagesRead, name: 'other' }] },
      leftOut: ['tools[0].strict', 'tools[1].strict'],
    },
  },
  {
    name: 'an optional property under a strict schema',
    request: { tools: [{ ...read, parameters: { ...closed, required: [] }, strict: true }] },
    chat: {
      says: {
        tools: [
          { type: 'function', function: { ...chatRead.function, parameters: { ...closed, required: [] } } },
        ],
      },
      leftOut: ['tools[0].strict'],
    },
    messages: {
      says: { tools: [{ ...messagesRead, input_schema: { ...closed, required: [] } }] },
      leftOut: ['tools[0].strict'],
    },
  },
  {
    name: 'more strict functions than Messages accept',
    request: {
      tools: Array.from({ length: 22 }, (_, at) => ({
        ...read,
        name: `f${at}`,
        parameters: closed,
        strict: true,
      })),
    },
    chat: {
      says: {
        tools: Array.from({ length: 22 }, (_, at) => ({
          type: 'function',
          function: { ...chatRead.function, name: `f${at}`, parameters: closed, strict: true },
        })),
      },
    },
    messages: {
      says: {
        tools: Array.from({ length: 22 }, (_, at) => ({
          ...messagesRead,
          name: `f${at}`,
          input_schema: closed,
          ...(at < 20 ? { strict: true } : {}),
        })),
      },
      leftOut: ['tools[20].strict', 'tools[21].strict'],
    },
  },
  {
    name: 'a name of more than 64 characters is shortened',
    request: { tools: [{ ...read, name: 'x'.repeat(80) }] },
    chat: {
      says: {
        tools: [{ type: 'function', function: { ...chatRead.function, name: shortName('x'.repeat(80)) } }],
      },
    },
    messages: { says: { tools: [{ ...messagesRead, name: shortName('x'.repeat(80)) }] } },
  },
  {
    name: 'parameters without a type',
    request: { tools: [{ ...read, parameters: { properties: {} } }] },
    chat: {
      says: {
        tools: [{ type: 'function', function: { ...chatRead.function, parameters: { properties: {} } } }],
      },
    },
    messages: { says: { tools: [{ ...messagesRead, input_schema: { type: 'object', properties: {} } }] } },
  },
  {
    name: 'parameters that are no object',
    request: { tools: [{ ...read, parameters: { type: 'string' } }] },
    chat: {
      says: {
        tools: [{ type: 'function', function: { ...chatRead.function, parameters: { type: 'string' } } }],
      },
    },
    messages: { refused: 'tools[0].parameters.type' },
  },
  {
    name: 'what is said about a function besides',
    request: {
      tools: [{ ...read, output_schema: {}, defer_loading: true, allowed_callers: ['direct'], async: false }],
    },
    chat: { says: { tools: [chatRead] }, leftOut: ['tools[0].output_schema', 'tools[0].defer_loading'] },
    messages: {
      says: { tools: [messagesRead] },
      leftOut: ['tools[0].output_schema', 'tools[0].defer_loading'],
    },
  },
  {
    name: 'a function for programs of the model alone',
    request: { tools: [{ ...read, allowed_callers: ['programmatic'] }] },
    ...refused('tools[0].allowed_callers'),
  },
  {
    name: 'a function that answers later',
    request: { tools: [{ ...read, async: true }] },
    ...refused('tools[0].async'),
  },
  {
    name: 'an unknown member of a function',
    request: { tools: [{ ...read, cost: 1 }] },
    ...refused('tools[0].cost'),
  },
  {
    name: 'a function without a name',
    request: { tools: [{ type: 'function' }] },
    ...refused('tools[0].name'),
  },
  { name: 'two functions of one name', request: { tools: [read, read] }, ...refused('tools[1].name') },
  {
    name: 'a custom tool that takes any text',
    request: { tools: [{ type: 'custom', name: 'edit', format: { type: 'text' } }] },
    chat: { says: { tools: functions(['edit', undefined, one]).chat } },
    messages: { says: { tools: functions(['edit', undefined, one]).messages } },
  },
  {
    name: 'a custom tool with a grammar, which the model reads',
    request: { tools: [edit] },
    chat: { says: { tools: edits.chat }, leftOut: ['tools[0].format'] },
    messages: { says: { tools: edits.messages }, leftOut: ['tools[0].format'] },
  },
  {
    name: 'a custom tool with an unknown format',
    request: { tools: [{ ...edit, format: { type: 'xml' } }] },
    ...refused('tools[0].format'),
  },
  {
    name: 'a namespace',
    request: {
      tools: [
        {
          type: 'namespace',
          name: 'agents',
          description: 'Sub-agents.',
          tools: [
            { type: 'function', name: 'spawn', description: 'Spawns.', parameters, strict: false },
            { type: 'custom', name: 'tell' },
          ],
        },
      ],
    },
    chat: { says: { tools: spaces.chat } },
    messages: { says: { tools: spaces.messages } },
  },
  {
    name: 'a namespace whose names together are too long',
    request: {
      tools: [
        {
          type: 'namespace',
          name: 'n'.repeat(40),
          description: '',
          tools: [{ type: 'function', name: 't'.repeat(40), parameters, strict: false }],
        },
      ],
    },
    chat: { says: { tools: long.chat } },
    messages: { says: { tools: long.messages } },
  },
  {
    name: 'tools that an item of the input adds',
    request: {
      tools: [read],
      input: [
        { type: 'additional_tools', role: 'developer', tools: [edit] },
        { role: 'user', content: 'Hi' },
      ],
    },
    chat: { says: { tools: [chatRead, ...edits.chat] }, leftOut: ['input[0].tools[0].format'] },
    messages: { says: { tools: [messagesRead, ...edits.messages] }, leftOut: ['input[0].tools[0].format'] },
  },
  ...[
    'web_search',
    'web_search_preview',
    'file_search',
    'code_interpreter',
    'mcp',
    'image_generation',
    'computer_use_preview',
    'local_shell',
    'shell',
    'apply_patch',
  ].map(
    (type): RequestCase => ({
      name: `the hosted tool ${type}`,
      request: { tools: [read, { type }] },
      ...refused('tools[1].type'),
    }),
  ),
  {
    name: 'a search for tools, which needs none that are there',
    request: { tools: [read, { type: 'tool_search', execution: 'client', description: 'x', parameters }] },
    chat: { says: { tools: [chatRead] }, leftOut: ['tools[1].tool_search'] },
    messages: { says: { tools: [messagesRead] }, leftOut: ['tools[1].tool_search'] },
  },
  {
    name: 'no tools, for which there is no choice',
    request: { tools: [], tool_choice: 'auto', parallel_tool_calls: false },
    ...both({ says: {} }),
  },
  {
    name: 'a call that is required, of no tools',
    request: { tool_choice: 'required' },
    ...refused('tool_choice'),
  },
  {
    name: 'a free choice with parallel calls',
    request: { tools: [read], tool_choice: 'auto', parallel_tool_calls: true },
    chat: { says: { tools: [chatRead], tool_choice: 'auto' } },
    messages: { says: { tools: [messagesRead] } },
  },
  {
    name: 'one call at a time',
    request: { tools: [read], parallel_tool_calls: false },
    chat: { says: { tools: [chatRead], parallel_tool_calls: false } },
    messages: {
      says: { tools: [messagesRead], tool_choice: { type: 'auto', disable_parallel_tool_use: true } },
    },
  },
  {
    name: 'no call',
    request: { tools: [read], tool_choice: 'none', parallel_tool_calls: false },
    chat: { says: { tools: [chatRead], tool_choice: 'none', parallel_tool_calls: false } },
    messages: {
      says: { tools: [messagesRead], tool_choice: { type: 'none' } },
      leftOut: ['parallel_tool_calls'],
    },
  },
  {
    name: 'any call',
    request: { tools: [read], tool_choice: 'required' },
    chat: { says: { tools: [chatRead], tool_choice: 'required' } },
    messages: { says: { tools: [messagesRead], tool_choice: { type: 'any' } } },
  },
  {
    name: 'a call of one function, before which Messages do not think',
    request: {
      tools: [read, edit],
      tool_choice: { type: 'custom', name: 'edit' },
      reasoning: { effort: 'low', summary: 'auto' },
    },
    chat: {
      says: {
        tools: [chatRead, ...edits.chat],
        tool_choice: { type: 'function', function: { name: 'edit' } },
        reasoning_effort: 'low',
      },
      leftOut: ['reasoning.summary', 'tools[1].format'],
    },
    messages: {
      says: {
        tools: [messagesRead, ...edits.messages],
        tool_choice: { type: 'tool', name: 'edit' },
        output_config: { effort: 'low' },
      },
      leftOut: ['tools[1].format', 'reasoning.summary'],
    },
  },
  {
    name: 'a choice among some tools',
    request: {
      tools: [read, list],
      tool_choice: { type: 'allowed_tools', mode: 'required', tools: [{ type: 'function', name: 'list' }] },
    },
    chat: { says: { tools: [chatList], tool_choice: 'required' }, leftOut: ['tools[0]'] },
    messages: { says: { tools: [messagesList], tool_choice: { type: 'any' } }, leftOut: ['tools[0]'] },
  },
  {
    name: 'a choice among hosted tools',
    request: {
      tools: [read],
      tool_choice: { type: 'allowed_tools', mode: 'auto', tools: [{ type: 'mcp' }] },
    },
    ...refused('tool_choice.tools[0]'),
  },
  {
    name: 'the choice of a hosted tool',
    request: { tools: [read], tool_choice: { type: 'file_search' } },
    ...refused('tool_choice.type'),
  },
  { name: 'an unknown choice', request: { tools: [read], tool_choice: 'maybe' }, ...refused('tool_choice') },
];
