import { both, type RequestCase, refused } from './request-case.fixture.ts';

const PIXEL = 'data:image/png;base64,iVBORw0KGgo=';
const user = { role: 'user', content: 'Hi' };
const call = { type: 'function_call', call_id: 'a', name: 'view', arguments: '{}' };
const chatCall = { id: 'a', type: 'function', function: { name: 'view', arguments: '{}' } };
const use = { type: 'tool_use', id: 'a', name: 'view', input: {} };
const patch = '*** Begin Patch\n*** Delete File: a\n*** End Patch\n';
const output = { type: 'function_call_output', call_id: 'a', output: 'ok' };

function input(...items: readonly unknown[]): { readonly input: readonly unknown[] } {
  return { input: items };
}

/** What the tail of a chat and of Messages is after one call. */
function after(
  chat: readonly unknown[],
  messages: readonly unknown[],
): Pick<RequestCase, 'chat' | 'messages'> {
  return {
    chat: {
      says: { messages: [user, { role: 'assistant', content: null, tool_calls: [chatCall] }, ...chat] },
    },
    messages: { says: { messages: [user, { role: 'assistant', content: [use] }, ...messages] } },
  };
}

/** Calls, results and reasoning in the input. */
export const callCases: readonly RequestCase[] = [
  {
    name: 'a result in parts',
    request: input(user, call, {
      type: 'function_call_output',
      call_id: 'a',
      output: [
        { type: 'input_text', text: 'One.' },
        { type: 'input_text', text: 'Two.' },
      ],
    }),
    ...after(
      [{ role: 'tool', tool_call_id: 'a', content: 'One.\n\nTwo.' }],
      [
        {
          role: 'user',
          content: [
            {
              type: 'tool_result',
              tool_use_id: 'a',
              content: [
                { type: 'text', text: 'One.' },
                { type: 'text', text: 'Two.' },
              ],
            },
          ],
        },
      ],
    ),
  },
  {
    name: 'an image as a result, which a chat has in the next message',
    request: input(user, call, {
      type: 'function_call_output',
      call_id: 'a',
      output: [{ type: 'input_image', image_url: PIXEL }],
    }),
    ...after(
      [
        { role: 'tool', tool_call_id: 'a', content: '' },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'Content of the result of tool call a:' },
            { type: 'image_url', image_url: { url: PIXEL } },
          ],
        },
      ],
      [
        {
          role: 'user',
          content: [
            {
              type: 'tool_result',
              tool_use_id: 'a',
              content: [
                { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgo=' } },
              ],
            },
          ],
        },
      ],
    ),
  },
  {
    name: 'ids that Messages do not take',
    request: input(
      user,
      { ...call, call_id: 'functions.view:0' },
      { ...output, call_id: 'functions.view:0' },
    ),
    chat: {
      says: {
        messages: [
          user,
          { role: 'assistant', content: null, tool_calls: [{ ...chatCall, id: 'functions.view:0' }] },
          { role: 'tool', tool_call_id: 'functions.view:0', content: 'ok' },
        ],
      },
    },
    messages: {
      says: {
        messages: [
          user,
          { role: 'assistant', content: [{ ...use, id: 'functions_2eview_3a0' }] },
          {
            role: 'user',
            content: [{ type: 'tool_result', tool_use_id: 'functions_2eview_3a0', content: 'ok' }],
          },
        ],
      },
    },
  },
  {
    name: 'arguments that are not JSON stay in the words of the model',
    request: input(user, { ...call, arguments: '{"path":' }, output),
    chat: {
      says: {
        messages: [
          user,
          {
            role: 'assistant',
            content: null,
            tool_calls: [{ ...chatCall, function: { name: 'view', arguments: '{"path":' } }],
          },
          { role: 'tool', tool_call_id: 'a', content: 'ok' },
        ],
      },
    },
    messages: {
      says: {
        messages: [
          user,
          { role: 'assistant', content: [{ ...use, input: { arguments: '{"path":' } }] },
          { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a', content: 'ok' }] },
        ],
      },
      leftOut: ['input[1].arguments (no JSON object: wrapped in one)'],
    },
  },
  {
    name: 'a call in a namespace',
    request: input(user, { ...call, namespace: 'files' }, output),
    chat: {
      says: {
        messages: [
          user,
          {
            role: 'assistant',
            content: null,
            tool_calls: [{ ...chatCall, function: { name: 'files__view', arguments: '{}' } }],
          },
          { role: 'tool', tool_call_id: 'a', content: 'ok' },
        ],
      },
    },
    messages: {
      says: {
        messages: [
          user,
          { role: 'assistant', content: [{ ...use, name: 'files__view' }] },
          { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a', content: 'ok' }] },
        ],
      },
    },
  },
  {
    name: 'a custom call is a function with one string',
    request: input(
      user,
      { type: 'custom_tool_call', call_id: 'p', name: 'apply_patch', input: patch, status: 'completed' },
      { type: 'custom_tool_call_output', call_id: 'p', output: 'Done.' },
    ),
    chat: {
      says: {
        messages: [
          user,
          {
            role: 'assistant',
            content: null,
            tool_calls: [
              {
                id: 'p',
                type: 'function',
                function: { name: 'apply_patch', arguments: JSON.stringify({ input: patch }) },
              },
            ],
          },
          { role: 'tool', tool_call_id: 'p', content: 'Done.' },
        ],
      },
    },
    messages: {
      says: {
        messages: [
          user,
          {
            role: 'assistant',
            content: [{ type: 'tool_use', id: 'p', name: 'apply_patch', input: { input: patch } }],
          },
          { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'p', content: 'Done.' }] },
        ],
      },
    },
  },
  {
    name: 'the name that a result repeats',
    request: input(user, call, { ...output, name: 'view', id: 'fco_1', status: 'incomplete' }),
    chat: {
      says: {
        messages: [
          user,
          { role: 'assistant', content: null, tool_calls: [chatCall] },
          { role: 'tool', tool_call_id: 'a', content: 'ok' },
        ],
      },
      leftOut: ['input[2].name', 'input[2].id', 'input[2].status'],
    },
    messages: {
      says: {
        messages: [
          user,
          { role: 'assistant', content: [use] },
          { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a', content: 'ok' }] },
        ],
      },
      leftOut: ['input[2].name', 'input[2].id', 'input[2].status'],
    },
  },
  {
    name: 'a call by a program of the model',
    request: input(user, { ...call, caller: { type: 'program', caller_id: 'p' } }, output),
    ...refused('input[1].caller'),
  },
  {
    name: 'a result without its call',
    request: input(user, { ...output, call_id: null }),
    ...refused('input[1].call_id'),
  },
  {
    name: 'reasoning that another provider encrypted',
    request: input(
      user,
      {
        type: 'reasoning',
        id: 'rs_1',
        summary: [{ type: 'summary_text', text: 'Hm' }],
        encrypted_content: 'gAAA',
      },
      { role: 'assistant', content: 'Look.' },
      user,
    ),
    ...both({
      says: { messages: [user, { role: 'assistant', content: 'Look.' }, user] },
      leftOut: ['input[1]'],
    }),
  },
  {
    name: 'thinking that the provider signed returns to it',
    request: input(
      user,
      {
        type: 'reasoning',
        id: 'rs_1',
        summary: [{ type: 'summary_text', text: 'Hm' }],
        content: null,
        encrypted_content: 'relay-seal-2:maker:thinking:sig==',
      },
      { type: 'reasoning', summary: [], encrypted_content: 'relay-seal-2:maker:redacted_thinking:data' },
      call,
      output,
    ),
    chat: {
      says: {
        messages: [
          user,
          { role: 'assistant', content: null, tool_calls: [chatCall] },
          { role: 'tool', tool_call_id: 'a', content: 'ok' },
        ],
      },
      leftOut: ['input[1]', 'input[2]'],
    },
    messages: {
      says: {
        messages: [
          user,
          {
            role: 'assistant',
            content: [
              { type: 'thinking', thinking: 'Hm', signature: 'sig==' },
              { type: 'redacted_thinking', data: 'data' },
              use,
            ],
          },
          { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a', content: 'ok' }] },
        ],
      },
      leftOut: ['input[1].id'],
    },
  },
  {
    name: 'a response as the last word, which Messages would continue',
    request: input(user, { role: 'assistant', content: 'Look.' }),
    chat: { says: { messages: [user, { role: 'assistant', content: 'Look.' }] } },
    messages: { refused: 'input' },
  },
  ...[
    'item_reference',
    'web_search_call',
    'file_search_call',
    'local_shell_call',
    'local_shell_call_output',
    'computer_call',
    'mcp_call',
    'image_generation_call',
    'code_interpreter_call',
    'compaction',
    'tool_search_call',
  ].map(
    (type): RequestCase => ({
      name: `an item of the type ${type}`,
      request: input(user, { type, id: 'x' }),
      ...refused('input[1].type'),
    }),
  ),
  { name: 'a reference without a type', request: input(user, { id: 'msg_1' }), ...refused('input[1].type') },
];
