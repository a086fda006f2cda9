import { both, type RequestCase, refused } from './request-case.fixture.ts';

const user = { role: 'user', content: 'Hi' };
const callA = { type: 'function_call', call_id: 'a', name: 'read', arguments: '{"path":"x"}' };
const callB = { type: 'function_call', call_id: 'b', name: 'list', arguments: '' };
const outputA = { type: 'function_call_output', call_id: 'a', output: 'text of x' };
const outputB = { type: 'function_call_output', call_id: 'b', output: '' };
const chatCallA = { id: 'a', type: 'function', function: { name: 'read', arguments: '{"path":"x"}' } };
const chatCallB = { id: 'b', type: 'function', function: { name: 'list', arguments: '{}' } };
const chatOutputA = { role: 'tool', tool_call_id: 'a', content: 'text of x' };
const chatOutputB = { role: 'tool', tool_call_id: 'b', content: '' };
const useA = { type: 'tool_use', id: 'a', name: 'read', input: { path: 'x' } };
const useB = { type: 'tool_use', id: 'b', name: 'list', input: {} };
const resultA = { type: 'tool_result', tool_use_id: 'a', content: 'text of x' };
const resultB = { type: 'tool_result', tool_use_id: 'b' };
const reply = { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Look.' }] };

function input(...items: readonly unknown[]): { readonly input: readonly unknown[] } {
  return { input: items };
}

/** `instructions` and items of the input. */
export const inputCases: readonly RequestCase[] = [
  {
    name: 'instructions',
    request: { instructions: 'Be kind.' },
    chat: { says: { messages: [{ role: 'system', content: 'Be kind.' }, user] } },
    messages: { says: { system: 'Be kind.' } },
  },
  {
    name: 'instructions and the first messages of the developer make the system prompt',
    request: {
      instructions: 'One.',
      ...input(
        { type: 'message', role: 'developer', content: [{ type: 'input_text', text: 'Two.' }] },
        { role: 'system', content: 'Three.' },
        user,
      ),
    },
    chat: { says: { messages: [{ role: 'system', content: 'One.\n\nTwo.\n\nThree.' }, user] } },
    messages: {
      says: {
        system: [
          { type: 'text', text: 'One.' },
          { type: 'text', text: 'Two.' },
          { type: 'text', text: 'Three.' },
        ],
      },
    },
  },
  {
    name: 'a message of the developer in the middle comes after what the user says then',
    request: input(
      user,
      reply,
      { role: 'developer', content: 'New rules.' },
      { role: 'user', content: 'So?' },
      reply,
      user,
    ),
    chat: {
      says: {
        messages: [
          user,
          { role: 'assistant', content: 'Look.' },
          { role: 'system', content: 'New rules.' },
          { role: 'user', content: 'So?' },
          { role: 'assistant', content: 'Look.' },
          user,
        ],
      },
    },
    messages: {
      says: {
        messages: [
          user,
          { role: 'assistant', content: 'Look.' },
          { role: 'user', content: 'So?' },
          { role: 'system', content: 'New rules.' },
          { role: 'assistant', content: 'Look.' },
          user,
        ],
      },
      leftOut: ['input[2].role (moved after the user turn)'],
    },
  },
  {
    name: 'a message of the developer where Messages take none',
    request: input(user, reply, { role: 'developer', content: 'New rules.' }),
    chat: {
      says: {
        messages: [user, { role: 'assistant', content: 'Look.' }, { role: 'system', content: 'New rules.' }],
      },
    },
    messages: { refused: 'input[2].role' },
  },
  {
    name: 'nothing but a system prompt',
    request: input({ role: 'developer', content: 'Hi' }),
    chat: { says: { messages: [{ role: 'system', content: 'Hi' }] } },
    messages: { refused: 'input' },
  },
  { name: 'no input at all', request: { input: [] }, ...refused('input') },
  { name: 'input of a wrong kind', request: { input: 7 }, ...refused('input') },
  { name: 'an item of a wrong kind', request: { input: ['Hi'] }, ...refused('input[0]') },
  { name: 'instructions as items', request: { instructions: [user] }, ...refused('instructions') },
  { name: 'an unknown role', request: input({ role: 'critic', content: 'Hm' }), ...refused('input[0].role') },
  {
    name: 'ids, statuses and phases',
    request: input(
      user,
      { ...reply, id: 'msg_1', status: 'completed', phase: 'commentary' },
      { ...user, id: 'msg_2' },
    ),
    ...both({
      says: { messages: [user, { role: 'assistant', content: 'Look.' }, user] },
      leftOut: ['input[1].id', 'input[1].phase', 'input[2].id'],
    }),
  },
  {
    name: 'a call with its result',
    request: input(user, callA, outputA),
    chat: {
      says: { messages: [user, { role: 'assistant', content: null, tool_calls: [chatCallA] }, chatOutputA] },
    },
    messages: {
      says: {
        messages: [user, { role: 'assistant', content: [useA] }, { role: 'user', content: [resultA] }],
      },
    },
  },
  {
    name: 'words and parallel calls are one turn, and the results of both follow',
    request: input(user, reply, callA, callB, outputA, outputB, user),
    chat: {
      says: {
        messages: [
          user,
          { role: 'assistant', content: 'Look.', tool_calls: [chatCallA, chatCallB] },
          chatOutputA,
          chatOutputB,
          user,
        ],
      },
    },
    messages: {
      says: {
        messages: [
          user,
          { role: 'assistant', content: [{ type: 'text', text: 'Look.' }, useA, useB] },
          { role: 'user', content: [resultA, resultB, { type: 'text', text: 'Hi' }] },
        ],
      },
    },
  },
  {
    name: 'results that come late are put behind their calls',
    request: input(user, callA, { role: 'developer', content: 'Now.' }, callB, outputB, outputA),
    chat: {
      says: {
        messages: [
          user,
          { role: 'assistant', content: null, tool_calls: [chatCallA] },
          chatOutputA,
          { role: 'system', content: 'Now.' },
          { role: 'assistant', content: null, tool_calls: [chatCallB] },
          chatOutputB,
        ],
      },
    },
    messages: {
      says: {
        messages: [
          user,
          { role: 'assistant', content: [useA] },
          { role: 'user', content: [resultA] },
          { role: 'system', content: 'Now.' },
          { role: 'assistant', content: [useB] },
          { role: 'user', content: [resultB] },
        ],
      },
    },
  },
];
